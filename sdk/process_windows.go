package sdk

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

// takeStreams makes the standard streams safe for the author's code before
// any of it runs: os.Stdout becomes standard error, and os.Stdin is empty.
func takeStreams() (handshake *os.File, hostGone <-chan struct{}, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	handshake, pipe := os.Stdout, os.Stdin
	os.Stdout, os.Stdin = os.Stderr, null
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, pipe)
	}()
	return handshake, gone, nil
}

func endOwnGroup() {}

func ownGroup(*exec.Cmd) {}

func exitCode(err *exec.ExitError) int { return err.ExitCode() }
