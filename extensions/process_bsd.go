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

// shield does nothing: there is no /proc that would show our environment.
func shield() error { return nil }
