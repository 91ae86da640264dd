package extensions

import (
	"os/exec"
	"syscall"
)

// tieToUs gives the process a session, and so a group, of its own, and has the
// kernel kill it when we are killed, for programs that do not watch their
// standard input.
func tieToUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
