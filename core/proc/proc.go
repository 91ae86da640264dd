// Package proc runs shell commands: each in a session and process group of its
// own, with an empty standard input, its output cleaned and captured up to a
// bound, ended as a whole in two stages.
//
// It imports the standard library and core/limit only. It does not know
// sessions, tools or models.
package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// DefaultGrace is the time between asking a command to end and killing it. The
// whole process must be able to end within a second of a signal.
const DefaultGrace = 500 * time.Millisecond

// Options say what Run runs, and how.
type Options struct {
	// Command is a command line for the shell.
	Command string
	// Shell is the program that reads it; the zero value is FindShell's.
	Shell Shell
	// Dir is the working directory; empty: that of this process.
	Dir string
	// Env is added to the environment of this process, NAME=value each; the
	// last of a name wins.
	Env []string
	// Timeout is how long the command may run; 0: as long as it likes.
	Timeout time.Duration
	// Grace is the time between TERM and KILL; 0: DefaultGrace.
	Grace time.Duration
	// OnOutput is told each piece of cleaned output, in order, from the
	// goroutine that called Run; nil: nobody is told. While it blocks, the
	// command's output waits.
	OnOutput func(delta string)
	// Capture takes the output; nil: Run makes one of its own. Give one to be
	// able to look at the output while the command runs.
	Capture *Capture
	// Background keeps processes that the command left behind; nil: their
	// output is closed, so that they die of the next line they write.
	Background *Background
}

// Result says how a command ended.
type Result struct {
	// ExitCode is the shell's, or 128+n where signal n ended it.
	ExitCode int
	// Signal names the signal that ended the shell; empty: none did.
	Signal string
	// Cancelled: the context ended before the command did.
	Cancelled bool
	// TimedOut: Options.Timeout passed before the command ended.
	TimedOut bool
	// StillRunning: the shell ended, but something that it started in the
	// background holds the output open. What that writes later is lost.
	StillRunning bool
	Output       Output
}

// Run runs a command and waits for its end: that of the shell, not of what it
// left in the background. When ctx ends, or the timeout passes, the whole
// process group is asked to end, and killed after the grace.
//
// An error means that nothing was run; how a command that did run ended is in
// the result only.
func Run(ctx context.Context, o Options) (Result, error) {
	capture := o.Capture
	if capture == nil {
		capture = NewCapture("")
	}
	select {
	case <-ctx.Done():
		return Result{Cancelled: true, Output: capture.Output()}, nil
	default:
	}
	c, err := start(o)
	if err != nil {
		return Result{}, err
	}

	var owned sync.WaitGroup
	owned.Go(c.wait)
	owned.Go(func() { c.watch(ctx, o.Timeout, o.Grace) })
	clean := Sanitizer{}
	emit := func(text string) {
		capture.Write(text)
		if o.OnOutput != nil && text != "" {
			o.OnOutput(text)
		}
	}
	ended := c.read(func(chunk []byte) { emit(clean.Clean(chunk)) })
	owned.Wait()
	emit(clean.Flush())
	capture.close()

	result := c.result()
	result.StillRunning = !ended
	result.Output = capture.Output()
	if ended || !o.Background.adopt(c) {
		c.letGo()
	}
	return result, nil
}

// child is one running command.
type child struct {
	cmd    *exec.Cmd
	out    *os.File      // the reading end of its output
	exited chan struct{} // closed when the shell has ended

	// why it was ended, set before the watcher returns
	cancelled, timedOut bool
}

func start(o Options) (*child, error) {
	if o.Dir != "" {
		if info, err := os.Stat(o.Dir); err != nil {
			return nil, fmt.Errorf("the working directory %s cannot be used (was it moved or removed?): %w", o.Dir, err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("the working directory %s is not a directory", o.Dir)
		}
	}
	shell := o.Shell
	if shell.Path == "" {
		var err error
		if shell, err = FindShell(); err != nil {
			return nil, err
		}
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for the command's output: %w", err)
	}
	// The child has its own; ours would keep the pipe open.
	defer func() { _ = write.Close() }()

	cmd := exec.Command(shell.Path, append(shell.Args[:len(shell.Args):len(shell.Args)], o.Command)...)
	cmd.Dir = o.Dir
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.Stdout, cmd.Stderr = write, write // one pipe, so that lines come in the order written
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		_ = read.Close() // nothing was written
		return nil, startError(shell, o.Command, err)
	}
	watch(cmd.Process.Pid)
	return &child{cmd: cmd, out: read, exited: make(chan struct{})}, nil
}

func startError(shell Shell, command string, err error) error {
	if tooLong(err) {
		return fmt.Errorf("the command of %d bytes is longer than the system takes; put it into a file and run that: %w", len(command), err)
	}
	return fmt.Errorf("start the shell %s: %w", shell.Path, err)
}

// letGo is the end of what is known of a command.
func (c *child) letGo() {
	_ = c.out.Close() // only read; it may be closed already
	unwatch(c.cmd.Process.Pid)
}

// wait sees the shell end, and makes the reader stop waiting for more.
func (c *child) wait() {
	_ = c.cmd.Wait() // how it ended is in ProcessState
	close(c.exited)
	interruptRead(c.out)
}

// watch ends the command when it must end before it does so by itself.
func (c *child) watch(ctx context.Context, timeout, grace time.Duration) {
	var overdue <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		overdue = timer.C
	}
	select {
	case <-c.exited:
		return
	case <-ctx.Done():
		c.cancelled = true
	case <-overdue:
		c.timedOut = true
	}
	if grace <= 0 {
		grace = DefaultGrace
	}
	c.end(grace)
}

// end asks the process group to end, and kills what of it is left after the
// grace. It returns when the shell has ended.
func (c *child) end(grace time.Duration) {
	group := c.cmd.Process.Pid
	if !groupAlive(group, c.hasExited()) {
		return
	}
	askGroup(group)
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for groupAlive(group, c.hasExited()) {
		select {
		case <-look.C:
		case <-deadline.C:
			killGroup(group)
			<-c.exited
			return
		}
	}
	<-c.exited
}

func (c *child) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

const (
	// drainTime is how long output is waited for once the shell has ended:
	// what it left in the pipe is there at once.
	drainTime = 100 * time.Millisecond
	// drainBytes bounds what is read then; no pipe holds more.
	drainBytes = 1 << 20
)

// read hands on the output until its end, or until the shell has ended and no
// more is to be expected. It says whether the end was seen.
func (c *child) read(take func([]byte)) (ended bool) {
	buf := make([]byte, 32*1024)
	for {
		n, err := c.out.Read(buf)
		take(buf[:n])
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return c.drain(buf, take)
		default: // end of file; or closed, where a read has no deadline
			return !errors.Is(err, os.ErrClosed)
		}
	}
}

// drain reads on after the shell has ended. Only the time spent waiting
// counts, so that a slow taker loses nothing.
func (c *child) drain(buf []byte, take func([]byte)) (ended bool) {
	left := drainTime
	for total := 0; left > 0 && total < drainBytes; {
		begun := time.Now()
		if err := c.out.SetReadDeadline(begun.Add(left)); err != nil {
			return false
		}
		n, err := c.out.Read(buf)
		left -= time.Since(begun)
		total += n
		take(buf[:n])
		if err != nil {
			return !errors.Is(err, os.ErrDeadlineExceeded)
		}
	}
	return false
}

// result reads how the shell ended. Both goroutines are done by then.
func (c *child) result() Result {
	r := Result{Cancelled: c.cancelled, TimedOut: c.timedOut}
	r.ExitCode, r.Signal = exitStatus(c.cmd.ProcessState)
	return r
}
