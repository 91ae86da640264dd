package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	commandTimeout = 30 * time.Second
	commandOutput  = 64 << 10 // bytes; a key is never longer
)

// commandCache runs the commands that print keys, each once. A failure is not
// remembered: the next request tries again.
type commandCache struct {
	timeout time.Duration // 0: commandTimeout

	mu   sync.Mutex
	runs map[string]*commandRun
}

type commandRun struct {
	done  chan struct{} // closed when value and err are there
	value string
	err   error
}

// output gives what the command prints, without the white space around it.
// Callers that come while it runs wait for the same run. When ctx ends it
// stops to wait; the run itself is bounded by the timeout.
func (c *commandCache) output(ctx context.Context, command string) (string, error) {
	c.mu.Lock()
	run, running := c.runs[command]
	if !running {
		run = &commandRun{done: make(chan struct{})}
		if c.runs == nil {
			c.runs = map[string]*commandRun{}
		}
		c.runs[command] = run
	}
	c.mu.Unlock()
	if !running {
		run.value, run.err = runCommand(ctx, command, c.limit())
		if run.err != nil {
			c.forget(command)
		}
		close(run.done)
	}
	select {
	case <-run.done:
		return run.value, run.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// forget makes the next use run the command again.
func (c *commandCache) forget(command string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, command)
}

func (c *commandCache) limit() time.Duration {
	if c.timeout > 0 {
		return c.timeout
	}
	return commandTimeout
}

// runCommand runs a command line of the user's with an empty stdin. What it
// prints is a secret, so an error names the command and its status only.
func runCommand(ctx context.Context, command string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it took longer than %s", timeout))
	defer cancel()
	shell := []string{"/bin/sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C"}
	}
	var out limitedBuffer
	cmd := exec.CommandContext(ctx, shell[0], shell[1], command)
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second // a child that keeps the pipe open is not waited for
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	value := strings.TrimSpace(out.String())
	switch {
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", fmt.Errorf("the command %q failed: %w", command, err)
	case value == "":
		return "", fmt.Errorf("the command %q printed nothing", command)
	}
	return value, nil
}

// limitedBuffer keeps the first part of what is written and drops the rest.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := commandOutput - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
