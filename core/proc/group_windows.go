package proc

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Windows has no process groups that one signal reaches: the tree below the
// shell is ended with taskkill, at once, since most programs there know no
// request to end.

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func askGroup(leader int) { killGroup(leader) }

func killGroup(leader int) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(leader)).Run() // gone meanwhile: fine
}

func groupAlive(_ int, leaderEnded bool) bool { return !leaderEnded }

// interruptRead ends reading after a moment: pipes have no deadline here.
func interruptRead(pipe *os.File) {
	if pipe.SetReadDeadline(time.Now()) != nil {
		time.AfterFunc(drainTime, func() { _ = pipe.Close() })
	}
}

// exitStatus gives -1 where the state is nil: that is what ExitCode does.
func exitStatus(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

// watch and unwatch do nothing: a process that is killed leaves its commands
// to whoever killed it, whose tools there end whole trees.
func watch(int)   {}
func unwatch(int) {}

func tooLong(err error) bool {
	const fileNameTooLong = syscall.Errno(206)
	return errors.Is(err, fileNameTooLong)
}
