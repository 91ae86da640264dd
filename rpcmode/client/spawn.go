package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Command is the agent's process.
type Command struct {
	// Path is the program; empty: pi, as PATH has it.
	Path string
	// Args come behind --mode rpc.
	Args []string
	Dir  string   // working folder; empty: that of this process
	Env  []string // nil: that of this process
	// Stderr gets what the agent has to say beside the protocol; nil: only
	// its end is kept, for the error of a process that fails.
	Stderr io.Writer
}

// ExitError says how a process ended that was not told to.
type ExitError struct {
	Err    error  // of the process; nil: it ended with exit code 0
	Stderr string // the end of what it said
}

// Error implements error.
func (e *ExitError) Error() string {
	how := "the agent has ended"
	if e.Err != nil {
		how = fmt.Sprintf("the agent has ended with %v", e.Err)
	}
	if said := strings.TrimSpace(e.Stderr); said != "" {
		how += ": " + said
	}
	return how
}

// Unwrap gives the error of the process.
func (e *ExitError) Unwrap() error { return e.Err }

// Spawn starts an agent in rpc mode. The process lives until Close, whatever
// happens to ctx later.
func Spawn(ctx context.Context, command Command, o Options) (*Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := command.Path
	if path == "" {
		path = "pi"
	}
	cmd := exec.Command(path, append([]string{"--mode", "rpc"}, command.Args...)...)
	cmd.Dir, cmd.Env = command.Dir, command.Env
	cmd.WaitDelay = time.Second // for children of the agent that hold its stderr
	p := &process{cmd: cmd, stderr: &tail{also: command.Stderr}, exited: make(chan struct{})}
	cmd.Stderr = p.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	closeIn := func() error {
		if err := in.Close(); !errors.Is(err, os.ErrClosed) { // as the end of the process leaves it
			return err
		}
		return nil
	}
	return connect(out, in, closeIn, p, o), nil
}

// process is an agent that was spawned.
type process struct {
	cmd    *exec.Cmd
	stderr *tail
	once   sync.Once
	exited chan struct{} // closed when err is set
	err    error
}

// reason is called when the output has ended, and waits for the process.
func (p *process) reason() error {
	p.wait()
	return &ExitError{Err: p.err, Stderr: p.stderr.String()}
}

// wait closes the output, so nobody calls it who wants to read that to its
// end.
func (p *process) wait() {
	p.once.Do(func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	})
}

// end waits for the process, whose input has ended, and kills it when ctx
// ends first.
func (p *process) end(ctx context.Context) error {
	select {
	case <-p.exited:
	case <-ctx.Done():
		if err := p.cmd.Process.Kill(); err != nil {
			return fmt.Errorf("kill the agent: %w", err)
		}
		p.wait() // what it had still to say is lost
	}
	if p.err != nil {
		return &ExitError{Err: p.err, Stderr: p.stderr.String()}
	}
	return nil
}

// tailSize is how much of stderr is kept.
const tailSize = 8 << 10

// tail keeps the end of what is written to it, and passes all of it on.
type tail struct {
	also io.Writer

	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer.
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	t.kept = append(t.kept, data...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.mu.Unlock()
	if t.also == nil {
		return len(data), nil
	}
	return t.also.Write(data)
}

// String gives what was kept, from the beginning of a line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept
	if len(kept) == tailSize {
		if _, rest, found := bytes.Cut(kept, []byte("\n")); found {
			kept = rest
		}
	}
	return string(kept)
}
