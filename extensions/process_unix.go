//go:build unix

package extensions

import (
	"os"
	"syscall"
)

func askGroup(leader int)  { _ = syscall.Kill(-leader, syscall.SIGTERM) } // gone meanwhile: fine
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

func endSignal(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
