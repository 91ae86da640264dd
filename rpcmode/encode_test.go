package rpcmode

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

func updates() []*event.MessageUpdate {
	delta, content, odd := "Hello ", "Hello world", "a\"\\\n\u2028<&>é\x01"
	call := &message.Block{Type: message.BlockToolCall, ID: "c1", Name: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)}
	usage := &message.Usage{Input: 3, Cost: message.Cost{Input: 0.5}}
	return []*event.MessageUpdate{
		{Update: event.AssistantUpdate{Type: event.TextStart}},
		{Update: event.AssistantUpdate{Type: event.TextDelta, Delta: &delta}},
		{Update: event.AssistantUpdate{Type: event.TextDelta, ContentIndex: 12, Delta: &odd}, Usage: usage},
		{Update: event.AssistantUpdate{Type: event.TextEnd, Content: &content}},
		{Update: event.AssistantUpdate{Type: event.ThinkingStart, ContentIndex: 1}},
		{Update: event.AssistantUpdate{Type: event.ThinkingDelta, ContentIndex: 1, Delta: &delta}},
		{Update: event.AssistantUpdate{Type: event.ThinkingEnd, ContentIndex: 1, Content: &content}},
		{Update: event.AssistantUpdate{Type: event.ToolCallStart, ContentIndex: 2, ID: "c1", ToolName: "bash"}},
		{Update: event.AssistantUpdate{Type: event.ToolCallDelta, ContentIndex: 2, Delta: &odd}},
		{Update: event.AssistantUpdate{Type: event.ToolCallEnd, ContentIndex: 2, ToolCall: call}, Usage: usage},
		{Update: event.AssistantUpdate{Type: event.TextDelta, Delta: new(string)}},
	}
}

// The encoding by hand must not drift from the struct that documents it.
func TestUpdatesAreEncodedAsTheirStructSays(t *testing.T) {
	for _, e := range updates() {
		want, err := event.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := encoder{Pi}.encode(e)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s:\n got %s (%v)\nwant %s", e.Update.Type, got, err, want)
		}
	}
}

func TestUpdatesOfTheXCSHDialectCarryTheMessage(t *testing.T) {
	partial := &message.Assistant{Content: []message.Block{message.TextBlock("Hel\u2028lo")}, StopReason: message.StopPending}
	for _, e := range updates() {
		e.Partial = func() *message.Assistant { return partial }
		frame, err := encoder{XCSH}.encode(e)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Type    string
			Event   map[string]json.RawMessage `json:"assistantMessageEvent"`
			Message json.RawMessage
			Usage   json.RawMessage
		}
		if err := json.Unmarshal(frame, &got); err != nil {
			t.Fatalf("%s: %v", frame, err)
		}
		want, _ := message.Marshal(partial)
		if string(got.Message) != string(want) || string(got.Event["partial"]) != string(want) {
			t.Errorf("%s: message %s, partial %s", e.Update.Type, got.Message, got.Event["partial"])
		}
		if (got.Usage != nil) != (e.Usage != nil) || got.Type != "message_update" || got.Event["type"] == nil {
			t.Errorf("%s: %s", e.Update.Type, frame)
		}
	}
}

func TestCompactionEventsByDialect(t *testing.T) {
	for _, test := range []struct {
		e        event.Event
		pi, xcsh string
	}{
		{&event.CompactionStart{Reason: event.CompactManual},
			`{"type":"compaction_start","reason":"manual"}`, `{"type":"compaction_start","reason":"manual"}`},
		{&event.CompactionStart{Reason: event.CompactThreshold},
			`{"type":"compaction_start","reason":"threshold"}`, `{"type":"auto_compaction_start","reason":"threshold"}`},
		{&event.CompactionEnd{Reason: event.CompactOverflow, WillRetry: true},
			`{"type":"compaction_end","reason":"overflow","result":null,"aborted":false,"willRetry":true}`,
			`{"type":"auto_compaction_end","reason":"overflow","result":null,"aborted":false,"willRetry":true}`},
	} {
		for dialect, want := range map[Dialect]string{Pi: test.pi, XCSH: test.xcsh} {
			got, err := encoder{dialect}.encode(test.e)
			if err != nil || string(got) != want {
				t.Errorf("%s: got %s (%v), want %s", dialect, got, err, want)
			}
		}
	}
}

func TestEventsKeepWhatClientsDoNotSeeOffTheWire(t *testing.T) {
	for _, e := range []event.Event{
		&event.TurnStart{TurnIndex: 3, Timestamp: 4},
		&event.TurnEnd{TurnIndex: 3, Message: &message.Assistant{}},
	} {
		got, err := encoder{Pi}.encode(e)
		if err != nil || strings.Contains(string(got), "turnIndex") || strings.Contains(string(got), `"timestamp":4`) {
			t.Errorf("%s, %v", got, err)
		}
	}
}

// BenchmarkEncodeUpdate's goal is 300 ns a delta.
func BenchmarkEncodeUpdate(b *testing.B) {
	for _, kind := range []event.UpdateType{event.TextDelta, event.ThinkingDelta, event.ToolCallDelta} {
		b.Run(string(kind), func(b *testing.B) {
			all := updates()
			e := all[slices.IndexFunc(all, func(e *event.MessageUpdate) bool { return e.Update.Type == kind })]
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (encoder{Pi}).encode(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
