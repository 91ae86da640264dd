package extensions_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/extensions"
)

// kit is a live session with a host, a person and a log, all in memory.
type kit struct {
	t       testing.TB
	host    *extensions.Host
	session *watchedSession
	hooks   *hook.Chain
	person  *person
	log     *syncBuffer
	events  *recorder
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// patience limits every wait of a test; nothing should come near it.
const patience = 30 * time.Second

// newKit makes a session and a host that is not started. change may adapt the
// options.
func newKit(t testing.TB, change func(*extensions.Options)) *kit {
	t.Helper()
	k := &kit{t: t, hooks: &hook.Chain{}, person: newPerson(), log: &syncBuffer{}, events: newRecorder()}
	dir := t.TempDir()
	options := extensions.Options{
		AgentDir: filepath.Join(dir, "agent"),
		Folder: extensions.Folder{
			ProjectDir: filepath.Join(dir, "project"), HookDeadline: 30 * time.Second, StartDeadline: 30 * time.Second,
		},
		Log:     slog.New(slog.NewTextHandler(k.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Hooks:   k.hooks,
		Version: "1.0.0",
	}
	mkdir(t, options.ProjectDir)
	if change != nil {
		change(&options)
	}
	k.host = extensions.New(options)
	k.session = newSession(options.ProjectDir, k.person, k.hooks, k.host)
	k.hooks.Report = func(e event.ExtensionError) { k.session.Emit(&e) }
	k.session.Subscribe(k.events.add)
	t.Cleanup(k.close)
	return k
}

// newSession makes a session in memory, without a model.
func newSession(cwd string, face ui.UI, hooks *hook.Chain, host session.Extensions) *watchedSession {
	return &watchedSession{tools: map[string]tool.Tool{}, Session: session.New(session.Config{
		Log:        store.InMemory(store.CreateOptions{Cwd: cwd}),
		Cwd:        cwd,
		Mode:       "rpc",
		Models:     noModels{},
		NoModel:    "there is no model",
		Hooks:      hooks,
		UI:         face,
		Resources:  noResources{},
		Extensions: host,
	})}
}

// startKit starts the extensions of some paths and waits for them.
func startKit(t testing.TB, paths ...string) *kit {
	t.Helper()
	k := newKit(t, func(o *extensions.Options) { o.Paths = paths })
	k.start()
	return k
}

func (k *kit) start() {
	k.t.Helper()
	k.host.Start(k.session)
	k.session.Start("startup", "")
	wait(k.t, k.host.Ready(), "the extensions to come up")
}

func (k *kit) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := k.session.Close(ctx, "quit"); err != nil {
		k.t.Errorf("close the session: %v", err)
	}
	if err := k.host.Close(ctx); err != nil {
		k.t.Errorf("close the host: %v", err)
	}
	if k.t.Failed() {
		k.t.Logf("log:\n%s", k.log.String())
	}
}

// prompt sends a text, as a client would, and gives what became of it.
func (k *kit) prompt(text string) (session.Disposition, error) {
	k.t.Helper()
	type outcome struct {
		d   session.Disposition
		err error
	}
	done := make(chan outcome, 1)
	k.session.Prompt(session.Prompt{Text: text, Source: "rpc"}, func(d session.Disposition, err error) { done <- outcome{d, err} })
	select {
	case o := <-done:
		return o.d, o.err
	case <-time.After(patience):
		k.t.Fatalf("the prompt %q was not answered", text)
		return "", nil
	}
}

// command runs a slash command that must work.
func (k *kit) command(text string) {
	k.t.Helper()
	if d, err := k.prompt(text); d != session.Handled || err != nil {
		k.t.Fatalf("%s: %s, %v", text, d, err)
	}
}

// tool calls a tool of an extension.
func (k *kit) tool(ctx context.Context, name, arguments string, update func(tool.Result)) (tool.Result, error) {
	k.t.Helper()
	t := k.session.tool(name)
	if t == nil {
		k.t.Fatalf("there is no tool %s", name)
	}
	return t.Run(ctx, tool.Call{ID: "call-1", Name: name, Arguments: []byte(arguments)}, update)
}

// watchedSession is a session that lets a test call the tools it was given.
type watchedSession struct {
	*session.Session
	mu    sync.Mutex
	tools map[string]tool.Tool
}

func (w *watchedSession) RegisterTools(owner string, tools []tool.Tool) {
	w.mu.Lock()
	for _, t := range tools {
		w.tools[t.Spec().Name] = t
	}
	w.mu.Unlock()
	w.Session.RegisterTools(owner, tools)
}

func (w *watchedSession) tool(name string) tool.Tool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tools[name]
}

// info gives the row of the only extension.
func (k *kit) info() extensions.Info {
	k.t.Helper()
	infos := k.host.Infos()
	if len(infos) != 1 {
		k.t.Fatalf("there are %d extensions, not one: %+v", len(infos), infos)
	}
	return infos[0]
}

// gate asks the hooks about a tool call.
func (k *kit) gate(ctx context.Context, toolName string) event.ToolCallResult {
	return hook.Decide[event.ToolCallResult](ctx, k.hooks, &event.ToolCall{ToolName: toolName, ToolCallID: "1", Input: event.Raw(`{"a":1}`)})
}

// wantError waits for an extension_error whose text has all the words.
func (k *kit) wantError(words ...string) event.ExtensionError {
	k.t.Helper()
	e := k.events.wait(k.t, func(e event.Event) bool {
		failure, ok := e.(*event.ExtensionError)
		return ok && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(failure.Error, w) })
	}, "an extension_error with "+strings.Join(words, ", "))
	return *e.(*event.ExtensionError)
}

// recorder keeps events and lets tests wait for one.
type recorder struct {
	mu      sync.Mutex
	events  []event.Event
	changed chan struct{}
}

func newRecorder() *recorder { return &recorder{changed: make(chan struct{})} }

func (r *recorder) add(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	close(r.changed)
	r.changed = make(chan struct{})
}

// wait gives the first event that fits, now or later, and forgets all up to
// and with it.
func (r *recorder) wait(t testing.TB, fits func(event.Event) bool, what string) event.Event {
	t.Helper()
	timeout := time.After(patience)
	for {
		r.mu.Lock()
		for n, e := range r.events {
			if fits(e) {
				r.events = r.events[n+1:]
				r.mu.Unlock()
				return e
			}
		}
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-timeout:
			r.mu.Lock()
			seen := describe(r.events)
			r.mu.Unlock()
			t.Fatalf("waited in vain for %s; there was %s", what, seen)
		}
	}
}

func describe(events []event.Event) string {
	var lines []string
	for _, e := range events {
		encoded, err := event.Encode(e)
		if err != nil {
			lines = append(lines, err.Error())
			continue
		}
		lines = append(lines, string(encoded))
	}
	return strings.Join(lines, "\n")
}

// person is a user interface that a test answers.
type person struct {
	mu      sync.Mutex
	answers func(ctx context.Context, d ui.Dialog) ui.Answer
	asked   []ui.Dialog
	told    []ui.Notice
	changed chan struct{}
}

func newPerson() *person { return &person{changed: make(chan struct{})} }

func (p *person) Ask(ctx context.Context, d ui.Dialog) (ui.Answer, error) {
	p.mu.Lock()
	p.asked = append(p.asked, d)
	answers := p.answers
	p.signal()
	p.mu.Unlock()
	if answers == nil {
		<-ctx.Done()
		return ui.Answer{Dismissed: true}, nil
	}
	return answers(ctx, d), nil
}

func (p *person) Tell(n ui.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, n)
	p.signal()
}

func (p *person) Interactive() bool { return true }

func (p *person) signal() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// answer says how dialogs are answered from now on.
func (p *person) answer(with func(ctx context.Context, d ui.Dialog) ui.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers = with
}

// waitDialog waits for a dialog of a title.
func (p *person) waitDialog(t testing.TB, title string) ui.Dialog {
	t.Helper()
	timeout := time.After(patience)
	for {
		p.mu.Lock()
		for _, d := range p.asked {
			if d.Title == title {
				p.mu.Unlock()
				return d
			}
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("no dialog %q came", title)
		}
	}
}

// waitNotice waits for a notice that has a text.
func (p *person) waitNotice(t testing.TB, text string) ui.Notice {
	t.Helper()
	timeout := time.After(patience)
	for {
		p.mu.Lock()
		for n, notice := range p.told {
			said := notice.Message
			if notice.Text != nil {
				said = *notice.Text
			}
			if strings.Contains(said, text) {
				p.told = slices.Delete(p.told, n, n+1)
				p.mu.Unlock()
				return notice
			}
		}
		changed, told := p.changed, p.told
		p.mu.Unlock()
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("no notice %q came; there was %+v", text, told)
		}
	}
}

// notices gives all that was told and not waited for.
func (p *person) notices() []ui.Notice {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.told)
}

// syncBuffer is a log to read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

type noModels struct{}

func (noModels) Available() []message.Model                { return nil }
func (noModels) Find(string, string) (message.Model, bool) { return message.Model{}, false }
func (noModels) Connect(context.Context, message.Model) (session.Connection, error) {
	return session.Connection{}, provider.Errorf(provider.Auth, "there is no model")
}

type noResources struct{}

func (noResources) Load(context.Context, string, event.ResourcesDiscoverResult) session.Resources {
	return noResources{}
}
func (noResources) Expand(text string) string       { return text }
func (noResources) Commands() []session.Command     { return nil }
func (noResources) SystemPrompt([]tool.Spec) string { return "system" }
func (noResources) Rules() *rule.Book               { return nil }

func wait(t testing.TB, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
}
