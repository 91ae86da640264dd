package replay

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
)

const (
	usualLimit = 10 * time.Second
	exitLimit  = 10 * time.Second
)

// Agent is the program under test.
type Agent struct {
	// Command is the program and its first arguments.
	Command []string
	// Path holds folders with helper programs that the agent expects; they are
	// put before the system's.
	Path []string
	// Env is added to the environment.
	Env []string
	// Extensions holds the program that stands for each TypeScript extension,
	// by path in Scenario.Files. nil keeps the TypeScript.
	Extensions map[string]string
	// Log gets the agent's stderr, if it is not nil.
	Log func(stderr string)
}

// Play runs the scenario against the agent and returns what happened, in
// normal form. It starts a model server and a fresh set of folders, and leaves
// neither, nor a process, behind.
func Play(ctx context.Context, sc *Scenario, agent Agent) (t *Transcript, err error) {
	server, err := modelserver.Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	box, err := newSandbox(server.URL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.remove()) }()
	if err := box.fill(sc, agent.Extensions); err != nil {
		return nil, err
	}

	p, err := start(ctx, sc, agent, box)
	if err != nil {
		return nil, err
	}
	for i, step := range sc.Steps {
		if err := p.do(step); err != nil {
			p.kill()
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
	}
	exit := p.end()
	t, err = box.collect(sc, p.conversation.lines, server.Requests())
	if err != nil {
		return nil, err
	}
	t.Exit, t.Stderr = exit, p.stderr.String()
	if agent.Log != nil {
		agent.Log(t.Stderr)
	}
	return normalize(t, sc, box.root), nil
}

// player is a running agent and the client's end of its pipes.
type player struct {
	cmd          *exec.Cmd
	stdin        *os.File
	stderr       *head
	vars         variables
	conversation *conversation
	exited       chan struct{} // closed when the process has ended
}

func start(ctx context.Context, sc *Scenario, agent Agent, box *sandbox) (*player, error) {
	args := slices.Concat(agent.Command[1:], box.arguments(sc, agent.Extensions))
	cmd := exec.CommandContext(ctx, agent.Command[0], args...)
	cmd.Dir, cmd.Env = box.dir("work"), box.environment(sc, agent)
	// A child of the agent may outlive it and keep stderr open.
	cmd.WaitDelay = time.Second
	p := &player{cmd: cmd, stderr: &head{}, vars: box.vars, exited: make(chan struct{})}
	cmd.Stderr = p.stderr
	stdinReader, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, stdoutWriter, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdinReader.Close())
	}
	cmd.Stdin, cmd.Stdout, p.stdin = stdinReader, stdoutWriter, stdin
	err = cmd.Start()
	err = errors.Join(err, stdinReader.Close(), stdoutWriter.Close())
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	p.conversation = listen(stdout)
	go func() {
		_ = cmd.Wait() // the exit code is in ProcessState
		close(p.exited)
	}()
	return p, nil
}

func (p *player) do(step Step) error {
	limit := usualLimit
	if step.LimitMS > 0 {
		limit = time.Duration(step.LimitMS) * time.Millisecond
	}
	switch {
	case step.Send != nil:
		line := compact(p.vars.json(step.Send))
		return p.put(append(line, '\n'), mustDecode(line))
	case step.Raw != nil:
		raw := p.vars.text(*step.Raw)
		return p.put([]byte(raw), raw)
	case step.RawB64 != nil:
		raw, err := base64.StdEncoding.DecodeString(*step.RawB64)
		if err != nil {
			return err
		}
		return p.put(raw, object{"b64": *step.RawB64})
	case step.Wait != nil:
		p.wait(step, mustDecode(p.vars.json(step.Wait)), limit)
	case step.Answer != nil:
		return p.answer(step, limit)
	case step.SleepMS > 0:
		<-time.After(time.Duration(step.SleepMS) * time.Millisecond)
	case step.Close:
		p.conversation.add(Line{In, "<close>"})
		return p.stdin.Close()
	case step.Signal != "":
		return p.signal(step.Signal)
	case step.WaitExit:
		p.waitExit(limit)
	case step.Note != "":
	default:
		return errors.New("it says nothing to do")
	}
	return nil
}

// put writes to the agent. An agent that has gone is no error of the player:
// the transcript shows it.
func (p *player) put(data []byte, shown any) error {
	p.conversation.said(shown)
	// An agent that stops reading must not stop the player.
	if err := p.stdin.SetWriteDeadline(time.Now().Add(usualLimit)); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	_, err := p.stdin.Write(data)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// wait returns the line that came, or nil.
func (p *player) wait(step Step, pattern any, limit time.Duration) any {
	got, ok := p.conversation.await(pattern, step.Fresh, limit)
	if !ok {
		return nil
	}
	for name, path := range step.Save {
		p.vars[name] = dig(got, path)
	}
	return got
}

func (p *player) answer(step Step, limit time.Duration) error {
	pattern := object{"type": "extension_ui_request"}
	reply := maps.Clone(step.Answer)
	if method, ok := reply["method"]; ok {
		pattern["method"] = mustDecode(method)
		delete(reply, "method")
	}
	dialog := p.wait(step, pattern, limit)
	if dialog == nil {
		return nil
	}
	v := object{"type": "extension_ui_response", "id": member(dialog, "id")}
	for name, raw := range reply {
		v[name] = mustDecode(p.vars.json(raw))
	}
	return p.put(append(encode(v), '\n'), v)
}

var signals = map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGHUP": syscall.SIGHUP}

func (p *player) signal(name string) error {
	sig, ok := signals[name]
	if !ok {
		return fmt.Errorf("unknown signal %q", name)
	}
	p.conversation.add(Line{In, "<" + name + ">"})
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func (p *player) waitExit(limit time.Duration) {
	if p.exitsWithin(limit) {
		p.conversation.drain() // what it wrote comes before its end
		p.conversation.add(Line{Exited, integer(p.exitCode())})
		return
	}
	p.conversation.add(Line{Timeout, "exit"})
}

// end closes stdin and returns how the agent ended.
func (p *player) end() any {
	_ = p.stdin.Close() // a scenario may have closed it
	if p.exitsWithin(exitLimit) {
		p.conversation.drain()
		return integer(p.exitCode())
	}
	p.conversation.add(Line{Timeout, "exit"})
	p.kill()
	return "killed"
}

func (p *player) kill() {
	_ = p.stdin.Close()
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.exited
	p.conversation.drain()
}

func (p *player) exitsWithin(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// exitCode is the exit code, or the negative number of the signal.
func (p *player) exitCode() int {
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -int(ws.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

func mustDecode(raw json.RawMessage) any {
	v, err := decode(raw)
	if err != nil {
		panic(fmt.Sprintf("replay: %v in %s", err, raw)) // it was decoded before
	}
	return v
}
