package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/client"
	"github.com/seed-54e836f5/pi/rpcmode/contract"
	"github.com/seed-54e836f5/pi/rpcmode/internal/scripted"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// TestMain lets the test's own binary be the agent, too.
func TestMain(m *testing.M) {
	switch os.Getenv("CLIENT_TEST_AGENT") {
	case "":
		goleak.VerifyTestMain(m)
		return
	case "scripted":
		if err := serve(context.Background(), os.Stdin, os.Stdout, rpcmode.Pi, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "broken":
		fmt.Fprintln(os.Stderr, strings.Repeat("noise\n", 10000)+"cannot start: no key")
		os.Exit(3)
	case "deaf":
		select {}
	case "impatient":
		if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
			os.Exit(1)
		}
	}
}

// serve is an agent with a scripted model. opened gets its session and UI.
// What it writes fits the schemas of its dialect.
func serve(ctx context.Context, in io.Reader, out io.Writer, dialect rpcmode.Dialect, opened func(*session.Session, *rpcmode.UI)) error {
	dir, err := os.MkdirTemp("", "client-test-")
	if err != nil {
		return err
	}
	user := rpcmode.NewUI(dialect, true)
	config := scripted.Config(dir, &scripted.Model{})
	config.UI = user
	s := session.New(config)
	if opened != nil {
		opened(s, user)
	}
	frames, err := contract.New(dialect)
	if err != nil {
		return err
	}
	out = frames.Watch(out, func(line []byte, err error) { panic(fmt.Sprintf("%v: %s", err, line)) })
	err = rpcmode.Serve(ctx, rpcmode.Options{In: in, Out: out, Session: s, UI: user, Dialect: dialect, Version: "1.2.3"})
	return errors.Join(err, os.RemoveAll(dir))
}

// agent is a client of an agent in the same process.
type agent struct {
	*client.Client
	session *session.Session
	ui      *rpcmode.UI
}

func attach(t *testing.T, dialect rpcmode.Dialect, o client.Options) *agent {
	t.Helper()
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	a := &agent{}
	ready, served := make(chan struct{}), make(chan error, 1)
	go func() {
		err := serve(t.Context(), in, out, dialect, func(s *session.Session, u *rpcmode.UI) {
			a.session, a.ui = s, u
			close(ready)
		})
		served <- errors.Join(err, out.Close())
	}()
	<-ready
	a.Client = client.Attach(fromAgent, toAgent, o)
	t.Cleanup(func() {
		if err := errors.Join(a.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestAsk(t *testing.T) {
	for _, dialect := range []rpcmode.Dialect{rpcmode.Pi, rpcmode.XCSH} {
		a := attach(t, dialect, client.Options{})
		for _, text := range []string{"one", "two", "three"} {
			answer, err := a.Ask(t.Context(), "THINK hm\nSAY "+text)
			if err != nil {
				t.Fatal(err)
			}
			if got := message.Text(answer.Content); got != text {
				t.Errorf("%s: asked for %s, got %s", dialect, text, got)
			}
		}
		if _, err := a.Ask(t.Context(), "FAIL no such model"); err == nil || err.Error() != "no such model" {
			t.Errorf("%s: a failed answer gave %v", dialect, err)
		}
	}
}

func TestAskOfACommandReturns(t *testing.T) {
	a := attach(t, rpcmode.Pi, client.Options{})
	a.session.RegisterCommands("test", []session.ExtensionCommand{{Name: "hello", Run: func(context.Context, string) error { return nil }}})
	if answer, err := a.Ask(t.Context(), "/hello"); answer != nil || err != nil {
		t.Errorf("got %v, %v", answer, err)
	}
}

func TestAskDuringARunIsRefused(t *testing.T) {
	for _, dialect := range []rpcmode.Dialect{rpcmode.Pi, rpcmode.XCSH} {
		a := attach(t, dialect, client.Options{})
		if err := a.Prompt(t.Context(), wire.Prompt{Message: "HANG"}); err != nil {
			t.Fatal(err)
		}
		_, err := a.Ask(t.Context(), "SAY x")
		var refused *client.CommandError
		if !errors.As(err, &refused) || refused.Command != "prompt" || !strings.Contains(refused.Message, "streaming") {
			t.Errorf("%s: got %v", dialect, err)
		}
		if err := a.Abort(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	a := attach(t, rpcmode.Pi, client.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	sub := a.Subscribe()
	defer sub.Close()
	go func() {
		for e := range sub.Events() {
			if e.Kind() == event.KindAgentStart {
				cancel()
				return
			}
		}
	}()
	if _, err := a.Ask(ctx, "HANG"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestEventsComeInOrderToAll(t *testing.T) {
	var called []event.Kind
	over := make(chan struct{})
	a := attach(t, rpcmode.Pi, client.Options{OnEvent: func(e event.Event) {
		called = append(called, e.Kind())
		if e.Kind() == event.KindAgentSettled {
			close(over)
		}
	}})
	sub := a.Subscribe()
	if err := a.Prompt(t.Context(), wire.Prompt{Message: "SAY Hello"}); err != nil {
		t.Fatal(err)
	}
	var looped []event.Kind
	var text strings.Builder
	for e := range sub.Events() {
		looped = append(looped, e.Kind())
		switch e := e.(type) {
		case *event.MessageUpdate:
			if e.Update.Type == event.TextDelta {
				text.WriteString(*e.Update.Delta)
			}
		case *event.AgentSettled:
			sub.Close()
		}
	}
	<-over
	if fmt.Sprint(called) != fmt.Sprint(looped) || looped[0] != event.KindAgentStart || text.String() != "Hello" {
		t.Errorf("called with %v, looped over %v, text %q", called, looped, text.String())
	}
}

func TestCommands(t *testing.T) {
	a := attach(t, rpcmode.XCSH, client.Options{})
	ctx := t.Context()
	if _, err := a.Ask(ctx, "SAY one"); err != nil {
		t.Fatal(err)
	}
	messages, err := a.Messages(ctx)
	if err != nil || len(messages) != 2 || message.TextOf(messages[1]) != "one" {
		t.Errorf("Messages: %v, %v", messages, err)
	}
	if text, err := a.LastAssistantText(ctx); err != nil || text == nil || *text != "one" {
		t.Errorf("LastAssistantText: %v, %v", text, err)
	}
	entries, err := a.Entries(ctx, "")
	if err != nil || len(entries.Entries) != 4 || entries.LeafID == nil {
		t.Fatalf("Entries: %v, %v", entries, err)
	}
	if later, err := a.Entries(ctx, *entries.LeafID); err != nil || len(later.Entries) != 0 {
		t.Errorf("Entries since the last: %v, %v", later, err)
	}
	if err := a.SetLabel(ctx, *entries.LeafID, "here"); err != nil {
		t.Error(err)
	}
	tree, err := a.Tree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	node := tree.Tree[0].Children[0].Children[0].Children[0]
	var entry struct{ ID string }
	if err := json.Unmarshal(node.Entry, &entry); err != nil || entry.ID != *entries.LeafID || node.Label != "here" || node.LabelTimestamp == "" {
		t.Errorf("Tree: %+v, %v", node, err)
	}
	forks, err := a.ForkMessages(ctx)
	if err != nil || len(forks) != 1 {
		t.Fatalf("ForkMessages: %v, %v", forks, err)
	}
	if forked, err := a.Fork(ctx, forks[0].EntryID); err != nil || forked.Text != "SAY one" || forked.Cancelled {
		t.Errorf("Fork: %+v, %v", forked, err)
	}
	if model, err := a.SetModel(ctx, "test", "m2"); err != nil || model.ID != "m2" {
		t.Errorf("SetModel: %+v, %v", model, err)
	}
	if level, err := a.CycleThinkingLevel(ctx); err != nil || level != "" {
		t.Errorf("CycleThinkingLevel: %q, %v", level, err)
	}
	if cycled, err := a.CycleModel(ctx); err != nil || cycled == nil || cycled.Model.ID != "m1" {
		t.Errorf("CycleModel: %+v, %v", cycled, err)
	}
	phases, err := a.SetTodos(ctx, []wire.TodoPhase{{Tasks: []wire.TodoTask{{Content: "a"}}}})
	if err != nil || len(phases) != 1 || phases[0].Tasks[0].Status != "in_progress" {
		t.Errorf("SetTodos: %+v, %v", phases, err)
	}
	var refused *client.CommandError
	if _, err := a.Entries(ctx, "nope"); !errors.As(err, &refused) || refused.Message != "Entry not found: nope" {
		t.Errorf("Entries since nowhere: %v", err)
	}
	if _, err := a.Do(ctx, "nonsense", nil); err == nil {
		t.Error("an unknown command succeeded")
	}
	if protocol, err := a.Protocol(ctx, false); err != nil || protocol.Version != "1.2.3" || protocol.Dialect != "xcsh" {
		t.Errorf("Protocol: %v", err)
	}
}

// Every command of the table has a method, which sends what the table says.
func TestEveryCommandHasAMethod(t *testing.T) {
	p, err := rpcmode.Describe(rpcmode.Pi, "", false)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range p.Commands {
		known[c.Name] = true
	}
	sent := map[string]bool{}
	ctx := t.Context()
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	c := client.Attach(fromAgent, toAgent, client.Options{})
	go func() {
		defer out.Close()
		for decoder := json.NewDecoder(in); ; {
			var frame struct{ ID, Type string }
			if decoder.Decode(&frame) != nil {
				return
			}
			sent[frame.Type] = true
			fmt.Fprintf(out, `{"id":%q,"type":"response","command":%q,"success":false,"error":"no"}`+"\n", frame.ID, frame.Type)
		}
	}()
	for i, err := range callAll(ctx, c) {
		if err == nil {
			t.Errorf("call %d succeeded", i)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for name := range known {
		if !sent[name] {
			t.Errorf("no method sends %s", name)
		}
	}
	for name := range sent {
		if !known[name] {
			t.Errorf("a method sends %s, which is no command", name)
		}
	}
}

func callAll(ctx context.Context, c *client.Client) []error {
	second := func(_ any, err error) error { return err }
	return []error{
		c.Prompt(ctx, wire.Prompt{}), c.Steer(ctx, wire.Text{}), c.FollowUp(ctx, wire.Text{}), c.Abort(ctx),
		c.AbortAndPrompt(ctx, wire.Text{}), second(c.ClearQueue(ctx)), second(c.State(ctx)), second(c.Messages(ctx)),
		second(c.LastAssistantText(ctx)), second(c.Stats(ctx)), second(c.SetModel(ctx, "", "")), second(c.CycleModel(ctx)),
		second(c.AvailableModels(ctx)), c.SetThinkingLevel(ctx, ""), second(c.CycleThinkingLevel(ctx)), second(c.ThinkingLevels(ctx)),
		c.SetSteeringMode(ctx, ""), c.SetFollowUpMode(ctx, ""), c.SetInterruptMode(ctx, ""), second(c.Compact(ctx, "")),
		c.SetAutoCompaction(ctx, true), c.SetAutoRetry(ctx, true), c.AbortRetry(ctx), second(c.Bash(ctx, wire.Bash{})), c.AbortBash(ctx),
		second(c.NewSession(ctx, "")), second(c.SwitchSession(ctx, "")), second(c.Fork(ctx, "")), second(c.Clone(ctx)),
		second(c.ForkMessages(ctx)), second(c.Entries(ctx, "")), second(c.Tree(ctx)), second(c.NavigateTree(ctx, wire.NavigateTree{})),
		c.SetLabel(ctx, "", ""), c.SetSessionName(ctx, ""), second(c.ExportHTML(ctx, "")), second(c.Sessions(ctx, true)),
		second(c.Commands(ctx)), second(c.CompleteCommand(ctx, "", "")), second(c.SetTodos(ctx, nil)), c.SetHostTools(ctx), second(c.Extensions(ctx)), c.Reload(ctx),
		second(c.Protocol(ctx, true)), c.Shutdown(ctx),
	}
}

func TestDialogs(t *testing.T) {
	withdrawn := make(chan string, 1)
	a := attach(t, rpcmode.XCSH, client.Options{OnDialog: func(ctx context.Context, d ui.Dialog) ui.Answer {
		switch d.Method {
		case ui.Select:
			return ui.Answer{Value: d.Options[1]}
		case ui.Confirm:
			return ui.Answer{Confirmed: d.Message == "yes"}
		case ui.Input:
			return ui.Answer{Value: d.Title + *d.Placeholder}
		}
		<-ctx.Done()
		withdrawn <- d.Title
		return ui.Answer{}
	}})
	placeholder := "!"
	for _, test := range []struct {
		dialog ui.Dialog
		want   ui.Answer
	}{
		{ui.Dialog{Method: ui.Select, Options: []string{"a", "b"}}, ui.Answer{Value: "b"}},
		{ui.Dialog{Method: ui.Confirm, Message: "yes"}, ui.Answer{Confirmed: true}},
		{ui.Dialog{Method: ui.Confirm, Message: "no"}, ui.Answer{}},
		{ui.Dialog{Method: ui.Input, Title: "t", Placeholder: &placeholder}, ui.Answer{Value: "t!"}},
	} {
		if got, err := a.ui.Ask(t.Context(), test.dialog); got != test.want || err != nil {
			t.Errorf("%+v: got %+v, %v", test.dialog, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if got, err := a.ui.Ask(ctx, ui.Dialog{Method: ui.Editor, Title: "late", Timeout: 20 * time.Millisecond}); !got.Dismissed || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := <-withdrawn; got != "late" {
		t.Errorf("%q was withdrawn", got)
	}
	a.ui.Opened = func(*event.UIPromptStart) { cancel() }
	if got, err := a.ui.Ask(ctx, ui.Dialog{Method: ui.Editor, Title: "taken back"}); !got.Dismissed || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := <-withdrawn; got != "taken back" {
		t.Errorf("%q was withdrawn", got)
	}
}

func TestDialogsWithoutAHandlerAreDismissed(t *testing.T) {
	a := attach(t, rpcmode.Pi, client.Options{})
	if got, err := a.ui.Ask(t.Context(), ui.Dialog{Method: ui.Confirm}); !got.Dismissed || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestNotices(t *testing.T) {
	notices := make(chan ui.Notice, 10)
	a := attach(t, rpcmode.Pi, client.Options{OnNotice: func(n ui.Notice) { notices <- n }})
	busy, lines := "busy", []string{"l"}
	for _, want := range []ui.Notice{
		{Method: ui.Notify, Message: "m", Type: "error"},
		{Method: ui.SetStatus, Key: "k", Text: &busy},
		{Method: ui.SetWidget, Key: "w", Lines: &lines, Placement: "belowEditor"},
		{Method: ui.SetTitle, Title: "t"},
		{Method: ui.SetEditorText, Content: "c"},
	} {
		a.ui.Tell(want)
		got := <-notices
		if wire, sent := fmt.Sprintf("%+v", plain(got)), fmt.Sprintf("%+v", plain(want)); wire != sent {
			t.Errorf("got %s, want %s", wire, sent)
		}
	}
}

// plain shows what the pointers of a notice point to.
func plain(n ui.Notice) any {
	text, lines := "", []string(nil)
	if n.Text != nil {
		text = *n.Text
	}
	if n.Lines != nil {
		lines = *n.Lines
	}
	n.Text, n.Lines = nil, nil
	return []any{n, text, lines}
}

func TestHostTools(t *testing.T) {
	a := attach(t, rpcmode.Pi, client.Options{})
	begun, stopped := make(chan struct{}), make(chan struct{})
	object := json.RawMessage(`{"type":"object"}`)
	err := a.SetHostTools(t.Context(),
		client.HostTool{
			HostTool: wire.HostTool{Name: "echo", Description: "Echo", Parameters: object},
			Run: func(_ context.Context, arguments json.RawMessage, update func(wire.HostToolOutput)) (wire.HostToolOutput, error) {
				update(client.TextOutput("working"))
				return client.TextOutput("echo " + string(arguments)), nil
			},
		},
		client.HostTool{
			HostTool: wire.HostTool{Name: "fail", Description: "Fail", Parameters: object},
			Run: func(context.Context, json.RawMessage, func(wire.HostToolOutput)) (wire.HostToolOutput, error) {
				return wire.HostToolOutput{}, errors.New("it does not work")
			},
		},
		client.HostTool{
			HostTool: wire.HostTool{Name: "hang", Description: "Hang", Parameters: object},
			Run: func(ctx context.Context, _ json.RawMessage, _ func(wire.HostToolOutput)) (wire.HostToolOutput, error) {
				close(begun)
				<-ctx.Done()
				close(stopped)
				return wire.HostToolOutput{}, ctx.Err()
			},
		})
	if err != nil {
		t.Fatal(err)
	}
	sub := a.Subscribe()
	if _, err := a.Ask(t.Context(), `CALL echo {"a":1}`+"\nCALL fail {}"); err != nil {
		t.Fatal(err)
	}
	sub.Close()
	results := map[string]string{}
	for e := range sub.Events() {
		switch e := e.(type) {
		case *event.ToolExecutionUpdate:
			results["update of "+e.ToolName] = string(e.PartialResult)
		case *event.ToolExecutionEnd:
			results[e.ToolName] = fmt.Sprintf("%t %s", e.IsError, e.Result)
		}
	}
	for name, want := range map[string]string{
		"update of echo": `{"content":[{"type":"text","text":"working"}]}`,
		"echo":           `false {"content":[{"type":"text","text":"echo {\"a\":1}"}]}`,
		"fail":           `true {"content":[{"type":"text","text":"it does not work"}],"details":{}}`,
	} {
		if results[name] != want {
			t.Errorf("%s gave %s, want %s", name, results[name], want)
		}
	}
	if err := a.Prompt(t.Context(), wire.Prompt{Message: "CALL hang {}"}); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := a.Abort(t.Context()); err != nil {
		t.Error(err)
	}
	<-stopped
}

func TestSpawn(t *testing.T) {
	c := spawn(t, "scripted")
	answer, err := c.Ask(t.Context(), "SAY from another process")
	if err != nil {
		t.Fatal(err)
	}
	if got := message.Text(answer.Content); got != "from another process" {
		t.Errorf("got %q", got)
	}
	if result, err := c.Bash(t.Context(), wire.Bash{Command: "echo hi"}); err != nil || result.Output != "hi\n" {
		t.Errorf("Bash: %+v, %v", result, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.State(t.Context()); !errors.Is(err, client.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestSpawnReportsHowAProcessEnds(t *testing.T) {
	c := spawn(t, "broken")
	_, err := c.State(t.Context())
	var exit *client.ExitError
	if !errors.Is(err, client.ErrClosed) || !errors.As(err, &exit) {
		t.Fatalf("got %v", err)
	}
	var status *exec.ExitError
	if !errors.As(exit, &status) || status.ExitCode() != 3 || !strings.HasSuffix(exit.Stderr, "cannot start: no key\n") || len(exit.Stderr) > 8<<10 {
		t.Errorf("got %v with %d bytes of stderr", exit.Err, len(exit.Stderr))
	}
	<-c.Done()
	if err := c.Close(); err == nil {
		t.Error("Close did not say that the process had failed")
	}
}

// A process may end well and have left unread what was sent.
func TestCloseTellsWhatCouldNotBeSent(t *testing.T) {
	c := spawn(t, "impatient")
	const moreThanAPipeHolds = 4 << 20
	if _, err := c.Bash(t.Context(), wire.Bash{Command: strings.Repeat("x", moreThanAPipeHolds)}); !errors.Is(err, client.ErrClosed) {
		t.Errorf("the command gave %v", err)
	}
	<-c.Done()
	if err := c.Close(); !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) { // whichever end is first
		t.Errorf("Close gave %v", err)
	}
}

// Nothing is wrong with a process that was asked to end, and did.
func TestCloseAfterShutdown(t *testing.T) {
	c := spawn(t, "scripted")
	if err := c.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestSpawnOfWhatDoesNotExist(t *testing.T) {
	if _, err := client.Spawn(t.Context(), client.Command{Path: "/no/such/agent"}, client.Options{}); err == nil {
		t.Error("got no error")
	}
}

func TestCallsEndWithTheProcess(t *testing.T) {
	c := spawn(t, "scripted")
	if err := c.Prompt(t.Context(), wire.Prompt{Message: "HANG"}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := c.Compact(t.Context(), "")
		ended <- err
	}()
	go func() {
		_, err := c.Bash(t.Context(), wire.Bash{Command: "kill -9 $PPID"})
		ended <- err
	}()
	<-c.Done()
	failed := 0
	for range 2 {
		if err := <-ended; errors.Is(err, client.ErrClosed) {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no call ended with the process")
	}
	if err := c.Close(); err == nil {
		t.Error("Close did not say that the process was killed")
	}
}

func spawn(t *testing.T, kind string) *client.Client {
	t.Helper()
	c, err := client.Spawn(t.Context(), client.Command{Path: os.Args[0], Env: append(os.Environ(), "CLIENT_TEST_AGENT="+kind)}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
