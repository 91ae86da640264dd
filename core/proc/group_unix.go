//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ownGroup gives the child a session of its own, and so a process group, whose
// id is the child's. Without a terminal to its session, a program that wants a
// password fails at once rather than waiting for ever.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func askGroup(leader int)  { _ = syscall.Kill(-leader, syscall.SIGTERM) } // gone meanwhile: fine
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

// groupAlive says whether anything of the group runs. The group keeps its id
// from being given to another process for as long as it lives; so once the
// leader's end was seen, a process of that id is somebody else's.
func groupAlive(leader int, leaderEnded bool) bool {
	if leaderEnded && exists(leader) {
		return false
	}
	return exists(-leader)
}

func exists(id int) bool { return !errors.Is(syscall.Kill(id, 0), syscall.ESRCH) }

// interruptRead makes a read of the pipe that waits, or comes, return with
// os.ErrDeadlineExceeded.
func interruptRead(pipe *os.File) { _ = pipe.SetReadDeadline(time.Now()) }

func exitStatus(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, "" // somebody else took the child's status
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), status.Signal().String()
	}
	return state.ExitCode(), ""
}

func tooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }
