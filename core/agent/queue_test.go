package agent_test

import (
	"context"
	"testing"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
)

func TestQueuesOneAtATime(t *testing.T) {
	r := newRig(scripted.Text("1"), scripted.Text("2"), scripted.Text("3"), scripted.Text("4"))
	r.steering = []agent.Queued{r.queued("s1"), r.queued("s2")}
	r.followUps = []agent.Queued{r.queued("f1"), r.queued("f2")}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	wantLines(t, r.Lines("message_update", "message_start"),
		"agent_start", "turn_start", "message_end user: hi", "left the queue: s1", "message_end user: s1", "message_end assistant stop: 1", "turn_end 0",
		"turn_start", "left the queue: s2", "message_end user: s2", "message_end assistant stop: 2", "turn_end 0",
		"turn_start", "left the queue: f1", "message_end user: f1", "message_end assistant stop: 3", "turn_end 0",
		"turn_start", "left the queue: f2", "message_end user: f2", "message_end assistant stop: 4", "turn_end 0",
		"agent_end 9")
}

func TestQueuesAllAtOnce(t *testing.T) {
	r := newRig(scripted.Text("1"), scripted.Text("2"))
	r.all = true
	r.steering = []agent.Queued{r.queued("s1"), r.queued("s2")}
	r.followUps = []agent.Queued{r.queued("f1"), r.queued("f2")}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	wantLines(t, r.Lines("message_update", "message_start"),
		"agent_start", "turn_start", "message_end user: hi", "left the queue: s1", "message_end user: s1", "left the queue: s2", "message_end user: s2", "message_end assistant stop: 1", "turn_end 0",
		"turn_start", "left the queue: f1", "message_end user: f1", "left the queue: f2", "message_end user: f2", "message_end assistant stop: 2", "turn_end 0",
		"agent_end 7")
}

func TestSteeringWaitsForTheBatch(t *testing.T) {
	r := newRig(scripted.Calls(scripted.Call("a", "touch"), scripted.Call("b", "touch")), scripted.Text("end"))
	r.tools = []*scripted.Tool{{Name: "touch"}}
	r.followUps = []agent.Queued{r.queued("f")}
	emit := r.Emit
	r.Emit = func(e event.Event) {
		if _, ok := e.(*event.ToolExecutionStart); ok && len(r.steering) == 0 {
			r.steering = append(r.steering, r.queued("s"))
		}
		emit(e)
	}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	wantLines(t, scripted.Messages(r.conversation), "user: hi", "assistant toolUse a b", "toolResult a: done", "toolResult b: done",
		"user: s", "assistant stop: end", "user: f", "assistant stop: ok")
}

// A run that begins with what a queue held does not take more of it than a
// turn may.
func TestPromptsFromAQueueCountForTheFirstTurn(t *testing.T) {
	for _, all := range []bool{false, true} {
		r := newRig(scripted.Text("1"), scripted.Text("2"))
		r.all = all
		r.steering = []agent.Queued{r.queued("s2")}
		agent.Run(t.Context(), r.Config, []agent.Queued{r.queued("s1")})
		want := []string{"user: s1", "assistant stop: 1", "user: s2", "assistant stop: 2"}
		if all {
			want = []string{"user: s1", "user: s2", "assistant stop: 1"}
		}
		wantLines(t, scripted.Messages(r.conversation), want...)
	}
}

// A message that was taken enters, also when the run is aborted before it is
// its turn; a failed answer leaves the queue alone.
func TestTakenMessagesAreNeverLost(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(scripted.Text("1"))
	r.steering = []agent.Queued{r.queued("s1"), r.queued("s2"), r.queued("s3")}
	r.BetweenTurns = func(context.Context) { cancel() }
	result := agent.Run(ctx, r.Config, prompt("hi"))
	wantLines(t, scripted.Messages(result.Messages), "user: hi", "user: s1", "assistant stop: 1", "user: s2", "assistant aborted ("+agent.AbortedMessage+")")
	if len(r.steering) != 1 {
		t.Errorf("%d messages are left in the queue, want 1", len(r.steering))
	}

	r = newRig(scripted.Answer{Stop: message.StopError, Refusal: "no"})
	r.steering = []agent.Queued{r.queued("s1"), r.queued("s2")}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	if len(r.steering) != 1 {
		t.Errorf("%d messages are left behind a failed answer, want 1", len(r.steering))
	}
}

func TestBetweenTurns(t *testing.T) {
	r := newRig(scripted.Calls(scripted.Call("a", "touch")), scripted.Text("2"), scripted.Text("3"))
	r.tools = []*scripted.Tool{{Name: "touch"}}
	r.followUps = []agent.Queued{r.queued("f")}
	r.BetweenTurns = func(context.Context) { r.Note("between") }
	agent.Run(t.Context(), r.Config, prompt("hi"))
	wantLines(t, r.Lines("message_", "tool_", "agent_"),
		"turn_start", "turn_end 1", "between", "turn_start", "turn_end 0", "between", "turn_start", "left the queue: f", "turn_end 0")
}
