package main_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/rpcmode/client"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// buildExamples compiles all example extensions, once.
var buildExamples = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(buildDir, "examples")
	return dir, buildFixtures(dir+string(filepath.Separator), "../../examples/extensions/...")
})

// person answers dialogs by title and notes what they were told.
type person struct {
	answers map[string]ui.Answer
	mu      sync.Mutex
	told    []ui.Notice
	heard   sync.Cond
}

func newPerson(answers map[string]ui.Answer) *person {
	p := &person{answers: answers}
	p.heard.L = &p.mu
	return p
}

func (p *person) answer(_ context.Context, d ui.Dialog) ui.Answer {
	if a, ok := p.answers[d.Title]; ok {
		return a
	}
	return ui.Answer{Dismissed: true}
}

func (p *person) hear(n ui.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, n)
	p.heard.Broadcast()
}

// wantNotice waits for a notice that has the text in it.
func (p *person) wantNotice(t *testing.T, text string) ui.Notice {
	t.Helper()
	late := time.AfterFunc(20*time.Second, func() { p.hear(ui.Notice{Method: "late"}) })
	defer late.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for _, n := range p.told {
			if n.Method == "late" {
				t.Fatalf("nobody said %q, but %+v", text, p.told)
			}
			said := []string{n.Message, n.Title, n.Content}
			if n.Text != nil {
				said = append(said, *n.Text)
			}
			if slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, text) }) {
				return n
			}
		}
		p.heard.Wait()
	}
}

// withExamples spawns pi with some of the examples, and a person behind it.
func withExamples(t *testing.T, h home, p *person, args []string, names ...string) *client.Client {
	t.Helper()
	dir, err := buildExamples()
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"--provider", "mock", "--model", "m1"}, args...)
	for _, name := range names {
		args = append(args, "-e", filepath.Join(dir, name))
	}
	c, err := client.Spawn(t.Context(), client.Command{Path: piBinary, Args: args, Dir: h.work, Env: h.environment(t)},
		client.Options{OnDialog: p.answer, OnNotice: p.hear})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func ask(t *testing.T, c *client.Client, text string) string {
	t.Helper()
	answer, err := c.Ask(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if answer == nil {
		return ""
	}
	var out strings.Builder
	for _, b := range answer.Content {
		out.WriteString(b.Text)
	}
	return out.String()
}

func TestExampleGates(t *testing.T) {
	t.Parallel()
	h, p := newHome(t), newPerson(nil)
	c := withExamples(t, h, p, nil, "permission-gate", "protected-paths")
	if got := ask(t, c, `TOOL bash {"command":"sudo reboot"}`); !strings.Contains(got, "The user refused the command") {
		t.Errorf("a refused command: the model was told %q", got)
	}
	if got := ask(t, c, `TOOL bash {"command":"echo fine"}`); !strings.Contains(got, "fine") {
		t.Errorf("a harmless command: the model was told %q", got)
	}
	if got := ask(t, c, `TOOL write {"path":".env","content":"x"}`); !strings.Contains(got, ".env is protected") {
		t.Errorf("a protected file: the model was told %q", got)
	}
	p.wantNotice(t, "Kept the model from changing .env")
	if _, err := os.Stat(filepath.Join(h.work, ".env")); err == nil {
		t.Error("the protected file was written")
	}
}

func TestExampleSessionGuard(t *testing.T) {
	t.Parallel()
	h, p := newHome(t), newPerson(map[string]ui.Answer{"Begin a new session?": {}})
	if out, err := exec.Command("git", "init", "-q", h.work).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := withExamples(t, h, p, nil, "session-guard")
	ask(t, c, "SAY hello")
	if cancelled, err := c.NewSession(t.Context(), ""); err != nil || !cancelled {
		t.Errorf("a new session that the user did not want: cancelled %t, %v", cancelled, err)
	}
	if err := os.WriteFile(filepath.Join(h.work, "dirty.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	messages, err := c.ForkMessages(t.Context())
	if err != nil || len(messages) != 1 {
		t.Fatalf("%+v, %v", messages, err)
	}
	if forked, err := c.Fork(t.Context(), messages[0].EntryID); err != nil || !forked.Cancelled {
		t.Errorf("a fork on a dirty tree: %+v, %v", forked, err)
	}
	p.wantNotice(t, "dirty.txt")
}

func TestExampleCommands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := newPerson(map[string]ui.Answer{"What is your name?": {Value: "Ada"}, "Which colour?": {Value: "Blue"}, "Go on?": {Confirmed: true}})
	c := withExamples(t, h, p, nil, "hello", "rpc-demo")
	ask(t, c, "/hello")
	p.wantNotice(t, "Hello Ada!")
	if got := ask(t, c, `TOOL greet {"name":"Grace"}`); !strings.Contains(got, "Hello Grace!") {
		t.Errorf("the model was told %q", got)
	}
	ask(t, c, "/demo select")
	p.wantNotice(t, "colour: Blue")
	ask(t, c, "/demo confirm")
	p.wantNotice(t, "go on: true")
	commands, err := c.Commands(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, command := range commands {
		names[command.Name] = true
	}
	if !names["hello"] || !names["demo"] {
		t.Errorf("the commands are %v", slices.Sorted(maps.Keys(names)))
	}
}

func TestExampleTodoIsThereAgainAfterARestart(t *testing.T) {
	t.Parallel()
	h, p := newHome(t), newPerson(nil)
	c := withExamples(t, h, p, nil, "todo")
	ask(t, c, `TOOL todo {"action":"add","text":"come back"}`)
	state, err := c.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = withExamples(t, h, p, []string{"--session", state.SessionFile}, "todo")
	ask(t, c, "/todos")
	p.wantNotice(t, "[ ] 1. come back")
}

func TestExampleInputTransform(t *testing.T) {
	t.Parallel()
	h, p := newHome(t), newPerson(nil)
	c := withExamples(t, h, p, nil, "input-transform")
	ask(t, c, "ping")
	p.wantNotice(t, "pong")
	ask(t, c, "? why")
	messages, err := c.ForkMessages(t.Context())
	if err != nil || len(messages) != 1 || messages[0].Text != "Answer in one sentence: why" {
		t.Errorf("the user is said to have said %+v, %v", messages, err)
	}
}

func TestExampleBusAndStatus(t *testing.T) {
	t.Parallel()
	h, p := newHome(t), newPerson(nil)
	c := withExamples(t, h, p, nil, "event-bus-sender", "event-bus-listener", "status-line")
	ask(t, c, `TOOL bash {"command":"true"}`)
	p.wantNotice(t, "1 tools in the last run, says event-bus-sender")
	p.wantNotice(t, "turn 2")
	p.wantNotice(t, "ready")
}

func TestExampleProvider(t *testing.T) {
	t.Parallel()
	h, p := newHome(t), newPerson(nil)
	c := withExamples(t, h, p, nil, "custom-provider")
	if _, err := c.Commands(t.Context()); err != nil { // waits for the extension
		t.Fatal(err)
	}
	if _, err := c.SetModel(t.Context(), "backwards", "mirror"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, c, "hello big world"); got != "dlrow gib olleh" {
		t.Errorf("the mirror says %q", got)
	}
}

func TestExampleGitCheckpoint(t *testing.T) {
	t.Parallel()
	h, p := newHome(t), newPerson(map[string]ui.Answer{"Restore the files?": {Confirmed: true}})
	file := filepath.Join(h.work, "a.txt")
	script := "git init -q && git config user.name Ada && git config user.email a@b && echo first >a.txt && git add . && git commit -qm one && echo mine >a.txt"
	run := exec.Command("sh", "-c", script)
	run.Dir = h.work
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := withExamples(t, h, p, nil, "git-checkpoint")
	ask(t, c, `TOOL write {"path":"a.txt","content":"the model's"}`)
	ask(t, c, "/checkpoint")
	id := p.wantNotice(t, "before turn 1").Message[:8]
	ask(t, c, "/checkpoint "+id)
	p.wantNotice(t, "Restored "+id)
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine\n" {
		t.Errorf("the file is %q, %v", got, err)
	}
}

func TestExampleCompaction(t *testing.T) {
	t.Parallel()
	h, p := newHome(t), newPerson(nil)
	settings := `{"compaction":{"keepRecentTokens":1}}`
	if err := os.WriteFile(filepath.Join(h.agent, "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	c := withExamples(t, h, p, nil, "custom-compaction")
	ask(t, c, "SAY one")
	ask(t, c, "SAY two")
	var got wire.Compaction
	var err error
	if got, err = c.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Summary, "What the user asked for so far:\n- SAY one\n") {
		t.Errorf("the summary is %q", got.Summary)
	}
}
