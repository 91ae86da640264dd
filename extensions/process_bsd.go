//go:build unix && !linux

package extensions

import (
	"os/exec"
	"syscall"
)

// tieToUs gives the process a session, and so a group, of its own.
func tieToUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}
