package extensions

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// tieToUs gives the process a session, and so a group, of its own, and has the
// kernel kill it when we are killed, for programs that do not watch their
// standard input.
func tieToUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// shield closes what /proc shows of us to other processes of the same user:
// our environment, with keys of model services in it, and our standard
// streams. Nobody but root gets at them afterwards, nor attaches a debugger.
func shield() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
