//go:build unix

package main

import (
	"os/signal"
	"syscall"
	"time"
)

// interrupt ends the process as an INT does that nobody catches: a shell that
// runs it in a script then stops too. It returns only where that fails.
func interrupt() {
	signal.Reset(syscall.SIGINT)
	if syscall.Kill(syscall.Getpid(), syscall.SIGINT) == nil {
		<-time.After(time.Second) // the signal may reach another thread first
	}
}
