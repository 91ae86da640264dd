//go:build unix

package sdk

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// takeStreams makes the standard streams safe for the author's code before
// any of it runs. Standard output, which carries the handshake, becomes
// standard error, also for programs that the extension starts; standard input,
// whose end tells that pi has gone, becomes empty.
func takeStreams() (handshake *os.File, hostGone <-chan struct{}, err error) {
	out, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, fmt.Errorf("standard output: %w", err)
	}
	in, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer func() { _ = unix.Close(null) }()
	if err := replace(2, 1); err != nil {
		return nil, nil, fmt.Errorf("standard output: %w", err)
	}
	if err := replace(null, 0); err != nil {
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	os.Stdout = os.Stderr
	gone := make(chan struct{})
	pipe := os.NewFile(uintptr(in), "pi")
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, pipe)
	}()
	return os.NewFile(uintptr(out), "handshake"), gone, nil
}

// endOwnGroup ends all that was started here and did not leave the group, and
// this process with it.
func endOwnGroup() {
	if pid := os.Getpid(); unix.Getpgrp() == pid {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
}

// ownGroup makes the end of a command the end of everything it started.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
}

func exitCode(err *exec.ExitError) int {
	if s, ok := err.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return err.ExitCode()
}
