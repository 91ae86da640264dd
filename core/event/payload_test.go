package event

import (
	"reflect"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
)

func TestPayloadRoundTrip(t *testing.T) {
	user := message.NewUser("hello <b>", nil, 5)
	for _, e := range []Event{
		&TurnStart{TurnIndex: 3, Timestamp: 7},
		&TurnEnd{TurnIndex: 2, Message: user, ToolResults: message.List{}},
		&MessageStart{Message: user},
		&MessageEnd{Message: user},
		&ToolCall{ToolName: "bash", ToolCallID: "1", Input: Raw(`{"command":"ls"}`)},
		&AgentEnd{Messages: message.List{user}, WillRetry: true},
		&SessionStart{Reason: "new", PreviousSessionFile: "/a"},
	} {
		payload, err := EncodePayload(e)
		if err != nil {
			t.Fatalf("%s: %v", e.Kind(), err)
		}
		back, err := DecodePayload(e.Kind(), payload)
		if err != nil {
			t.Fatalf("%s: %v", e.Kind(), err)
		}
		if !reflect.DeepEqual(e, back) {
			t.Errorf("%s came back as %#v of %s", e.Kind(), back, payload)
		}
	}
}

func TestDecodePayloadRefusesClosedKinds(t *testing.T) {
	for _, kind := range []Kind{KindQueueUpdate, "nonsense"} {
		if _, err := DecodePayload(kind, []byte("{}")); err == nil {
			t.Errorf("%s was decoded", kind)
		}
	}
}
