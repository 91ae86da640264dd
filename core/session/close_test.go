package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/tool"
)

// within closes the session and wants that to take no longer than it may.
func (r *rig) closeWithin(want time.Duration) error {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	err := r.Close(ctx, "quit")
	if took := time.Since(began); took > want {
		r.t.Errorf("closing took %v, want at most %v", took, want)
	}
	return err
}

// Close works in every state, and ends what is on as an abort does.
func TestCloseInEveryState(t *testing.T) {
	wait := func(f func()) { f(); sleep(time.Second) }
	for _, c := range []struct {
		name   string
		script []scripted.Answer
		change with
		begin  func(r *rig)
		want   []string // the last lines that clients see
	}{
		{"idle", nil, nil, func(*rig) {}, nil},
		{"after a run", nil, nil, func(r *rig) { r.run("p") }, []string{"agent_settled"}},
		{"in an answer", []scripted.Answer{{Hang: true}}, nil, func(r *rig) { wait(func() { r.prompt("p") }) },
			[]string{"message_end assistant aborted " + aborted, "agent_end 2", "agent_settled aborted"}},
		{"in a tool", []scripted.Answer{scripted.Calls(scripted.Call("c", "long"))}, tools(&scripted.Tool{Name: "long", Do: lasting(time.Hour)}),
			func(r *rig) { wait(func() { r.prompt("p") }) },
			[]string{"message_end toolResult c error: context canceled", "message_end assistant aborted " + aborted, "agent_end 4", "agent_settled aborted"}},
		{"before a retry", []scripted.Answer{busy}, nil, func(r *rig) { wait(func() { r.prompt("p") }) },
			[]string{"auto_retry_end 1 false: " + session.RetryCancelled, "agent_settled aborted"}},
		{"in a compaction", []scripted.Answer{scripted.Text("1"), scripted.Text("2"), {Hang: true}}, tight, func(r *rig) {
			r.run("p")
			r.run("q")
			wait(func() { r.Compact(context.Background(), "") })
		}, []string{"compaction_end manual aborted"}},
		{"with a queue", []scripted.Answer{{Hang: true}}, nil, func(r *rig) {
			wait(func() { r.prompt("p") })
			r.followUp("f")
		}, []string{"agent_settled aborted"}},
		{"in a dialog of a change", nil, hooks(scripted.On(event.KindSessionBeforeSwitch, func(ctx context.Context, _ *event.SessionBeforeSwitch) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})), func(r *rig) { wait(func() { r.NewSession(context.Background(), "") }) }, nil},
		{"before the extensions are up", nil, func(c *session.Config) { c.Extensions = &extensions{ready: make(chan struct{})} }, func(r *rig) {
			r.Start("startup", "")
			r.Prompt(session.Prompt{Text: "p"}, func(d session.Disposition, err error) { r.Note("accepted %s %v", d, err) })
			sleep(time.Second)
		}, []string{"accepted  " + session.ErrClosed.Error()}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			shutdowns := 0
			change := c.change
			if change == nil {
				change = func(*session.Config) {}
			}
			dir := t.TempDir()
			r := newRig(t, c.script, onDisk(dir), hooks(scripted.On(event.KindSessionShutdown, func(_ context.Context, e *event.SessionShutdown) (any, error) {
				if e.Reason == "quit" {
					shutdowns++
				}
				return nil, nil
			})), change)
			c.begin(r)
			if err := r.closeWithin(0); err != nil {
				t.Errorf("close: %v", err)
			}
			lines := r.brief()
			if len(lines) < len(c.want) {
				t.Fatalf("clients saw %q", lines)
			}
			wantLines(t, lines[len(lines)-len(c.want):], c.want...)
			if shutdowns != 1 && c.name != "in a dialog of a change" {
				t.Errorf("extensions were told %d times", shutdowns)
			}
			if len(r.conversation()) == 0 {
				return
			}
			// The file can be opened by others, and has it all.
			log, err := store.Open(r.File())
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(log.Entries()), len(r.entryTypes()); got != want {
				t.Errorf("%d entries are on disk, want %d", got, want)
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Nothing that an extension or a tool does keeps the session from closing in
// time.
func TestCloseDoesNotWaitForEver(t *testing.T) {
	for _, kind := range []event.Kind{event.KindInput, event.KindMessageEnd, event.KindToolCall, event.KindAgentEnd, event.KindAgentSettled, event.KindSessionBeforeSwitch, event.KindSessionShutdown} {
		bubble(t, string(kind), func(t *testing.T) {
			let := make(chan struct{})
			r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch"))}, tools(&scripted.Tool{Name: "touch"}), hooks(&scripted.Listener{Name: "stuck", Kinds: []event.Kind{kind}, Do: func(context.Context, event.Event) (any, error) {
				<-let // whatever the context says
				return nil, nil
			}}))
			r.Prompt(session.Prompt{Text: "p"}, func(session.Disposition, error) {})
			if kind == event.KindSessionBeforeSwitch {
				r.NewSession(context.Background(), "")
			}
			sleep(time.Second)
			if kind == event.KindSessionShutdown {
				// Who told it must come back by itself: extensions have deadlines.
				time.AfterFunc(30*time.Second, func() { close(let) })
			}
			if err := r.closeWithin(time.Minute); err != nil {
				t.Errorf("close: %v", err)
			}
			if kind != event.KindSessionShutdown {
				close(let)
			}
			sleep(time.Second) // what was stuck ends
		})
	}
	bubble(t, "a tool", func(t *testing.T) {
		let := make(chan struct{})
		r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "stuck"))}, tools(&scripted.Tool{Name: "stuck", Do: func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
			<-let
			return tool.Result{}, nil
		}}))
		r.prompt("p")
		sleep(time.Second)
		if err := r.closeWithin(time.Minute); err != nil {
			t.Errorf("close: %v", err)
		}
		close(let)
		sleep(time.Second)
	})
}

func TestCloseTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "slow to stop"))}, tools(&scripted.Tool{Name: "slow to stop", Do: func(ctx context.Context, _ tool.Call, _ func(tool.Result)) (tool.Result, error) {
			<-ctx.Done()
			sleep(10 * time.Second)
			return tool.Result{}, nil
		}}))
		r.prompt("p")
		sleep(time.Second)
		first := make(chan error)
		go func() { first <- r.Close(context.Background(), "quit") }()
		sleep(time.Second)
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(hurried, "quit"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second call with less time gave %v", err)
		}
		if err := r.Close(context.Background(), "quit"); err != nil {
			t.Errorf("a third gave %v", err)
		}
		select {
		case err := <-first:
			if err != nil {
				t.Errorf("the first gave %v", err)
			}
		default:
			t.Error("the third did not wait for the first")
		}
	})
}

// A command that was called right before the end may still say what it has to
// say; one that hangs is cut off.
func TestCloseWaitsForCommands(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration
		want  []string
	}{
		{"quick", 400 * time.Millisecond, []string{"told", "accepted handled"}},
		{"hangs", time.Hour, []string{"accepted handled"}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := newRig(t, nil)
			r.RegisterCommands("ext", []session.ExtensionCommand{{Name: "look", Run: func(ctx context.Context, _ string) error {
				select {
				case <-time.After(c.takes):
					r.Note("told")
				case <-ctx.Done():
				}
				return nil
			}}})
			r.Prompt(session.Prompt{Text: "/look"}, func(d session.Disposition, _ error) { r.Note("accepted %s", d) })
			if err := r.closeWithin(500 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			wantLines(t, r.brief(), c.want...)
		})
	}
}

func TestNothingBeginsAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.RegisterCommands("ext", []session.ExtensionCommand{{Name: "hello", Run: func(context.Context, string) error {
			t.Error("the command ran")
			return nil
		}}})
		r.run("p")
		messages := r.ForkMessages()
		if err := r.closeWithin(0); err != nil {
			t.Fatal(err)
		}
		r.Reset()
		closed := "refused: " + session.ErrClosed.Error()
		for _, text := range []string{"p", "/hello"} {
			if got := r.send(session.Prompt{Text: text}); got != closed {
				t.Errorf("the prompt %s was %s", text, got)
			}
		}
		if got := r.steer("s"); got != closed {
			t.Errorf("the steer was %s", got)
		}
		if got := r.followUp("f"); got != closed {
			t.Errorf("the follow-up was %s", got)
		}
		ctx := t.Context()
		for name, do := range map[string]func() error{
			"compact": func() error { _, err := r.Compact(ctx, "")(); return err },
			"new":     func() error { _, err := r.NewSession(ctx, "")(); return err },
			"switch":  func() error { _, err := r.SwitchSession(ctx, "/x")(); return err },
			"fork":    func() error { _, err := r.Fork(ctx, messages[0].EntryID, "before")(); return err },
			"clone":   func() error { _, err := r.Clone(ctx)(); return err },
			"navigate": func() error {
				_, err := r.NavigateTree(ctx, session.Navigate{TargetID: messages[0].EntryID})()
				return err
			},
			"reload": func() error { return r.Reload(ctx)() },
			"bash":   func() error { _, err := r.StartBash(session.BashCommand{Command: "true"})(); return err },
		} {
			if err := do(); !errors.Is(err, session.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, do := range map[string]func() error{
			"name":  func() error { return r.SetName(ctx, "n") },
			"label": func() error { return r.SetLabel(messages[0].EntryID, "l") },
			"entry": func() error { _, err := r.AppendEntry("x", nil); return err },
		} {
			if err := do(); !errors.Is(err, store.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.SendMessage(event.CustomMessage{CustomType: "x", Content: message.PlainContent("x")}, session.SendOptions{TriggerTurn: true})
		r.SendUserMessage(message.PlainContent("x"), "")
		<-r.Abort()
		r.AbortBash()
		r.AbortRetry()
		steering, followUps := r.ClearQueue()
		if len(steering)+len(followUps) != 0 {
			t.Errorf("the queue has %q and %q", steering, followUps)
		}
		for _, line := range r.Lines("queue_update") {
			if line != `extension_error {"extensionPath":"<runtime>","event":"send_user_message","error":"the session is closed"}` {
				t.Errorf("clients hear %s", line)
			}
		}
		// What is only asked is still answered.
		if s := r.State(); s.MessageCount != 2 || s.IsStreaming {
			t.Errorf("the state is %+v", s)
		}
	})
}
