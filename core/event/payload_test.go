package event

import (
	"encoding/json"
	"errors"
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

// Events that write themselves must write what their fields say.
func TestEncodeIsTheFieldsBehindTheType(t *testing.T) {
	said := message.NewUser("a <b>", []message.Block{message.ImageBlock("AA==", "image/png")}, 5)
	for _, e := range []Event{
		&AgentEnd{Messages: message.List{said, said}, WillRetry: true},
		&AgentEnd{},
		&MessageStart{Message: said},
		&MessageEnd{Message: said},
		&MessageEnd{},
	} {
		members := map[string]any{"type": e.Kind()}
		v := reflect.ValueOf(e).Elem()
		for i := range v.NumField() {
			members[v.Type().Field(i).Tag.Get("json")] = v.Field(i).Interface()
		}
		want, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, got, want) {
			t.Errorf("%s is written as %s, want %s", e.Kind(), got, want)
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var left, right any
	if err := errors.Join(json.Unmarshal(a, &left), json.Unmarshal(b, &right)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(left, right)
}
