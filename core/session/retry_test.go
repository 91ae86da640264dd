package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/session"
)

var busy = scripted.Fail(provider.Retryable, "529 overloaded")

func busyFor(wait time.Duration) scripted.Answer {
	return scripted.Answer{Err: &provider.Error{Class: provider.Retryable, Message: "429", RetryAfter: wait}}
}

func TestRetryUntilItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{busy, busy, scripted.Text("at last")})
		began := time.Now()
		r.run("p")
		if took := time.Since(began); took != 6*time.Second {
			t.Errorf("took %v, want two and four seconds", took)
		}
		wantLines(t, r.Lines("message_update", "message_start"),
			"agent_start", "turn_start", "message_end user: p", "message_end assistant error (529 overloaded)", "turn_end 0", "agent_end 2 retry", "auto_retry_start 1/3 2000ms",
			"agent_start", "turn_start", "message_end assistant error (529 overloaded)", "turn_end 0", "agent_end 1 retry", "auto_retry_start 2/3 4000ms",
			"agent_start", "turn_start", "message_end assistant stop: at last", "auto_retry_end 2 true", "turn_end 0", "agent_end 1", "agent_settled")
		wantLines(t, r.conversation(), "user: p", "assistant stop: at last")
		wantLines(t, r.entryTypes()[2:], "message user", "message assistant", "message assistant", "message assistant")
		for i := range 3 {
			wantLines(t, r.sent(i), "user: p")
		}
	})
}

func TestRetryGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{busy, busy, busy, busy, scripted.Text("later")})
		r.run("p")
		lines := r.Lines("message_", "turn_")
		wantLines(t, lines, "agent_start", "agent_end 2 retry", "auto_retry_start 1/3 2000ms", "agent_start", "agent_end 1 retry", "auto_retry_start 2/3 4000ms",
			"agent_start", "agent_end 1 retry", "auto_retry_start 3/3 8000ms", "agent_start", "agent_end 1", "auto_retry_end 3 false: 529 overloaded", "agent_settled")
		wantLines(t, r.conversation(), "user: p", "assistant error (529 overloaded)")
		// The saga is over: the next prompt begins another.
		r.run("q")
		if n := r.Count("auto_retry_end"); n != 1 {
			t.Errorf("%d sagas ended", n)
		}
	})
}

// A cut answer keeps its text in the file, and is not sent again.
func TestRetryAfterACutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := scripted.Answer{Parts: []scripted.Part{scripted.Say("half of")}, Err: &provider.Error{Class: provider.Retryable, Message: "terminated"}}
		r := newRig(t, []scripted.Answer{cut, scripted.Text("whole")})
		r.run("p")
		r.run("q")
		wantLines(t, r.sent(1), "user: p")
		wantLines(t, r.sent(2), "user: p", "assistant stop: whole", "user: q")
		if r.Count("message_end assistant error (terminated): half of") != 1 {
			t.Errorf("clients saw %q", r.brief())
		}
	})
}

func TestRetryInTheMiddleOfTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch")), busy, scripted.Text("end")}, tools(&scripted.Tool{Name: "touch"}))
		r.run("p")
		wantLines(t, r.conversation(), "user: p", "assistant toolUse c", "toolResult c: done", "assistant stop: end")
		wantLines(t, r.Lines("message_", "turn_", "tool_"), "agent_start", "agent_end 4 retry", "auto_retry_start 1/3 2000ms", "agent_start", "auto_retry_end 1 true", "agent_end 1", "agent_settled")
		wantLines(t, r.sent(2), "user: p", "assistant toolUse c", "toolResult c: done")
	})
}

func TestWhatIsNotRetried(t *testing.T) {
	for _, class := range []provider.Class{provider.Auth, provider.Quota, provider.Invalid} {
		bubble(t, string(class), func(t *testing.T) {
			r := newRig(t, []scripted.Answer{scripted.Fail(class, "no")})
			r.run("p")
			wantLines(t, r.Lines("message_", "turn_"), "agent_start", "agent_end 2", "agent_settled")
		})
	}
	bubble(t, "switched off", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{busy})
		r.SetAutoRetry(false)
		r.run("p")
		wantLines(t, r.Lines("message_", "turn_"), "agent_start", "agent_end 2", "agent_settled")
	})
	bubble(t, "a refusal", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{{Stop: "error", Refusal: "not this"}})
		r.run("p")
		wantLines(t, r.Lines("message_", "turn_"), "agent_start", "agent_end 2", "agent_settled")
	})
}

// How long a wait is: the policy's, which ends its doubling at the longest, or
// what the service asks for if that is more.
func TestRetryDelays(t *testing.T) {
	for _, c := range []struct {
		name  string
		retry session.Retry
		fails scripted.Answer
		want  []int64 // milliseconds
	}{
		{"doubled", session.Retry{BaseDelay: time.Second}, busy, []int64{1000, 2000, 4000, 8000}},
		{"without a limit", session.Retry{BaseDelay: 20 * time.Second}, busy, []int64{20000, 40000, 80000, 160000}},
		{"up to a limit", session.Retry{BaseDelay: time.Second, MaxDelay: 3 * time.Second}, busy, []int64{1000, 2000, 3000, 3000}},
		{"none", session.Retry{}, busy, []int64{0, 0, 0, 0}},
		{"huge", session.Retry{BaseDelay: 1 << 62, MaxDelay: time.Minute}, busy, []int64{60000, 60000, 60000, 60000}},
		{"negative", session.Retry{BaseDelay: -time.Second}, busy, []int64{0, 0, 0, 0}},
		{"as the service asks", session.Retry{BaseDelay: time.Second}, busyFor(3 * time.Second), []int64{3000, 3000, 4000, 8000}},
		{"for longer than the policy", session.Retry{BaseDelay: time.Second, MaxDelay: time.Minute}, busyFor(24 * time.Hour), []int64{86400000, 86400000, 86400000, 86400000}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := newRig(t, []scripted.Answer{c.fails, c.fails, c.fails, c.fails}, settings(func(s *session.Settings) {
				s.Retry = c.retry
				s.Retry.Enabled, s.Retry.MaxRetries = true, 4
			}))
			began, expected := time.Now(), time.Duration(0)
			r.run("p")
			var got []int64
			for _, e := range r.Events() {
				if start, ok := e.(*event.AutoRetryStart); ok {
					got = append(got, start.DelayMS)
				}
			}
			for _, ms := range c.want {
				expected += time.Duration(ms) * time.Millisecond
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) || time.Since(began) != expected {
				t.Errorf("the delays are %v in %v, want %v", got, time.Since(began), c.want)
			}
		})
	}
}

func TestAbortDuringTheWait(t *testing.T) {
	for name, stop := range map[string]func(*rig){
		"abort":       func(r *rig) { <-r.Abort() },
		"abort_retry": func(r *rig) { r.AbortRetry() },
	} {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t, []scripted.Answer{busy, scripted.Text("never")})
			r.prompt("p")
			sleep(time.Second)
			if !r.State().IsStreaming || r.State().MessageCount != 1 {
				t.Errorf("the state during the wait is %+v", r.State())
			}
			if got := r.send(session.Prompt{Text: "q"}); got != "refused: "+session.ErrBusy.Error() {
				t.Errorf("a prompt during the wait was %s", got)
			}
			r.steer("s")
			began := time.Now()
			stop(r)
			r.idle()
			if took := time.Since(began); took != 0 {
				t.Errorf("took %v", took)
			}
			lines := r.Lines("message_", "turn_")
			wantLines(t, lines[3:], "queue_update [s] []", "auto_retry_end 1 false: "+session.RetryCancelled, "agent_settled aborted")
			wantLines(t, r.conversation(), "user: p")
			if n := len(r.model.Requests()); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
			// Nothing is left of it.
			r.AbortRetry()
			r.run("q")
			wantLines(t, r.conversation(), "user: p", "user: q", "user: s", "assistant stop: never")
		})
	}
}

func TestAbortRetryWithoutOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("1")})
		r.AbortRetry()
		r.prompt("p")
		r.AbortRetry()
		r.idle()
		wantLines(t, r.conversation(), "user: p", "assistant stop: 1")
	})
}

// An abort of the answer that was tried again ends the saga too.
func TestAbortOfARetriedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{busy, {Hang: true}})
		r.prompt("p")
		sleep(5 * time.Second)
		<-r.Abort()
		lines := r.Lines("message_", "turn_")
		wantLines(t, lines[2:], "auto_retry_start 1/3 2000ms", "agent_start", "agent_end 1", "auto_retry_end 1 false: "+session.RetryCancelled, "agent_settled aborted")
	})
}

func TestSteeringJoinsTheRetriedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{busy, scripted.Text("1")})
		r.prompt("p")
		sleep(time.Second)
		r.steer("s")
		r.followUp("f")
		r.idle()
		wantLines(t, r.sent(1), "user: p", "user: s")
		wantLines(t, r.conversation(), "user: p", "user: s", "assistant stop: 1", "user: f", "assistant stop: ok")
	})
}

// A run that fails for good still delivers what is queued.
func TestQueueAfterAFailedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := scripted.Fail(provider.Invalid, "400")
		failing.Delay = time.Second
		r := newRig(t, []scripted.Answer{failing, scripted.Text("1"), scripted.Text("2")})
		r.prompt("p")
		sleep(time.Millisecond)
		r.steer("s1")
		r.steer("s2")
		r.idle()
		wantLines(t, r.conversation(), "user: p", "assistant error (400)", "user: s1", "assistant stop: 1", "user: s2", "assistant stop: 2")
		wantLines(t, r.Lines("message_", "turn_", "queue_"), "agent_start", "agent_end 2", "agent_start", "agent_end 4", "agent_settled")
	})
}
