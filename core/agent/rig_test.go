package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/tool"
)

// rig is a loop with a scripted model, scripted tools, and a conversation that
// is kept in a list.
type rig struct {
	agent.Config
	scripted.Recorder
	model        *scripted.Model
	tools        []*scripted.Tool
	conversation []message.Message
	steering     []agent.Queued
	followUps    []agent.Queued
	// all lets a turn take all that is queued; otherwise it takes one message.
	all bool
}

var testModel = message.Model{ID: "m1", Provider: "mock", API: "mock-api", Cost: message.Price{Input: 1e6}}

func newRig(script ...scripted.Answer) *rig {
	r := &rig{model: scripted.NewModel(script...)}
	r.Next = func(context.Context) (agent.Call, error) { return r.call(), nil }
	r.Find = r.find
	r.Emit = r.emit
	r.Steering = func(taken int) (agent.Queued, bool) { return r.take(&r.steering, taken) }
	r.FollowUp = func(taken int) (agent.Queued, bool) { return r.take(&r.followUps, taken) }
	r.Now = func() time.Time { return time.UnixMilli(1000) }
	return r
}

func (r *rig) call() agent.Call {
	request := provider.Request{Model: testModel, Messages: message.ForModel(r.conversation)}
	return agent.Call{Model: testModel, Stream: func(ctx context.Context, sink func(provider.Delta) error) error {
		return r.model.Stream(ctx, request, sink)
	}}
}

func (r *rig) find(name string) (tool.Tool, bool) {
	for _, t := range r.tools {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

func (r *rig) emit(e event.Event) {
	r.Record(e)
	if end, ok := e.(*event.MessageEnd); ok {
		r.conversation = append(r.conversation, end.Message)
	}
}

func (r *rig) take(from *[]agent.Queued, taken int) (agent.Queued, bool) {
	if len(*from) == 0 || taken > 0 && !r.all {
		return agent.Queued{}, false
	}
	q := (*from)[0]
	*from = (*from)[1:]
	return q, true
}

// queued is a message from a queue, which notes when it left it.
func (r *rig) queued(text string) agent.Queued {
	return agent.Queued{Message: say(text), Announce: func() { r.Note("left the queue: %s", text) }}
}

func say(text string) message.Message { return message.NewUser(text, nil, 1) }

func prompt(text string) []agent.Queued { return []agent.Queued{{Message: say(text)}} }

// quiet are the lines that most tests have no use for.
var quiet = []string{"message_update", "message_start"}

// wantLines compares what was recorded, line by line.
func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// resultText is the text of the result of a tool call.
func resultText(t *testing.T, messages []message.Message, id string) string {
	t.Helper()
	for _, m := range messages {
		if result, ok := m.(*message.ToolResult); ok && result.ToolCallID == id {
			return message.TextOf(result)
		}
	}
	t.Fatalf("there is no result of %s", id)
	return ""
}
