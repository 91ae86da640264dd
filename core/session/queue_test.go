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
)

// slow is an answer that is long enough for something to happen meanwhile.
func slow(text string) scripted.Answer {
	a := scripted.Text(text)
	a.Delay = time.Second
	return a
}

func TestQueueEventsAndDelivery(t *testing.T) {
	for _, c := range []struct {
		name string
		mode session.QueueMode
		want []string // from the first answer on
	}{
		{"one at a time", session.OneAtATime, []string{
			"message_end assistant stop: 1", "turn_end 0",
			"turn_start", "queue_update [s2] [f1 f2]", "message_start user: s1", "message_end user: s1", "message_end assistant stop: 2", "turn_end 0",
			"turn_start", "queue_update [] [f1 f2]", "message_start user: s2", "message_end user: s2", "message_end assistant stop: 3", "turn_end 0",
			"turn_start", "queue_update [] [f2]", "message_start user: f1", "message_end user: f1", "message_end assistant stop: 4", "turn_end 0",
			"turn_start", "queue_update [] []", "message_start user: f2", "message_end user: f2", "message_end assistant stop: ok", "turn_end 0",
			"agent_end 10", "agent_settled",
		}},
		{"all", session.All, []string{
			"message_end assistant stop: 1", "turn_end 0",
			"turn_start", "queue_update [s2] [f1 f2]", "message_start user: s1", "message_end user: s1", "queue_update [] [f1 f2]", "message_start user: s2", "message_end user: s2", "message_end assistant stop: 2", "turn_end 0",
			"turn_start", "queue_update [] [f2]", "message_start user: f1", "message_end user: f1", "queue_update [] []", "message_start user: f2", "message_end user: f2", "message_end assistant stop: 3", "turn_end 0",
			"agent_end 8", "agent_settled",
		}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := newRig(t, []scripted.Answer{slow("1"), scripted.Text("2"), scripted.Text("3"), scripted.Text("4")})
			r.SetSteeringMode(c.mode)
			r.SetFollowUpMode(c.mode)
			r.prompt("p")
			sleep(time.Millisecond)
			for _, text := range []string{"s1", "s2"} {
				accepted, outcome := accepting()
				r.Steer(session.Prompt{Text: text}, func(d session.Disposition, err error) { r.Note("steer %s", d); accepted(d, err) })
				outcome()
			}
			r.followUp("f1")
			r.followUp("f2")
			if s := r.State(); s.PendingMessageCount != 4 || !r.HasPendingMessages() {
				t.Errorf("the state is %+v", s)
			}
			r.idle()
			lines := r.Lines("message_update", "message_start assistant")
			wantLines(t, lines[4:10], "queue_update [s1] []", "steer queued", "queue_update [s1 s2] []", "steer queued", "queue_update [s1 s2] [f1]", "queue_update [s1 s2] [f1 f2]")
			wantLines(t, lines[10:], c.want...)
			if r.HasPendingMessages() {
				t.Error("something is still pending")
			}
		})
	}
}

func TestQueueWhileIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Text("1"), scripted.Text("2"), scripted.Text("3")})
		r.steer("s1")
		r.steer("s2")
		r.followUp("f")
		sleep(time.Hour)
		if !r.IsIdle() || r.State().PendingMessageCount != 3 {
			t.Errorf("idle %v, the state is %+v", r.IsIdle(), r.State())
		}
		r.run("p")
		wantLines(t, r.conversation(), "user: p", "user: s1", "assistant stop: 1", "user: s2", "assistant stop: 2", "user: f", "assistant stop: 3")
		wantLines(t, r.Lines("message_", "turn_", "queue_"), "agent_start", "agent_end 7", "agent_settled")
	})
}

func TestClearQueueDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("1")})
		r.prompt("p")
		r.followUp("f")
		sleep(time.Millisecond)
		r.steer("s")
		steering, followUps := r.ClearQueue()
		wantLines(t, steering, "s")
		wantLines(t, followUps, "f")
		steering, followUps = r.ClearQueue()
		wantLines(t, steering)
		wantLines(t, followUps)
		r.idle()
		wantLines(t, r.conversation(), "user: p", "assistant stop: 1")
	})
}

func TestCommandsCannotBeQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.RegisterCommands("ext", []session.ExtensionCommand{{Name: "hello", Run: func(context.Context, string) error {
			t.Error("the command ran")
			return nil
		}}})
		for _, send := range []func(session.Prompt, session.Accepted){r.Steer, r.FollowUp} {
			var got error
			send(session.Prompt{Text: "/hello you"}, func(_ session.Disposition, err error) { got = err })
			var refused *session.CommandNotQueuedError
			if !errors.As(got, &refused) || refused.Name != "hello" {
				t.Errorf("the error is %v", got)
			}
		}
		wantLines(t, r.Lines())
	})
}

// Queued messages keep the order in which they came, however long the hooks
// of each take.
func TestSlowHooksKeepTheOrder(t *testing.T) {
	hook := func(seen *[]string) *scripted.Listener {
		return scripted.On(event.KindInput, func(_ context.Context, e *event.Input) (any, error) {
			*seen = append(*seen, e.Text)
			if e.Text == "a" {
				sleep(3 * time.Second)
			}
			if e.Text == "x" {
				return &event.InputResult{Action: "handled"}, nil
			}
			return &event.InputResult{Action: "transform", Text: e.Text + "!"}, nil
		})
	}
	bubble(t, "during a run", func(t *testing.T) {
		var seen []string
		r := newRig(t, []scripted.Answer{{Parts: []scripted.Part{scripted.Say("1")}, Delay: 10 * time.Second}}, hooks(hook(&seen)), settings(func(s *session.Settings) { s.SteeringMode = session.All }))
		r.prompt("p")
		sleep(time.Millisecond)
		for _, text := range []string{"a", "b", "x", "c"} {
			r.Steer(session.Prompt{Text: text}, func(d session.Disposition, _ error) { r.Note("%s %s", text, d) })
		}
		if s := r.State(); s.PendingMessageCount != 0 {
			t.Errorf("%d messages are pending that hooks have not let through", s.PendingMessageCount)
		}
		r.idle()
		wantLines(t, seen, "p", "a", "b", "x", "c")
		wantLines(t, r.Lines("agent_", "turn_", "message_")[:7], "queue_update [a!] []", "a queued", "queue_update [a! b!] []", "b queued", "x handled", "queue_update [a! b! c!] []", "c queued")
		wantLines(t, r.conversation(), "user: p!", "assistant stop: 1", "user: a!", "user: b!", "user: c!", "assistant stop: ok")
	})
	bubble(t, "longer than the run", func(t *testing.T) {
		var seen []string
		r := newRig(t, []scripted.Answer{slow("1"), scripted.Text("2"), scripted.Text("3")}, hooks(hook(&seen)))
		r.prompt("p")
		sleep(time.Millisecond)
		r.Steer(session.Prompt{Text: "a"}, func(session.Disposition, error) {})
		r.FollowUp(session.Prompt{Text: "b"}, func(session.Disposition, error) {})
		r.idle()
		wantLines(t, r.conversation(), "user: p!", "assistant stop: 1")
		sleep(time.Minute) // in one run or in two
		r.idle()
		wantLines(t, r.conversation()[2:], "user: a!", "assistant stop: 2", "user: b!", "assistant stop: 3")
	})
	bubble(t, "given back meanwhile", func(t *testing.T) {
		var seen []string
		r := newRig(t, nil, hooks(hook(&seen)))
		accepted, outcome := accepting()
		r.Steer(session.Prompt{Text: "a"}, accepted)
		sleep(time.Second)
		steering, _ := r.ClearQueue()
		wantLines(t, steering, "a")
		if got := outcome(); got != "queued" {
			t.Errorf("the steer was %s", got)
		}
		r.run("p")
		wantLines(t, r.conversation(), "user: p!", "assistant stop: ok")
	})
}

// A message behind one that hooks still have waits for it.
func TestQueuedMessagesDoNotOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch")), slow("1"), scripted.Text("2")}, tools(&scripted.Tool{Name: "touch", Do: lasting(time.Second)}),
			hooks(scripted.On(event.KindInput, func(_ context.Context, e *event.Input) (any, error) {
				if e.Text == "a" {
					sleep(1500 * time.Millisecond)
				}
				return nil, nil
			})))
		r.prompt("p")
		sleep(time.Millisecond)
		r.Steer(session.Prompt{Text: "a"}, func(session.Disposition, error) {})
		r.SendMessage(event.CustomMessage{CustomType: "note", Content: message.PlainContent("b")}, session.SendOptions{})
		r.idle()
		wantLines(t, r.conversation(), "user: p", "assistant toolUse c", "toolResult c: done", "assistant stop: 1", "user: a", "assistant stop: 2", "custom: b", "assistant stop: ok")
	})
}

func TestInterruptMode(t *testing.T) {
	for _, c := range []struct {
		mode session.InterruptMode
		want string
		took time.Duration
	}{
		{session.Wait, "toolResult b: done", 10 * time.Second},
		{session.Immediate, "toolResult b error: not finished: a message from the user came in and takes precedence", 2 * time.Second},
	} {
		bubble(t, string(c.mode), func(t *testing.T) {
			quick, long := &scripted.Tool{Name: "quick", Do: lasting(2 * time.Second)}, &scripted.Tool{Name: "long", Do: lasting(10 * time.Second)}
			r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("a", "quick"), scripted.Call("b", "long"))}, tools(quick, long))
			r.SetInterruptMode(c.mode)
			began := time.Now()
			r.prompt("p")
			sleep(time.Second)
			r.steer("now")
			r.idle()
			if took := time.Since(began); took != c.took {
				t.Errorf("took %v, want %v", took, c.took)
			}
			wantLines(t, r.conversation()[3:], c.want, "user: now", "assistant stop: ok")
			if s := r.State(); s.InterruptMode != c.mode {
				t.Errorf("the state says %s", s.InterruptMode)
			}
		})
	}
}

// What a client hears last is how the queue is, also when it changes while it
// is being told.
func TestQueueEventsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		var seen []string
		r.Subscribe(func(e event.Event) {
			line := scripted.Line(e)
			if line == "queue_update [a] []" {
				sleep(time.Second)
			}
			seen = append(seen, line)
		})
		go r.steer("a")
		sleep(time.Millisecond)
		accepted, outcome := accepting()
		r.Steer(session.Prompt{Text: "b"}, accepted) // waits in line behind a
		steering, _ := r.ClearQueue()
		wantLines(t, steering, "a", "b")
		if got := outcome(); got != "queued" {
			t.Errorf("b was %s", got)
		}
		wantLines(t, seen, "queue_update [a] []", "queue_update [] []")
	})
}

func TestQueueEventsAreNeverStale(t *testing.T) {
	for range 50 {
		r := newRig(t, []scripted.Answer{scripted.Text("1")}, settings(func(s *session.Settings) { s.SteeringMode = session.All }))
		r.prompt("p")
		sent := make(chan struct{})
		for range 4 {
			go func() {
				defer func() { sent <- struct{}{} }()
				r.steer("s")
				r.ClearQueue()
			}()
		}
		for range 4 {
			<-sent
		}
		r.idle()
		r.ClearQueue()
		lines := r.Lines("agent_", "turn_", "message_")
		if last := lines[len(lines)-1]; last != "queue_update [] []" {
			t.Fatalf("the last that clients hear is %s", last)
		}
	}
}
