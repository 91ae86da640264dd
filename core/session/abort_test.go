package session_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/tool"
)

func TestAbortLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("never"), scripted.Text("1"), scripted.Text("2")})
		r.prompt("p")
		sleep(time.Millisecond)
		r.steer("s")
		r.followUp("f")
		<-r.Abort()
		if !r.IsIdle() || r.State().PendingMessageCount != 2 {
			t.Errorf("the state is %+v", r.State())
		}
		wantLines(t, r.brief()[2:], "queue_update [s] []", "queue_update [s] [f]", "message_end assistant aborted "+aborted, "agent_end 2", "agent_settled aborted")
		sleep(time.Hour)
		if n := r.Count("agent_start"); n != 1 {
			t.Errorf("%d runs began", n)
		}
		r.run("q")
		wantLines(t, r.conversation(), "user: p", "assistant aborted "+aborted, "user: q", "user: s", "assistant stop: 1", "user: f", "assistant stop: 2")
		// Neither request has the aborted answer.
		wantLines(t, r.sent(1), "user: p", "user: q", "user: s")
	})
}

func TestAbortWhileIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		<-r.Abort()
		wantLines(t, r.Lines())
	})
}

func TestAbortTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{{Hang: true}})
		r.prompt("p")
		sleep(time.Second)
		first, second := r.Abort(), r.Abort()
		<-first
		<-second
		if n := r.Count("agent_settled aborted"); n != 1 {
			t.Errorf("settled %d times", n)
		}
	})
}

// An abort is answered when clients know that the run has settled.
func TestAbortWaitsForSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "stubborn"))}, tools(&scripted.Tool{Name: "stubborn", Do: func(ctx context.Context, _ tool.Call, _ func(tool.Result)) (tool.Result, error) {
			<-ctx.Done()
			sleep(3 * time.Second)
			return tool.TextResult("at last"), nil
		}}))
		r.prompt("p")
		sleep(time.Second)
		began := time.Now()
		<-r.Abort()
		r.Note("answered")
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		lines := r.brief()
		wantLines(t, lines[len(lines)-5:], "message_end toolResult c: at last", "message_end assistant aborted "+aborted, "agent_end 4", "agent_settled aborted", "answered")
	})
}

// An abort ends what hooks wait for, wherever in a run that is.
func TestAbortEndsDialogsOfHooks(t *testing.T) {
	for _, kind := range []event.Kind{
		event.KindInput, event.KindBeforeAgentStart, event.KindAgentStart, event.KindTurnStart, event.KindMessageStart, event.KindContext,
		event.KindMessageUpdate, event.KindMessageEnd, event.KindToolExecutionStart, event.KindToolCall, event.KindToolExecutionEnd, event.KindToolResult,
		event.KindTurnEnd, event.KindAgentEnd, event.KindAgentSettled,
	} {
		bubble(t, string(kind), func(t *testing.T) {
			waiting := make(chan struct{})
			first := true
			dialog := &scripted.Listener{Name: "ext", Kinds: []event.Kind{kind}, Do: func(ctx context.Context, _ event.Event) (any, error) {
				if !first {
					return nil, ctx.Err()
				}
				first = false
				close(waiting)
				<-ctx.Done()
				return nil, ctx.Err()
			}}
			r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch"))}, tools(&scripted.Tool{Name: "touch"}), hooks(dialog))
			r.Prompt(session.Prompt{Text: "p"}, func(session.Disposition, error) {})
			<-waiting
			<-r.Abort()
			r.idle()
			if n := r.Count("agent_settled"); n != 1 {
				t.Errorf("settled %d times: %q", n, r.Lines())
			}
			if n := r.Count("extension_error"); n != 0 {
				t.Errorf("an aborted hook was reported: %q", r.Lines())
			}
		})
	}
}

// Hooks that are told how an aborted run ended know that a client waits.
func TestHooksAreHurriedAfterAnAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []bool
		note := func(ctx context.Context, _ event.Event) (any, error) {
			got = append(got, hook.IsHurried(ctx))
			return nil, nil
		}
		r := newRig(t, []scripted.Answer{{Hang: true}},
			hooks(&scripted.Listener{Name: "ext", Kinds: []event.Kind{event.KindAgentStart, event.KindAgentEnd, event.KindAgentSettled}, Do: note}))
		r.prompt("p")
		sleep(time.Second)
		<-r.Abort()
		if want := []bool{false, true, true}; !slices.Equal(got, want) {
			t.Errorf("the start, end and settling of an aborted run were hurried: %v, want %v", got, want)
		}
	})
}

// Also what hooks wait for that are told of the abort.
func TestSecondAbortEndsDialogsOfTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := make(chan struct{}, 2)
		r := newRig(t, []scripted.Answer{{Hang: true}}, hooks(scripted.On(event.KindAgentEnd, func(ctx context.Context, _ *event.AgentEnd) (any, error) {
			waiting <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		})))
		r.prompt("p")
		sleep(time.Second)
		first := r.Abort()
		<-waiting
		sleep(time.Hour)
		select {
		case <-first:
			t.Error("the session was idle while a hook waited")
		default:
		}
		<-r.Abort()
		<-first
	})
}

func TestAbortEndsDialogsOfQueuedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, hooks(scripted.On(event.KindInput, func(ctx context.Context, e *event.Input) (any, error) {
			if e.Text == "p" {
				return nil, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})))
		accepted, outcome := accepting()
		r.Steer(session.Prompt{Text: "s"}, accepted)
		sleep(time.Second)
		<-r.Abort()
		if got := outcome(); got != "queued" {
			t.Errorf("the steer was %s", got)
		}
		r.run("p")
		wantLines(t, r.conversation(), "user: p", "user: s", "assistant stop: ok")
	})
}

func TestAbortOfAPromptThatWaitsForExtensions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		extensions := &extensions{ready: make(chan struct{})}
		r := newRig(t, nil, func(c *session.Config) { c.Extensions = extensions })
		r.Start("startup", "")
		accepted, outcome := accepting()
		r.Prompt(session.Prompt{Text: "p"}, accepted)
		sleep(time.Second)
		if s := r.State(); s.IsStreaming {
			t.Error("the prompt did not wait")
		}
		steered, queued := accepting()
		r.Steer(session.Prompt{Text: "s"}, steered)
		<-r.Abort() // does not wait for them
		if got := outcome(); got != "refused: "+session.ErrWithdrawn.Error() {
			t.Errorf("the prompt was %s", got)
		}
		close(extensions.ready)
		if got := queued(); got != "queued" {
			t.Errorf("the steer was %s", got)
		}
		wantLines(t, r.conversation())
		r.run("q")
		wantLines(t, r.conversation(), "user: q", "user: s", "assistant stop: ok")
	})
}

// extensions are up when the test says so.
type extensions struct {
	ready  chan struct{}
	reload func(context.Context) error
	enter  func(cwd string) error
}

func (e *extensions) Ready() <-chan struct{} { return e.ready }

func (e *extensions) Enter(_ context.Context, cwd string) error {
	if e.enter == nil {
		return nil
	}
	return e.enter(cwd)
}

func (e *extensions) Reload(ctx context.Context) error {
	if e.reload == nil {
		return nil
	}
	return e.reload(ctx)
}
