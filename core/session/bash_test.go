package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
)

func (r *rig) bash(command string) event.BashResult {
	r.t.Helper()
	result, err := r.StartBash(session.BashCommand{Command: command})()
	if err != nil {
		r.t.Fatal(err)
	}
	return result
}

// until gives a command that runs until a file appears, and what makes it.
func until(t *testing.T) (command string, appear func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "go")
	return "while [ ! -e " + path + " ]; do sleep 0.01; done; echo went", func() {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
}

func TestBash(t *testing.T) {
	r := newRig(t, nil, onDisk(t.TempDir()))
	result, err := r.StartBash(session.BashCommand{ID: json.RawMessage(`"b1"`), Command: "echo out; echo err >&2; pwd; exit 3"})()
	if err != nil {
		t.Fatal(err)
	}
	if result.ExitCode == nil || *result.ExitCode != 3 || result.Cancelled || result.Truncated || result.FullOutputPath != "" || result.Output != "out\nerr\n"+r.Cwd()+"\n" {
		t.Errorf("the result is %+v", result)
	}
	var output string
	for _, e := range r.Events() {
		update, ok := e.(*event.BashExecutionUpdate)
		if !ok || string(update.ID) != `"b1"` {
			t.Errorf("clients hear of %s", scripted.Line(e))
			continue
		}
		output += update.Delta
	}
	if output != result.Output {
		t.Errorf("the updates are %q", output)
	}
	wantLines(t, r.entryTypes()[2:], "message bashExecution")
	if _, err := os.Stat(r.File()); err != nil {
		t.Errorf("the session is not on disk: %v", err)
	}
	r.Reset()
	if _, err := r.StartBash(session.BashCommand{Command: "echo secret", ExcludeFromContext: true})(); err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Events() {
		if update := e.(*event.BashExecutionUpdate); update.ID != nil {
			t.Errorf("an update has the id %s", update.ID)
		}
	}
	r.run("p")
	sent := strings.Join(r.sent(0), "\n")
	if !strings.Contains(sent, "Ran `echo out") || !strings.Contains(sent, "out\nerr") || strings.Contains(sent, "secret") {
		t.Errorf("the model is sent %q", sent)
	}
	if n := len(r.conversation()); n != 4 {
		t.Errorf("the conversation has %d messages", n)
	}
}

func TestBashSettings(t *testing.T) {
	r := newRig(t, nil, settings(func(s *session.Settings) { s.Shell = session.Shell{Path: "/bin/sh", Prefix: "greeting=hello"} }))
	if got := r.bash("echo $greeting $PI_CODING_AGENT $0").Output; got != "hello true /bin/sh\n" {
		t.Errorf("the output is %q", got)
	}
}

func TestBashInAFolderThatIsGone(t *testing.T) {
	r := newRig(t, nil)
	if err := os.Remove(r.Cwd()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.StartBash(session.BashCommand{Command: "true"})(); err == nil || !strings.Contains(err.Error(), r.Cwd()) {
		t.Errorf("the error is %v", err)
	}
	if err := os.Mkdir(r.Cwd(), 0o700); err != nil {
		t.Fatal(err)
	}
	r.bash("true")
}

// An abort finds what stands right in front of it in the same write.
func TestAbortBash(t *testing.T) {
	r := newRig(t, nil)
	r.AbortBash() // none runs
	first := r.StartBash(session.BashCommand{Command: "sleep 60"})
	second := r.StartBash(session.BashCommand{Command: "sleep 60"})
	r.AbortBash()
	for _, wait := range []func() (event.BashResult, error){first, second} {
		result, err := wait()
		if err != nil || !result.Cancelled || result.ExitCode != nil {
			t.Errorf("got %+v, %v", result, err)
		}
	}
	wantLines(t, r.entryTypes()[2:], "message bashExecution", "message bashExecution")
	// One that has ended takes nothing along.
	long, short := r.StartBash(session.BashCommand{Command: "sleep 60"}), r.StartBash(session.BashCommand{Command: "true"})
	if result, err := short(); err != nil || result.Cancelled {
		t.Errorf("got %+v, %v", result, err)
	}
	r.AbortBash()
	if result, err := long(); err != nil || !result.Cancelled {
		t.Errorf("got %+v, %v", result, err)
	}
	// Abort is for the run.
	command, appear := until(t)
	wait := r.StartBash(session.BashCommand{Command: command})
	<-r.Abort()
	appear()
	if result, err := wait(); err != nil || result.Cancelled || result.Output != "went\n" {
		t.Errorf("got %+v, %v", result, err)
	}
}

// While a run is on its messages stay together: results wait for its end.
func TestBashDuringARun(t *testing.T) {
	r := newRig(t, []scripted.Answer{{Hang: true}})
	r.prompt("p")
	r.Await("message_end user", 1)
	r.bash("echo one")
	r.bash("echo two")
	wantLines(t, r.conversation(), "user: p")
	wantLines(t, r.entryTypes()[2:], "message user")
	<-r.Abort()
	wantLines(t, r.conversation(), "user: p", "assistant aborted "+aborted, "bashExecution: one\n", "bashExecution: two\n")
	wantLines(t, r.entryTypes()[2:], "message user", "message assistant", "message bashExecution", "message bashExecution")
}

// Also a prompt that comes to nothing gives back what was held for it.
func TestBashDuringAPromptThatIsHandled(t *testing.T) {
	ran := make(chan struct{})
	r := newRig(t, nil, hooks(scripted.On(event.KindInput, func(context.Context, *event.Input) (any, error) {
		<-ran
		return &event.InputResult{Action: "handled"}, nil
	})))
	accepted, outcome := accepting()
	r.Prompt(session.Prompt{Text: "p"}, accepted)
	r.bash("echo one")
	wantLines(t, r.conversation())
	close(ran)
	if got := outcome(); got != "handled" {
		t.Errorf("the prompt was %s", got)
	}
	wantLines(t, r.conversation(), "bashExecution: one\n")
}

func TestUserBashHook(t *testing.T) {
	code := 0
	for _, c := range []struct {
		name   string
		result *event.UserBashResult
		err    error
		want   string
	}{
		{"takes the place of the command", &event.UserBashResult{Result: &event.BashResult{Output: "elsewhere\n", ExitCode: &code}}, nil, "elsewhere\n"},
		{"has no opinion", &event.UserBashResult{}, nil, "here\n"},
		{"fails", nil, errors.New("lost"), "here\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil, hooks(scripted.On(event.KindUserBash, func(_ context.Context, e *event.UserBash) (any, error) {
				if e.Command != "echo here" || e.Cwd == "" {
					t.Errorf("the hook sees %+v", e)
				}
				if c.result == nil {
					return nil, c.err
				}
				return c.result, c.err
			})))
			if got := r.bash("echo here").Output; got != c.want {
				t.Errorf("the output is %q, want %q", got, c.want)
			}
			wantLines(t, r.conversation(), "bashExecution: "+c.want)
			if n := r.Count("extension_error"); (n == 1) != (c.err != nil) {
				t.Errorf("%d errors were reported", n)
			}
		})
	}
	t.Run("is aborted", func(t *testing.T) {
		waiting := make(chan struct{})
		r := newRig(t, nil, hooks(scripted.On(event.KindUserBash, func(ctx context.Context, _ *event.UserBash) (any, error) {
			close(waiting)
			<-ctx.Done()
			return nil, ctx.Err()
		})))
		wait := r.StartBash(session.BashCommand{Command: "echo here"})
		<-waiting
		r.AbortBash()
		if result, err := wait(); err != nil || !result.Cancelled || result.Output != "" {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

// A command belongs to the session that it was begun in.
func TestBashAndAChangeOfSession(t *testing.T) {
	r := newRig(t, []scripted.Answer{scripted.Text("1")}, onDisk(t.TempDir()))
	r.run("p")
	old := r.File()
	command, _ := until(t)
	wait := r.StartBash(session.BashCommand{Command: "echo begun; " + command})
	r.Await("bash_execution_update", 1)
	r.Reset()
	if _, err := r.NewSession(t.Context(), "")(); err != nil {
		t.Fatal(err)
	}
	if result, err := wait(); err != nil || !result.Cancelled {
		t.Errorf("got %+v, %v", result, err)
	}
	wantLines(t, r.conversation())
	wantLines(t, r.Lines())
	log, err := store.Read(old)
	if err != nil {
		t.Fatal(err)
	}
	items := log.Context(log.Leaf())
	if got := scripted.Message(items[len(items)-1].Message()); got != "bashExecution: begun\n" {
		t.Errorf("the old session ends with %q", got)
	}
}

// Results that come in while the context is built anew are in it once.
func TestBashDuringCompactions(t *testing.T) {
	var log *store.Log
	code := 0
	r := newRig(t, nil, tight, func(c *session.Config) { log = c.Log }, hooks(
		scripted.On(event.KindUserBash, func(context.Context, *event.UserBash) (any, error) {
			return &event.UserBashResult{Result: &event.BashResult{Output: "out", ExitCode: &code}}, nil
		}),
		scripted.On(event.KindSessionBeforeCompact, func(context.Context, *event.SessionBeforeCompact) (any, error) {
			return &event.SessionBeforeCompactResult{Compaction: &event.CompactionResult{Summary: "sum"}}, nil
		})))
	r.run("p")
	for range 100 {
		var waits []func() (event.BashResult, error)
		for range 4 {
			waits = append(waits, r.StartBash(session.BashCommand{Command: "x"}))
		}
		if _, err := r.compactNow(); err != nil && !errors.Is(err, compact.ErrAlreadyCompacted) && !errors.Is(err, compact.ErrTooSmall) {
			t.Fatal(err)
		}
		for _, wait := range waits {
			if _, err := wait(); err != nil {
				t.Fatal(err)
			}
		}
		var stored []string
		for _, item := range log.Context(log.Leaf()) {
			stored = append(stored, scripted.Message(item.Message()))
		}
		wantLines(t, r.conversation(), stored...)
		if t.Failed() {
			return
		}
	}
}
