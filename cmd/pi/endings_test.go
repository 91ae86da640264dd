//go:build unix

package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What is ignored here, pi ignores too: tests that run under nohup must not
// hand that on.
func init() { takeHangups() }

func takeHangups() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) }

// rest reads what is left and gives the types of the frames in order.
func (p *process) rest() []string {
	p.t.Helper()
	var types []string
	for {
		f, err := p.next()
		if errors.Is(err, io.EOF) {
			return types
		}
		if err != nil {
			p.t.Fatalf("%v; stderr: %s", err, p.stderr.String())
		}
		types = append(types, strings.TrimSpace(f.Type+" "+f.Command))
	}
}

// Process managers close the pipe and send SIGTERM in the same moment: the end
// of the run is written all the same, and it takes no longer.
func TestEndOfInputTogetherWithSIGTERM(t *testing.T) {
	p := newHome(t).start(t)
	p.send(`{"id":"p","type":"prompt","message":"SLOW 300\nSAY a b c d e f g h"}`)
	p.event("message_update")
	begun := time.Now()
	if err := errors.Join(p.stdin.Close(), p.cmd.Process.Signal(syscall.SIGTERM)); err != nil {
		t.Fatal(err)
	}
	types := p.rest()
	if len(types) == 0 || types[len(types)-1] != "agent_settled" {
		t.Errorf("the end of the run is missing: %q", types)
	}
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 143) {
		t.Errorf("it ended with %v, want 0 or 143", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// The two together do not cut short what an extension does at the end.
func TestExtensionsHaveTheirTimeAtTheEnd(t *testing.T) {
	h := newHome(t)
	p := h.start(t, "--extension", slowEnd(t))
	p.prompt("SAY hi")
	if err := errors.Join(p.stdin.Close(), p.cmd.Process.Signal(syscall.SIGTERM)); err != nil {
		t.Fatal(err)
	}
	p.rest()
	_ = p.cmd.Wait() // 0 or 143, whatever came first
	if _, err := os.Stat(filepath.Join(h.work, "ended")); err != nil {
		t.Errorf("the extension was cut off: %v; stderr: %s", err, p.stderr.String())
	}
}

// A second signal ends the process at once. One that comes too late, on a busy
// machine, shows nothing, so there are several chances.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	h := newHome(t)
	program := slowEnd(t)
	write(t, filepath.Join(h.work, "stuck"), "")
	signals := func(n int) (stderr string) {
		p := h.start(t, "--extension", program)
		p.prompt("SAY hi")
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		p.event("extension_ui_request")
		if n > 1 {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		}
		p.rest()
		if _ = p.cmd.Wait(); p.cmd.ProcessState.ExitCode() != 143 {
			t.Errorf("it ended with %v", p.cmd.ProcessState)
		}
		return p.stderr.String()
	}
	if signals(1) == "" {
		t.Fatal("nobody says that an extension did not end in time")
	}
	for range 5 {
		if signals(2) == "" {
			return
		}
	}
	t.Error("a second signal did not end the wait for an extension")
}

func slowEnd(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "slowend")
	if err := buildFixtures(program, "./testdata/extensions/slowend"); err != nil {
		t.Fatal(err)
	}
	return program
}

// Ctrl-C reaches pi and not the commands that run for it, which are in groups
// of their own: pi ends them, writes the end of the run, and dies of the signal.
func TestInterruptedRun(t *testing.T) {
	h := newHome(t)
	p := h.start(t)
	p.send(`{"id":"p","type":"prompt","message":"TOOL bash {\"command\":\"echo $$ >models; echo up; sleep 300\"}"}`)
	p.event("tool_execution_update")
	p.send(`{"id":"s","type":"bash","command":"until test -s models; do sleep 0.01; done"}`)
	p.response("s")
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if types := p.rest(); len(types) == 0 || types[len(types)-1] != "agent_settled" {
		t.Errorf("the end of the run is missing: %q", types)
	}
	_ = p.cmd.Wait()
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v, want the signal INT", p.cmd.ProcessState)
	}
	h.wantGone(t, "models")
}

// What the starter of pi had it ignore, as nohup does, does not end it.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	h := newHome(t)
	signal.Ignore(syscall.SIGHUP)
	p := h.start(t)
	takeHangups()
	p.send(`{"id":"a","type":"get_state"}`)
	p.response("a")
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.send(`{"id":"p","type":"prompt","message":"SAY still here"}`)
	p.event("agent_settled")
	p.end()
}

// When the client is gone, the commands that run for it go too: those of the
// bash command and those of the model.
func TestNoCommandOutlivesTheClient(t *testing.T) {
	h := newHome(t)
	p := h.start(t)
	const command = `echo $$ >%; sleep 300`
	p.send(`{"id":"b","type":"bash","command":` + strconv.Quote(strings.ReplaceAll(command, "%", "own")) + `}`)
	p.send(`{"id":"p","type":"prompt","message":"TOOL bash {\"command\":\"echo $$ >models; echo up; sleep 300\"}"}`)
	p.event("tool_execution_update")
	p.send(`{"id":"s","type":"bash","command":"until test -s own; do sleep 0.01; done"}`)
	p.response("s")
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	types := strings.Join(p.rest(), ", ")
	for _, want := range []string{"response bash", "agent_settled"} {
		if !strings.Contains(types, want) {
			t.Errorf("no %s at the end: %s", want, types)
		}
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("%v; stderr: %s", err, p.stderr.String())
	}
	h.wantGone(t, "own", "models")
}

// wantGone checks that the shells that wrote their process ids to the files
// have ended.
func (h home) wantGone(t *testing.T, files ...string) {
	t.Helper()
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(h.work, file))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the shell of %s still runs: %v", file, err)
		}
	}
}

// A prompt is answered when it is accepted, whatever the service does then.
func TestASkillIsAnsweredBeforeTheModelIs(t *testing.T) {
	h := newHome(t)
	folder := filepath.Join(h.agent, "skills", "demo")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	skill := "---\nname: demo\ndescription: shows\n---\nDo as told.\n"
	if err := os.WriteFile(filepath.Join(folder, "SKILL.md"), []byte(skill), 0o600); err != nil {
		t.Fatal(err)
	}
	p := h.start(t)
	p.send(`{"id":"p","type":"prompt","message":"/skill:demo\nHANG"}`)
	f := p.response("p")
	var data struct{ Disposition string }
	if err := json.Unmarshal(f.Data, &data); err != nil || !f.Success || data.Disposition != "started" {
		t.Errorf("answered with %+v, %s, %v", f, f.Data, err)
	}
	p.send(`{"id":"a","type":"abort"}`)
	p.event("agent_settled")
	p.response("a")
	p.end()
}

// abort_bash is for the bash command; the model's tool ends with abort.
func TestAbortBashLeavesTheModelsToolAlone(t *testing.T) {
	h := newHome(t)
	p := h.start(t)
	p.send(`{"id":"p","type":"prompt","message":"TOOL bash {\"command\":\"echo begun; until test -e go; do sleep 0.01; done; echo whole\"}\nTHEN\nSAY ok"}`)
	p.event("tool_execution_update")
	p.send(`{"id":"x","type":"abort_bash"}`)
	if f := p.response("x"); !f.Success {
		t.Errorf("abort_bash: %s", f.Error)
	}
	p.send(`{"id":"g","type":"bash","command":"touch go"}`)
	line := p.until(func(f frame) bool {
		return f.Type == "message_end" && strings.Contains(string(f.Message), `"toolResult"`)
	})
	if text := string(line.Message); !strings.Contains(text, "whole") || !strings.Contains(text, `"isError":false`) {
		t.Errorf("the tool gave %s", text)
	}
	p.event("agent_settled")
	p.end()
}
