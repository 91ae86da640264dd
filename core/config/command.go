package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/proc"
)

const commandTimeout = 30 * time.Second

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
// Callers that come while it runs wait for the same run, each as long as its
// ctx lasts; where the one that runs it gives up, the next takes over.
func (c *commandCache) output(ctx context.Context, command string) (string, error) {
	for {
		run, mine := c.begin(command)
		if mine {
			run.value, run.err = runCommand(ctx, command, c.limit())
			if run.err != nil {
				c.forget(command)
			}
			close(run.done)
			return run.value, run.err
		}
		select {
		case <-run.done:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if !errors.Is(run.err, errGaveUp) {
			return run.value, run.err
		}
	}
}

// begin gives the run of a command, and whether the caller is to do it.
func (c *commandCache) begin(command string) (run *commandRun, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if run, there := c.runs[command]; there {
		return run, false
	}
	if c.runs == nil {
		c.runs = map[string]*commandRun{}
	}
	run = &commandRun{done: make(chan struct{})}
	c.runs[command] = run
	return run, true
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

var errGaveUp = errors.New("nobody waited for it any more")

// runCommand runs a command line of the user's. What it prints is a secret,
// so an error names the command and how it ended only, and what it says on
// stderr goes nowhere.
func runCommand(ctx context.Context, command string, timeout time.Duration) (string, error) {
	result, err := proc.Run(ctx, proc.Options{Command: "{ " + command + "\n} 2>/dev/null", Timeout: timeout})
	command = Redact(command)
	switch value := strings.TrimSpace(result.Output.Text); {
	case err != nil:
		return "", fmt.Errorf("run the command %q: %w", command, err)
	case result.Cancelled:
		return "", fmt.Errorf("the command %q was stopped: %w: %w", command, errGaveUp, context.Cause(ctx))
	case result.TimedOut:
		return "", fmt.Errorf("the command %q took longer than %s", command, timeout)
	case result.ExitCode != 0:
		return "", fmt.Errorf("the command %q ended with exit code %d", command, result.ExitCode)
	case value == "":
		return "", fmt.Errorf("the command %q printed nothing", command)
	default:
		return value, nil
	}
}
