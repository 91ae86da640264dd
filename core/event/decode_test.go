package event_test

import (
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

func TestDecodeReadsBackWhatEncodeWrote(t *testing.T) {
	answer := &message.Assistant{Content: []message.Block{message.TextBlock("hi")}, StopReason: message.StopStop}
	delta := "d"
	for _, e := range []event.Event{
		&event.AgentStart{},
		&event.AgentEnd{Messages: message.List{message.NewUser("q", nil, 1), answer}, WillRetry: true},
		&event.TurnEnd{Message: answer, ToolResults: message.List{&message.ToolResult{ToolCallID: "c"}}},
		&event.MessageStart{Message: answer},
		&event.MessageEnd{Message: &message.Opaque{Name: "novel", Raw: []byte(`{"role":"novel"}`)}},
		&event.MessageUpdate{Update: event.AssistantUpdate{Type: event.TextDelta, Delta: &delta}},
		&event.CompactionEnd{Reason: event.CompactManual, Aborted: true},
		&event.TodoReminder{Todos: event.Raw(`[]`), Attempt: 1, MaxAttempts: 3},
	} {
		wire, err := event.Encode(e)
		if err != nil {
			t.Fatalf("%s: %v", e.Kind(), err)
		}
		back, err := event.DecodeAs(e.Kind(), wire)
		if err != nil {
			t.Fatalf("%s: %v", e.Kind(), err)
		}
		again, err := event.Encode(back)
		if err != nil || string(again) != string(wire) {
			t.Errorf("%s came back as %s (%v), want %s", e.Kind(), again, err, wire)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, test := range []struct {
		kind event.Kind
		line string
	}{
		{"", `{}`}, {"nonsense", `{}`}, {event.KindAgentStart, ``}, {event.KindAgentStart, `[]`},
		{event.KindMessageEnd, `{}`}, {event.KindAgentEnd, `{"messages":[{}]}`},
	} {
		if e, err := event.DecodeAs(test.kind, []byte(test.line)); err == nil {
			t.Errorf("%s %q gave %#v, want an error", test.kind, test.line, e)
		}
	}
}
