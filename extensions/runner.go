package extensions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// process is one operating system process of an extension. It owns what
// go-plugin would get wrong for us: the pipe on standard input, whose end
// tells the extension that we are gone; output without a limit on lines; a
// process group that is ended as a whole; and an end that never waits for a
// pipe that somebody else still holds.
//
// It is go-plugin's runner.Runner: go-plugin sees the handshake line of
// standard output and nothing else.
type process struct {
	cmd   *exec.Cmd
	spawn *spawner
	lines *lineLog

	stdin     *os.File // our end; closing it asks the extension to end
	handshake *io.PipeReader
	shaken    *io.PipeWriter
	head      headCatcher

	readers  sync.WaitGroup
	exited   chan struct{} // closed when the process is gone and its output is read
	state    *os.ProcessState
	startErr error // why the system did not run the program
	closing  sync.Once

	mu        sync.Mutex
	line      string // of the handshake; empty: none came
	signalled bool   // we ended it by a signal
}

func newProcess(cmd *exec.Cmd, spawn *spawner, lines *lineLog) *process {
	p := &process{cmd: cmd, spawn: spawn, lines: lines, exited: make(chan struct{})}
	p.handshake, p.shaken = io.Pipe()
	return p
}

// Start implements runner.Runner.
func (p *process) Start(context.Context) error {
	var pipes [3][2]*os.File // reader, writer
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			closePipes(pipes[:i])
			return fmt.Errorf("make a pipe: %w", err)
		}
		pipes[i] = [2]*os.File{r, w}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = pipes[0][0], pipes[1][1], pipes[2][1]
	tieToUs(p.cmd)
	if p.startErr = p.startRetrying(); p.startErr != nil {
		closePipes(pipes[:])
		return p.startErr
	}
	for _, theirs := range []*os.File{pipes[0][0], pipes[1][1], pipes[2][1]} {
		_ = theirs.Close()
	}
	p.stdin = pipes[0][1]
	p.readers.Go(func() { p.readStdout(pipes[1][0]) })
	p.readers.Go(func() { p.lines.read(pipes[2][0], "") })
	go p.wait(pipes[1][0], pipes[2][0])
	return nil
}

// startRetrying knows that a file which was written a moment ago may still be
// open for writing in a child that another goroutine is just starting.
func (p *process) startRetrying() error {
	var err error
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		p.spawn.run(func() { err = p.cmd.Start() })
		if !errors.Is(err, syscall.ETXTBSY) {
			return err
		}
		again := *p.cmd
		p.cmd.Process = nil
		p.cmd = &exec.Cmd{
			Path: again.Path, Args: again.Args, Env: again.Env, Dir: again.Dir,
			Stdin: again.Stdin, Stdout: again.Stdout, Stderr: again.Stderr, SysProcAttr: again.SysProcAttr,
		}
		<-time.After(wait)
	}
	return err
}

// readStdout passes the handshake line to go-plugin and everything else to the
// log.
func (p *process) readStdout(r io.Reader) {
	defer p.abort()
	p.lines.readUntil(r, func(line string) bool {
		p.head.add(line)
		if !looksLikeHandshake(line) {
			return false
		}
		p.mu.Lock()
		p.line = line
		p.mu.Unlock()
		_, _ = io.WriteString(p.shaken, line+"\n") // nobody reads when the start was given up
		_ = p.shaken.Close()
		return true
	})
}

// wait sees the process end. What it started and left in its group ends with
// it; what it wrote is read to the end, unless somebody outside of the group
// keeps a pipe open.
func (p *process) wait(stdout, stderr *os.File) {
	_ = p.cmd.Wait() // how it ended is in ProcessState
	p.state = p.cmd.ProcessState
	killGroup(p.cmd.Process.Pid)
	_ = p.shaken.Close() // frees a reader whose line nobody takes any more
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.readers.Wait()
	}()
	select {
	case <-drained:
	case <-time.After(drainTime):
	}
	_ = stdout.Close()
	_ = stderr.Close()
	<-drained
	p.closeStdin()
	close(p.exited)
}

// drainTime is how long output is read that a process left in its pipes.
const drainTime = 200 * time.Millisecond

// end ends the process in stages and waits for that: its standard input ends
// first, then it is asked by signal, then killed, each stage with all that it
// started. It takes about a third of a second at most.
func (p *process) end() {
	p.closeStdin()
	for n, stage := range []struct {
		act  func(pid int)
		wait time.Duration
	}{
		{func(int) {}, 200 * time.Millisecond},
		{askGroup, 100 * time.Millisecond},
		{killGroup, time.Second},
	} {
		stage.act(p.cmd.Process.Pid)
		if n > 0 {
			p.mu.Lock()
			p.signalled = true
			p.mu.Unlock()
		}
		select {
		case <-p.exited:
			return
		case <-time.After(stage.wait):
		}
	}
}

// abort ends the wait for a handshake; whoever waits ends the process.
func (p *process) abort() { _ = p.shaken.Close() }

// endedBySignal says whether it took one of our signals to end it.
func (p *process) endedBySignal() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.signalled
}

// shakenLine gives the line of the handshake, if one came.
func (p *process) shakenLine() (line string, came bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.line, p.line != ""
}

func (p *process) closeStdin() {
	p.closing.Do(func() { _ = p.stdin.Close() })
}

// status says in words how the process ended. It is called after exited.
func (p *process) status() string {
	switch {
	case p.state == nil:
		return "ended in an unknown way"
	case p.state.Success():
		return "exited with code 0"
	}
	if signal := endSignal(p.state); signal != "" {
		return "was ended by signal " + signal
	}
	return fmt.Sprintf("exited with code %d", p.state.ExitCode())
}

// Wait implements runner.Runner.
func (p *process) Wait(context.Context) error {
	<-p.exited
	return nil
}

// Kill implements runner.Runner.
func (p *process) Kill(context.Context) error {
	if p.cmd.Process != nil {
		p.end()
	}
	return nil
}

// ID implements runner.Runner.
func (p *process) ID() string {
	if p.cmd.Process == nil {
		return ""
	}
	return fmt.Sprint(p.cmd.Process.Pid)
}

// Stdout implements runner.Runner.
func (p *process) Stdout() io.ReadCloser { return p.handshake }

// Stderr implements runner.Runner: the log has it already.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name implements runner.Runner.
func (p *process) Name() string { return p.cmd.Path }

// Diagnose implements runner.Runner: see explainStart for what people get.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin implements runner.Runner.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

var _ runner.Runner = (*process)(nil)

func closePipes(pipes [][2]*os.File) {
	for _, pipe := range pipes {
		_ = pipe[0].Close()
		_ = pipe[1].Close()
	}
}
