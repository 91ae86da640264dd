package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
)

func note(text string) event.CustomMessage {
	return event.CustomMessage{CustomType: "note", Content: message.PlainContent(text), Display: true, Details: event.Raw(`{"a":1}`)}
}

func TestSendMessage(t *testing.T) {
	for _, c := range []struct {
		name    string
		busy    bool // a run is on
		options session.SendOptions
		want    []string // the conversation when all is over and one more prompt was answered
		runs    int
	}{
		{"idle", false, session.SendOptions{}, []string{"custom: n", "user: q", "assistant stop: 1"}, 1},
		{"idle, with an answer", false, session.SendOptions{TriggerTurn: true}, []string{"custom: n", "assistant stop: 1", "user: q", "assistant stop: 2"}, 2},
		{"idle, next turn", false, session.SendOptions{DeliverAs: session.DeliverNextTurn}, []string{"user: q", "custom: n", "assistant stop: 1"}, 1},
		{"in a run", true, session.SendOptions{}, []string{"user: p", "assistant stop: 1", "custom: n", "assistant stop: 2", "user: q", "assistant stop: 3"}, 2},
		{"in a run, as steering", true, session.SendOptions{DeliverAs: session.DeliverSteer}, []string{"user: p", "assistant stop: 1", "custom: n", "assistant stop: 2", "user: q", "assistant stop: 3"}, 2},
		{"in a run, as follow-up", true, session.SendOptions{DeliverAs: session.DeliverFollowUp}, []string{"user: p", "assistant stop: 1", "custom: n", "assistant stop: 2", "user: q", "assistant stop: 3"}, 2},
		{"in a run, next turn", true, session.SendOptions{DeliverAs: session.DeliverNextTurn}, []string{"user: p", "assistant stop: 1", "user: q", "custom: n", "assistant stop: 2"}, 2},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := newRig(t, []scripted.Answer{slow("1"), slow("2"), slow("3")})
			if c.busy {
				r.prompt("p")
				sleep(time.Millisecond)
			}
			r.SendMessage(note("n"), c.options)
			if s := r.State(); s.PendingMessageCount != 0 {
				t.Errorf("the message is listed: %+v", s)
			}
			r.idle()
			r.run("q")
			wantLines(t, r.conversation(), c.want...)
			if n := r.Count("agent_settled"); n != c.runs {
				t.Errorf("settled %d times, want %d", n, c.runs)
			}
			if n := r.Count("queue_update"); n != 0 {
				t.Errorf("clients hear of the queue: %q", r.Lines())
			}
			for _, raw := range r.Messages() {
				if strings.Contains(string(raw), `"custom"`) && !strings.Contains(string(raw), `"customType":"note","content":"n","display":true,"details":{"a":1}`) {
					t.Errorf("the message is %s", raw)
				}
			}
		})
	}
}

// Whoever sends a message does not wait for hooks, nor does what only gave the
// gate back.
func TestSendMessageDoesNotWaitForHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		r := newRig(t, nil, hooks(scripted.On(event.KindMessageStart, func(context.Context, *event.MessageStart) (any, error) {
			<-let
			return nil, nil
		})))
		begun := time.Now()
		time.AfterFunc(time.Hour, func() { close(let) })
		r.SendMessage(note("a"), session.SendOptions{})
		wait := r.NewSession(t.Context(), "") // in line behind it
		r.SendMessage(note("b"), session.SendOptions{})
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("the sender waited %v", waited)
		}
		if _, err := wait(); err != nil {
			t.Error(err)
		}
		if waited := time.Since(begun); waited != time.Hour {
			t.Errorf("the change of session came after %v", waited)
		}
		synctest.Wait()
		wantLines(t, r.conversation(), "custom: b")
	})
}

// A change of session drops what extensions queued for the session before,
// and says so.
func TestDroppedMessagesOfExtensionsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("1")})
		r.prompt("p")
		sleep(time.Millisecond)
		r.SendMessage(note("n"), session.SendOptions{})
		r.SendMessage(note("next"), session.SendOptions{DeliverAs: session.DeliverNextTurn})
		if _, err := r.NewSession(t.Context(), "")(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range r.Events() {
			if e, ok := e.(*event.ExtensionError); ok && e.Event == "send_message" && strings.Contains(e.Error, "type note was dropped") {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%d messages were reported: %q", n, r.brief())
		}
		r.run("q")
		wantLines(t, r.conversation(), "user: q", "assistant stop: ok")
	})
}

// ClearQueue is for what the user said.
func TestClearQueueLeavesMessagesOfExtensions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("1")})
		r.prompt("p")
		sleep(time.Millisecond)
		r.SendMessage(note("n"), session.SendOptions{})
		r.steer("s")
		steering, _ := r.ClearQueue()
		wantLines(t, steering, "s")
		r.idle()
		wantLines(t, r.conversation(), "user: p", "assistant stop: 1", "custom: n", "assistant stop: ok")
	})
}

func TestSendUserMessage(t *testing.T) {
	bubble(t, "idle", func(t *testing.T) {
		r := newRig(t, nil)
		r.RegisterCommands("ext", []session.ExtensionCommand{{Name: "hello"}})
		for _, text := range []string{"hi", "/hello", "/greet Al"} { // neither commands nor templates
			r.SendUserMessage(message.PlainContent(text), "")
			r.Await("agent_settled", 1)
			r.idle()
			r.Reset()
		}
		wantLines(t, r.conversation(), "user: hi", "assistant stop: ok", "user: /hello", "assistant stop: ok", "user: /greet Al", "assistant stop: ok")
	})
	bubble(t, "in a run", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("1")})
		r.prompt("p")
		sleep(time.Millisecond)
		r.SendUserMessage(message.PlainContent("s"), session.DeliverSteer)
		r.SendUserMessage(message.PlainContent("f"), session.DeliverFollowUp)
		r.SendUserMessage(message.PlainContent("x"), "")
		r.idle()
		wantLines(t, r.conversation(), "user: p", "assistant stop: 1", "user: s", "assistant stop: ok", "user: f", "assistant stop: ok")
		wantLines(t, r.Lines("message_", "turn_", "agent_")[:3], "queue_update [s] []", "queue_update [s] [f]",
			`extension_error {"extensionPath":"<runtime>","event":"send_user_message","error":`+quoted(session.ErrBusy.Error())+`}`)
	})
	bubble(t, "nobody can answer", func(t *testing.T) {
		r := newRig(t, nil, func(c *session.Config) { c.Models.(*models).refuse = errors.New("no key") })
		r.SendUserMessage(message.PlainContent("hi"), "")
		r.Await("extension_error", 1)
		if got := r.Lines(); len(got) != 1 || !strings.Contains(got[0], "no key") || !strings.Contains(got[0], "send_user_message") {
			t.Errorf("got %q", got)
		}
		if !r.IsIdle() {
			t.Error("a run is on")
		}
	})
	bubble(t, "with hooks", func(t *testing.T) {
		r := newRig(t, nil, hooks(
			scripted.On(event.KindInput, func(context.Context, *event.Input) (any, error) {
				t.Error("the input hook saw it")
				return nil, nil
			}),
			scripted.On(event.KindBeforeAgentStart, func(_ context.Context, e *event.BeforeAgentStart) (any, error) {
				return &event.BeforeAgentStartResult{Message: &event.CustomMessage{CustomType: "x", Content: message.PlainContent("about " + e.Prompt)}}, nil
			})))
		r.SendUserMessage(message.BlockContent([]message.Block{message.TextBlock("a"), message.TextBlock("b")}), "")
		r.Await("agent_settled", 1)
		wantLines(t, r.conversation(), "user: ab", "custom: about ab", "assistant stop: ok")
	})
}

func quoted(s string) string {
	data, _ := message.Marshal(s) // a string always encodes
	return string(data)
}

// What an input hook says in place of the prompt that it handles is said to an
// idle session.
func TestInputHookThatAnswersItself(t *testing.T) {
	answering := func(t *testing.T, say func(*rig), result any) *rig {
		var r *rig
		r = newRig(t, nil, hooks(scripted.On(event.KindInput, func(context.Context, *event.Input) (any, error) {
			say(r)
			sleep(time.Second)
			return result, nil
		})))
		return r
	}
	handled := &event.InputResult{Action: "handled"}
	bubble(t, "with a message", func(t *testing.T) {
		r := answering(t, func(r *rig) { r.SendMessage(note("I did it"), session.SendOptions{}) }, handled)
		if got := r.send(session.Prompt{Text: "do it"}); got != "handled" {
			t.Errorf("the prompt was %s", got)
		}
		r.Await("message_end", 1)
		wantLines(t, r.Lines(), "message_start custom: I did it", "message_end custom: I did it")
	})
	bubble(t, "with another prompt", func(t *testing.T) {
		r := answering(t, func(r *rig) { r.SendUserMessage(message.PlainContent("do that"), "") }, handled)
		if got := r.send(session.Prompt{Text: "do it"}); got != "handled" {
			t.Errorf("the prompt was %s", got)
		}
		r.Await("agent_settled", 1)
		r.idle()
		wantLines(t, r.conversation(), "user: do that", "assistant stop: ok")
	})
	bubble(t, "and lets the prompt through", func(t *testing.T) {
		r := answering(t, func(r *rig) { r.SendMessage(note("first"), session.SendOptions{}) }, nil)
		r.model.Then(slow("1"))
		r.prompt("p")
		r.Await("agent_settled", 1)
		r.idle()
		got := r.conversation()
		if len(got) < 3 || got[0] != "user: p" || !strings.Contains(strings.Join(got, "\n"), "custom: first") {
			t.Errorf("the conversation is %q", got)
		}
	})
	bubble(t, "in vain", func(t *testing.T) {
		r := answering(t, func(r *rig) { r.SendUserMessage(message.PlainContent("do that"), "") }, nil)
		r.model.Then(slow("1"))
		r.prompt("p")
		r.Await("extension_error", 1) // a run is on by then
		r.idle()
		wantLines(t, r.conversation(), "user: p", "assistant stop: 1")
	})
}

// What cannot be written down is refused where it comes in.
func TestMessagesThatDoNotEncode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := event.CustomMessage{CustomType: "note", Content: message.PlainContent("n"), Details: event.Raw(`{`)}
		call := message.BlockContent([]message.Block{{Type: message.BlockToolCall, Arguments: json.RawMessage(`{`)}})
		r := newRig(t, nil, hooks(scripted.On(event.KindBeforeAgentStart, func(context.Context, *event.BeforeAgentStart) (any, error) {
			return &event.BeforeAgentStartResult{Message: &broken}, nil
		})))
		r.SendMessage(broken, session.SendOptions{})
		r.SendMessage(broken, session.SendOptions{DeliverAs: session.DeliverNextTurn})
		r.SendUserMessage(call, "")
		if _, err := r.AppendEntry("state", event.Raw(`{`)); err == nil || !strings.Contains(err.Error(), "state") {
			t.Errorf("the entry: %v", err)
		}
		r.run("p")
		wantLines(t, r.conversation(), "user: p", "assistant stop: ok")
		var reported []string
		for _, e := range r.Events() {
			if e, ok := e.(*event.ExtensionError); ok {
				reported = append(reported, e.Event)
			}
		}
		wantLines(t, reported, "send_message", "send_message", "send_user_message", "before_agent_start")
	})
}

func TestAppendEntry(t *testing.T) {
	r := newRig(t, nil)
	entry, err := r.AppendEntry("state", event.Raw(`{"n":1}`))
	if err != nil || !strings.Contains(string(entry), `"customType":"state","data":{"n":1}`) {
		t.Errorf("got %s, %v", entry, err)
	}
	if _, err := r.AppendEntry("state", nil); err != nil {
		t.Error(err)
	}
	wantLines(t, r.Lines()[:1], "entry_appended "+`{"entry":`+string(entry)+`}`)
	wantLines(t, r.entryTypes()[2:], "custom", "custom")
	wantLines(t, r.conversation())
}

func TestCommands(t *testing.T) {
	bubble(t, "run at once, with their arguments", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("1")})
		var got []string
		r.RegisterCommands("ext", []session.ExtensionCommand{{Name: "hello", Run: func(_ context.Context, arguments string) error {
			got = append(got, arguments)
			return nil
		}}})
		r.prompt("p")
		for _, text := range []string{"/hello", "/hello  two blanks ", "/hello you"} {
			if got := r.send(session.Prompt{Text: text}); got != "handled" {
				t.Errorf("%s was %s", text, got)
			}
		}
		wantLines(t, got, "", " two blanks ", "you")
		r.idle()
		for _, text := range []string{"/other", " /hello", "//hello", "/", "/hello:1"} {
			r.run(text)
		}
		wantLines(t, got, "", " two blanks ", "you")
		if n := len(r.conversation()); n != 12 {
			t.Errorf("the conversation has %d messages", n)
		}
	})
	bubble(t, "that fail", func(t *testing.T) {
		r := newRig(t, nil)
		r.RegisterCommands("ext", []session.ExtensionCommand{{Name: "hello", Run: func(context.Context, string) error { return errors.New("lost") }}})
		if got := r.send(session.Prompt{Text: "/hello"}); got != "handled" {
			t.Errorf("was %s", got)
		}
		wantLines(t, r.Lines(), `extension_error {"extensionPath":"command:hello","event":"command","error":"lost"}`)
	})
	bubble(t, "of one name", func(t *testing.T) {
		r := newRig(t, nil)
		var ran []string
		run := func(who string) func(context.Context, string) error {
			return func(context.Context, string) error { ran = append(ran, who); return nil }
		}
		r.RegisterCommands("a", []session.ExtensionCommand{{Name: "dup", Run: run("a")}, {Name: "own", Run: run("own")}})
		r.RegisterCommands("b", []session.ExtensionCommand{{Name: "dup", Run: run("b")}})
		var names []string
		for _, c := range r.Commands() {
			names = append(names, c.Name)
		}
		wantLines(t, names, "dup:1", "own", "dup:2", "greet")
		for _, text := range []string{"/dup:2", "/dup:1", "/own"} {
			r.send(session.Prompt{Text: text})
		}
		wantLines(t, ran, "b", "a", "own")
		if got := r.send(session.Prompt{Text: "/dup"}); got != "started" {
			t.Errorf("the bare name was %s", got)
		}
		r.idle()
		r.RegisterCommands("b", nil)
		if got := r.send(session.Prompt{Text: "/dup"}); got != "handled" {
			t.Errorf("the name alone was %s", got)
		}
	})
	bubble(t, "complete their arguments", func(t *testing.T) {
		r := newRig(t, nil)
		r.RegisterCommands("a", []session.ExtensionCommand{{Name: "plain"}, {Name: "full", Complete: func(_ context.Context, prefix string) ([]session.Completion, error) {
			return []session.Completion{{Value: prefix + "x"}}, nil
		}}})
		if got, err := r.CompleteArguments(t.Context(), "full", "a"); err != nil || len(got) != 1 || got[0].Value != "ax" {
			t.Errorf("got %q, %v", got, err)
		}
		if got, err := r.CompleteArguments(t.Context(), "plain", "a"); err != nil || len(got) != 0 {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := r.CompleteArguments(t.Context(), "none", "a"); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("an unknown command: %v", err)
		}
	})
}

func TestShutdownWaitsUntilIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("1")})
		r.prompt("p")
		r.followUp("f")
		r.RequestShutdown()
		r.RequestShutdown()
		select {
		case <-r.ShutdownRequested():
			t.Error("it did not wait")
		default:
		}
		<-r.ShutdownRequested()
		wantLines(t, r.conversation(), "user: p", "assistant stop: 1", "user: f", "assistant stop: ok")
		if n := r.Count("agent_settled"); n != 1 {
			t.Errorf("settled %d times", n)
		}
	})
	r := newRig(t, nil)
	r.RequestShutdown()
	<-r.ShutdownRequested()
}

// A command that asks for the end may still say goodbye, and one that hangs
// does not keep the process.
func TestShutdownWaitsForCommands(t *testing.T) {
	for name, test := range map[string]struct {
		rest func(ctx context.Context)
		want time.Duration
	}{
		"says goodbye": {func(context.Context) { time.Sleep(300 * time.Millisecond) }, 300 * time.Millisecond},
		"hangs":        {func(ctx context.Context) { <-ctx.Done() }, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.RegisterCommands("ext", []session.ExtensionCommand{{Name: "bye", Run: func(ctx context.Context, _ string) error {
					r.RequestShutdown()
					test.rest(ctx)
					return nil
				}}})
				begun := time.Now()
				r.Prompt(session.Prompt{Text: "/bye"}, func(session.Disposition, error) {})
				<-r.ShutdownRequested()
				if waited := time.Since(begun); waited != test.want {
					t.Errorf("it waited %v, want %v", waited, test.want)
				}
			})
		})
	}
}
