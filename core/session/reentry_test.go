package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
)

// callBack is everything of a session that a handler may call and that does
// not wait for what the handler is part of.
func callBack(r *rig) {
	r.State()
	r.Messages()
	r.Stats()
	r.Tree()
	r.Branch(nil)
	r.Commands()
	r.Tools()
	r.SystemPrompt()
	r.LastAssistantText()
	r.IsIdle()
	r.HasPendingMessages()
	r.Generation()
	r.Steer(session.Prompt{Text: "/nothing"}, func(session.Disposition, error) {})
	r.ClearQueue()
	r.SetSteeringMode(session.OneAtATime)
	r.SetAutoRetry(true)
	r.AbortRetry()
	r.AbortBash()
	r.RegisterTools("ext", nil)
	r.RegisterCommands("ext", nil)
	if _, err := r.AppendEntry("seen", nil); err != nil && !errors.Is(err, store.ErrClosed) {
		r.t.Error(err)
	}
	r.SendMessage(note("next"), session.SendOptions{DeliverAs: session.DeliverNextTurn})
}

// Every handler may call back into the session, whatever it is told.
func TestHandlersCallBack(t *testing.T) {
	for _, row := range event.Table() {
		if row.Hook == event.Closed {
			continue
		}
		bubble(t, string(row.Kind), func(t *testing.T) {
			var r *rig
			var calls atomic.Int32
			r = newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch")), scripted.Text("2")}, tight, onDisk(t.TempDir()), tools(&scripted.Tool{Name: "touch"}), rules(rule.Settings{}, "2"),
				hooks(&scripted.Listener{Name: "ext", Kinds: []event.Kind{row.Kind}, Do: func(context.Context, event.Event) (any, error) {
					if r != nil && calls.Add(1) <= 5 { // what it does may call it again
						callBack(r)
					}
					return nil, nil
				}}))
			r.run("p1")
			r.run("p2")
			if _, err := r.SetModel(t.Context(), "mock", "m2"); err != nil {
				t.Error(err)
			}
			if err := r.SetName(t.Context(), "n"); err != nil {
				t.Error(err)
			}
			if _, err := r.compactNow(); err != nil {
				t.Error(err)
			}
			if _, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: r.ForkMessages()[0].EntryID})(); err != nil {
				t.Error(err)
			}
			if _, err := r.Fork(t.Context(), r.ForkMessages()[0].EntryID, "at")(); err != nil {
				t.Error(err)
			}
			if _, err := r.NewSession(t.Context(), "")(); err != nil {
				t.Error(err)
			}
			r.bash("true")
			if err := r.closeWithin(time.Minute); err != nil {
				t.Error(err)
			}
			if never := neverHere[row.Kind]; (calls.Load() == 0) != never {
				t.Errorf("the handler was called %d times", calls.Load())
			}
		})
	}
}

// neverHere are the kinds that others than the session tell.
var neverHere = map[event.Kind]bool{
	event.KindProjectTrust: true, event.KindUIPromptStart: true, event.KindUIPromptEnd: true,
	event.KindToolExecutionUpdate: true, event.KindSessionCompactFailed: true,
	event.KindBeforeProviderHeaders: true, event.KindBeforeProviderRequest: true, event.KindAfterProviderResponse: true,
}

// An abort from any handler ends the run, once.
func TestHandlersAbort(t *testing.T) {
	for _, kind := range []event.Kind{
		event.KindInput, event.KindBeforeAgentStart, event.KindContext, event.KindAgentStart, event.KindTurnStart, event.KindMessageStart, event.KindMessageUpdate,
		event.KindMessageEnd, event.KindToolExecutionStart, event.KindToolCall, event.KindToolResult, event.KindToolExecutionEnd, event.KindTurnEnd, event.KindAgentEnd, event.KindAgentSettled,
	} {
		bubble(t, string(kind), func(t *testing.T) {
			var r *rig
			r = newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch"))}, tools(&scripted.Tool{Name: "touch"}),
				hooks(&scripted.Listener{Name: "ext", Kinds: []event.Kind{kind}, Do: func(context.Context, event.Event) (any, error) {
					r.Abort()
					return nil, nil
				}}))
			r.prompt("p")
			r.Await("agent_settled", 1)
			r.idle()
			if n := r.Count("agent_settled"); n != 1 {
				t.Errorf("settled %d times", n)
			}
			last := r.conversation()
			if late := kind == event.KindAgentEnd || kind == event.KindAgentSettled; !late && !strings.HasPrefix(last[len(last)-1], "assistant aborted") {
				t.Errorf("the conversation is %q", last)
			}
			r.run("q")
		})
	}
}

// What handlers send enters the conversation in the end, whenever they do it.
func TestHandlersSendMessages(t *testing.T) {
	for _, kind := range []event.Kind{
		event.KindBeforeAgentStart, event.KindContext, event.KindAgentStart, event.KindTurnStart, event.KindMessageStart, event.KindMessageUpdate, event.KindMessageEnd,
		event.KindToolCall, event.KindToolResult, event.KindTurnEnd, event.KindAgentEnd, event.KindAgentSettled, event.KindRulesTriggered,
	} {
		for _, user := range []bool{false, true} {
			bubble(t, fmt.Sprintf("%s %v", kind, user), func(t *testing.T) {
				var r *rig
				var sent atomic.Bool
				r = newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch"))}, tools(&scripted.Tool{Name: "touch"}), rules(rule.Settings{}, "ok"),
					hooks(&scripted.Listener{Name: "ext", Kinds: []event.Kind{kind}, Do: func(context.Context, event.Event) (any, error) {
						if !sent.CompareAndSwap(false, true) {
							return nil, nil
						}
						if user {
							r.SendUserMessage(message.PlainContent("from the handler"), session.DeliverFollowUp)
						} else {
							r.SendMessage(event.CustomMessage{CustomType: "x", Content: message.PlainContent("from the handler")}, session.SendOptions{TriggerTurn: true})
						}
						return nil, nil
					}}))
				r.run("p")
				sleep(time.Second)
				r.idle()
				n := 0
				for _, line := range r.conversation() {
					if strings.HasSuffix(line, ": from the handler") {
						n++
					}
				}
				if n != 1 {
					t.Errorf("the message is there %d times: %q", n, r.conversation())
				}
				if got := r.conversation(); !strings.HasPrefix(got[len(got)-1], "assistant stop") {
					t.Errorf("nobody answered it: %q", got)
				}
			})
		}
	}
}

// Commands may do what begins and ends runs and sessions, and wait for it.
func TestCommandsDriveTheSession(t *testing.T) {
	for name, run := range map[string]func(ctx context.Context, r *rig) error{
		"wait until idle": func(ctx context.Context, r *rig) error {
			err := r.WaitIdle(ctx)
			if n := r.Count("agent_settled"); n != 1 {
				return fmt.Errorf("settled %d times before the wait was over", n)
			}
			return err
		},
		"new session": func(ctx context.Context, r *rig) error {
			_, err := r.NewSession(ctx, "")()
			r.SendUserMessage(message.PlainContent("begin"), "")
			return err
		},
		"fork": func(ctx context.Context, r *rig) error {
			_, err := r.Fork(ctx, r.ForkMessages()[0].EntryID, "at")()
			return err
		},
		"clone": func(ctx context.Context, r *rig) error { _, err := r.Clone(ctx)(); return err },
		"navigate": func(ctx context.Context, r *rig) error {
			if err := r.WaitIdle(ctx); err != nil {
				return err
			}
			_, err := r.NavigateTree(ctx, session.Navigate{TargetID: r.ForkMessages()[0].EntryID})()
			return err
		},
		"compact": func(ctx context.Context, r *rig) error {
			if _, err := r.Compact(ctx, "")(); err == nil {
				return errors.New("there was something to compact")
			}
			return nil
		},
		"reload": func(ctx context.Context, r *rig) error { return r.Reload(ctx)() },
		"abort":  func(_ context.Context, r *rig) error { <-r.Abort(); return nil },
		"prompt": func(_ context.Context, r *rig) error {
			r.SendUserMessage(message.PlainContent("more"), session.DeliverFollowUp)
			return nil
		},
		"another command": func(_ context.Context, r *rig) error {
			if got := r.send(session.Prompt{Text: "/inner"}); got != "handled" {
				return fmt.Errorf("it was %s", got)
			}
			return nil
		},
	} {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t, []scripted.Answer{slow("1")})
			result := errors.New("it did not run")
			r.RegisterCommands("ext", []session.ExtensionCommand{
				{Name: "do", Run: func(ctx context.Context, _ string) error { result = run(ctx, r); return nil }},
				{Name: "inner", Run: func(context.Context, string) error { return nil }},
			})
			r.prompt("p")
			sleep(time.Millisecond)
			if got := r.send(session.Prompt{Text: "/do"}); got != "handled" {
				t.Errorf("the command was %s", got)
			}
			if result != nil {
				t.Errorf("the command failed: %v", result)
			}
			sleep(time.Minute)
			r.idle()
		})
	}
}

// A client that does not read holds up what it is told of, and nothing else.
func TestSubscribersThatBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{{Parts: []scripted.Part{scripted.Say("a", "b")}, Delay: time.Second}})
		let := make(chan struct{})
		r.Subscribe(func(e event.Event) {
			if e.Kind() == event.KindMessageUpdate {
				<-let
			}
		})
		r.prompt("p")
		sleep(10 * time.Second)
		if s := r.State(); !s.IsStreaming || s.MessageCount != 1 {
			t.Errorf("the state is %+v", s)
		}
		r.steer("s")
		wait := r.NewSession(t.Context(), "")
		idle := r.Abort()
		sleep(10 * time.Second)
		select {
		case <-idle:
			t.Error("the run ended before its events were told")
		default:
		}
		close(let)
		<-idle
		if _, err := wait(); err != nil {
			t.Error(err)
		}
		if n := r.Count("agent_settled aborted"); n != 1 {
			t.Errorf("settled %d times", n)
		}
	})
}

func TestUnsubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		var first, second int
		stop := r.Subscribe(func(event.Event) { first++ })
		stopSecond := r.Subscribe(func(event.Event) { second++ })
		r.run("p")
		stop()
		before := first
		r.run("q")
		if first != before || second <= before {
			t.Errorf("the subscribers got %d and %d events", first, second)
		}
		stop()
		stopSecond()
	})
}

// A subscriber may queue what it likes on what it sees.
func TestSubscribersThatQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		n := 0
		r.Subscribe(func(e event.Event) {
			if e.Kind() == event.KindQueueUpdate && n < 3 {
				n++
				r.FollowUp(session.Prompt{Text: fmt.Sprint(n)}, func(session.Disposition, error) {})
			}
		})
		r.followUp("0")
		r.run("p")
		got := strings.Join(r.conversation(), ", ")
		if want := "user: p, assistant stop: ok, user: 0, assistant stop: ok, user: 1, assistant stop: ok, user: 2, assistant stop: ok, user: 3, assistant stop: ok"; got != want {
			t.Errorf("the conversation is %s", got)
		}
	})
}
