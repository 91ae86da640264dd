package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/tool"
)

// rig is a session with a scripted model, in memory unless the test says
// otherwise, and a record of what its clients see.
type rig struct {
	*session.Session
	scripted.Recorder
	t     *testing.T
	model *scripted.Model
}

// The models of a rig. The first is the one it begins with.
var (
	thinker = message.Model{ID: "m1", Provider: "mock", API: "mock-api", Reasoning: true, ContextWindow: 100_000, MaxTokens: 1000}
	simple  = message.Model{ID: "m2", Provider: "mock", API: "mock-api", ContextWindow: 100_000, MaxTokens: 1000}
)

// with changes a rig's configuration before it begins.
type with = func(*session.Config)

// newRig makes a session whose model gives the answers, then "ok" for ever. It
// is closed when the test ends.
func newRig(t *testing.T, script []scripted.Answer, changes ...with) *rig {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // when the session is closed
	return newRigIn(t, t.TempDir(), script, changes...)
}

// newRigIn is newRig in a folder that is there already.
func newRigIn(t *testing.T, cwd string, script []scripted.Answer, changes ...with) *rig {
	t.Helper()
	r := &rig{t: t, model: scripted.NewModel(script...)}
	chain := &hook.Chain{}
	config := session.Config{
		Cwd: cwd, Mode: "rpc",
		Models: &models{model: r.model, list: []message.Model{thinker, simple}}, Model: &thinker, Thinking: message.ThinkingMedium,
		Hooks: chain, Resources: loader{},
		Folder: session.Folder{Settings: session.Settings{
			SteeringMode: session.OneAtATime, FollowUpMode: session.OneAtATime, InterruptMode: session.Wait,
			Retry:      session.Retry{Enabled: true, MaxRetries: 3, BaseDelay: 2 * time.Second, MaxDelay: time.Minute},
			Compaction: compact.Settings{Enabled: true, ReserveTokens: 16384, KeepRecentTokens: 20000}, BranchReserve: 1000,
		}, ActiveTools: []string{"read", "bash", "edit", "write"}},
	}
	config.Log = store.InMemory(store.CreateOptions{Cwd: config.Cwd})
	for _, change := range changes {
		change(&config)
	}
	r.Session = session.New(config)
	chain.Report = func(e event.ExtensionError) { r.Emit(&e) }
	r.Subscribe(r.Record)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.Close(ctx, "quit"); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r
}

// onDisk keeps the session in a file, and further ones beside it.
func onDisk(dir string) with {
	return func(c *session.Config) {
		log, err := store.Create(store.CreateOptions{Dir: dir, Cwd: c.Cwd})
		if err != nil {
			panic(err)
		}
		c.Log = log
	}
}

// hooks puts extensions into the chain.
func hooks(list ...hook.Listener) with {
	return func(c *session.Config) { c.Hooks.Set(list) }
}

// tools gives the session tools that are on.
func tools(list ...*scripted.Tool) with {
	return func(c *session.Config) {
		c.ActiveTools, c.OnlyActive = []string{}, true
		for _, each := range list {
			c.Tools = append(c.Tools, each)
			c.ActiveTools = append(c.ActiveTools, each.Name)
		}
	}
}

func settings(change func(*session.Settings)) with {
	return func(c *session.Config) { change(&c.Settings) }
}

// models are two models of one service.
type models struct {
	model  *scripted.Model
	list   []message.Model
	refuse error // of Connect; nil: it works
}

func (m *models) Available() []message.Model { return m.list }

func (m *models) Find(provider, id string) (message.Model, bool) {
	i := slices.IndexFunc(m.list, func(each message.Model) bool { return each.Provider == provider && each.ID == id })
	if i < 0 {
		return message.Model{}, false
	}
	return m.list[i], true
}

func (m *models) Connect(context.Context, message.Model) (session.Connection, error) {
	return session.Connection{Provider: m.model, APIKey: "key"}, m.refuse
}

// loader has one template, /greet, and the rules of a book, in every folder.
type loader struct{ rules *rule.Book }

func (l loader) Load(_ context.Context, cwd string, more event.ResourcesDiscoverResult) session.Resources {
	return resources{cwd: cwd, more: more, rules: l.rules}
}

type resources struct {
	cwd   string
	more  event.ResourcesDiscoverResult
	rules *rule.Book
}

func (r resources) Rules() *rule.Book { return r.rules }

func (r resources) Expand(text string) string {
	if name, ok := strings.CutPrefix(text, "/greet "); ok {
		return "Say hello to " + name
	}
	return text
}

func (r resources) Commands() []session.Command {
	return []session.Command{{Name: "greet", Source: "prompt"}}
}

func (r resources) SystemPrompt(tools []tool.Spec) string {
	names := make([]string, len(tools))
	for i, each := range tools {
		names[i] = each.Name
	}
	return fmt.Sprintf("in %s with %v and %v", r.cwd, names, r.more.SkillPaths)
}

// accepting gives a callback for a prompt, and what waits for its outcome.
func accepting() (session.Accepted, func() string) {
	done := make(chan string, 2)
	return func(d session.Disposition, err error) {
		if err != nil {
			done <- "refused: " + err.Error()
			return
		}
		done <- string(d)
	}, func() string { return <-done }
}

// send sends a prompt and gives what became of it.
func (r *rig) send(p session.Prompt) string {
	accepted, outcome := accepting()
	r.Prompt(p, accepted)
	return outcome()
}

// prompt sends a text that begins a run.
func (r *rig) prompt(text string) {
	r.t.Helper()
	if got := r.send(session.Prompt{Text: text, Source: "rpc"}); got != "started" {
		r.t.Fatalf("the prompt %q was %s", text, got)
	}
}

// run sends a text and waits until its run has settled.
func (r *rig) run(text string) {
	r.t.Helper()
	n := r.Count("agent_settled")
	r.prompt(text)
	r.Await("agent_settled", n+1)
	r.idle()
}

// idle waits until the session takes commands again.
func (r *rig) idle() {
	r.t.Helper()
	if err := r.WaitIdle(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) steer(text string) string {
	accepted, outcome := accepting()
	r.Steer(session.Prompt{Text: text, Source: "rpc"}, accepted)
	return outcome()
}

func (r *rig) followUp(text string) string {
	accepted, outcome := accepting()
	r.FollowUp(session.Prompt{Text: text, Source: "rpc"}, accepted)
	return outcome()
}

// conversation is what get_messages shows, a line a message.
func (r *rig) conversation() []string {
	r.t.Helper()
	var list []string
	for _, raw := range r.Messages() {
		m, err := message.Decode(raw)
		if err != nil {
			r.t.Fatal(err)
		}
		list = append(list, scripted.Message(m))
	}
	return list
}

// sent is what the model was sent with its nth request, counted from 0.
func (r *rig) sent(n int) []string {
	r.t.Helper()
	requests := r.model.Requests()
	if n >= len(requests) {
		r.t.Fatalf("there were only %d requests", len(requests))
	}
	return scripted.Messages(requests[n].Messages)
}

// entryTypes lists the entries of the session's file.
func (r *rig) entryTypes() []string {
	r.t.Helper()
	return typesOf(r.t, r.Session)
}

func typesOf(t *testing.T, s *session.Session) []string {
	t.Helper()
	entries, _, err := s.Entries(nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		var head struct {
			Type    string
			Message struct{ Role string }
		}
		decode(t, e, &head)
		list = append(list, strings.TrimSpace(head.Type+" "+head.Message.Role))
	}
	return list
}

// wantLines compares line by line.
func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// brief are the lines without the steps of messages and turns.
func (r *rig) brief() []string {
	return r.Lines("message_update", "message_start", "turn_")
}

// sleep lets time pass, which in a bubble costs none.
func sleep(d time.Duration) { <-time.After(d) }
