//go:build unix

package main

import (
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// takeOver moves standard input and output to descriptors that no child
// inherits, and puts /dev/null and standard error in their places. It comes
// before everything else. Where nobody reads standard error any more, what is
// written there is lost: the signal would end the process in the middle of a
// run.
func takeOver() (streams, error) {
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	in, err := keep(0, "stdin")
	if err != nil {
		return streams{}, err
	}
	out, err := keep(1, "stdout")
	if err != nil {
		return streams{}, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return streams{}, fmt.Errorf("take over the standard streams: %w", err)
	}
	defer func() { _ = null.Close() }()
	if err := replaceDescriptor(int(null.Fd()), 0); err != nil {
		return streams{}, fmt.Errorf("take over stdin: %w", err)
	}
	if err := replaceDescriptor(2, 1); err != nil {
		return streams{}, fmt.Errorf("take over stdout: %w", err)
	}
	os.Stdout = os.Stderr
	return streams{in: in, out: out, err: os.Stderr}, nil
}

func keep(number int, name string) (*os.File, error) {
	kept, err := unix.FcntlInt(uintptr(number), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("take over %s: %w", name, err)
	}
	return os.NewFile(uintptr(kept), name), nil
}

// writable says whether this process may make files in a folder.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }
