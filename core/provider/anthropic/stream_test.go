package anthropic_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/providertest"
)

func answers(t *testing.T, events ...string) (providertest.Answer, error) {
	t.Helper()
	s := providertest.Serve(t, providertest.Stream(providertest.Events(events...)))
	req := providertest.Say(model, "hi")
	req.Model.BaseURL = s.URL
	deltas, err := providertest.Collect(t.Context(), adapter(provider.Options{Transport: providertest.Transport(t)}), req)
	return providertest.Assemble(t, deltas), err
}

func start(index int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block)
}

func delta(index int, d string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, d)
}

func stop(index int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index) }

func TestBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		want   []message.Block
	}{
		"thinking, hidden thinking, text": {
			events: []string{
				start(0, `{"type":"thinking","thinking":"","signature":""}`),
				delta(0, `{"type":"thinking_delta","thinking":"let me "}`), delta(0, `{"type":"thinking_delta","thinking":"see"}`),
				delta(0, `{"type":"signature_delta","signature":"c2"}`), delta(0, `{"type":"signature_delta","signature":"ln"}`), stop(0),
				start(1, `{"type":"redacted_thinking","data":"SECRET"}`), stop(1),
				start(2, `{"type":"text","text":"so"}`), delta(2, `{"type":"text_delta","text":": \u00e9\ud83d\ude00\n\"q\""}`), delta(2, `{"type":"citations_delta","citation":{}}`), stop(2),
			},
			want: []message.Block{
				{Type: message.BlockThinking, Thinking: "let me see", ThinkingSignature: "c2ln"},
				{Type: message.BlockThinking, Thinking: "[thinking hidden by the service]", ThinkingSignature: "SECRET", Redacted: true},
				message.TextBlock("so: é😀\n\"q\""),
			},
		},
		"parallel tool calls": {
			events: []string{
				start(0, `{"type":"tool_use","id":"t1","name":"read","input":{}}`), start(1, `{"type":"tool_use","id":"t2","name":"bash","input":{}}`),
				delta(0, `{"type":"input_json_delta","partial_json":""}`), delta(0, `{"type":"input_json_delta","partial_json":"{\"path\":"}`),
				delta(1, `{"type":"input_json_delta","partial_json":"{\"command\":\"ls\"}"}`), delta(0, `{"type":"input_json_delta","partial_json":"\"a\"}"}`),
				stop(0), stop(1),
			},
			want: []message.Block{
				{Type: message.BlockToolCall, ID: "t1", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)},
				{Type: message.BlockToolCall, ID: "t2", Name: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)},
			},
		},
		"arguments that come with the start": {
			events: []string{start(0, `{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}}`), stop(0)},
			want:   []message.Block{{Type: message.BlockToolCall, ID: "t1", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)}},
		},
		"arguments that are no JSON": {
			events: []string{start(0, `{"type":"tool_use","id":"t1","name":"read","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{\"path\": \"a"}`), stop(0)},
			want:   []message.Block{{Type: message.BlockToolCall, ID: "t1", Name: "read", Arguments: json.RawMessage(`{"path": "a`)}},
		},
		"blocks of the service's own are skipped": {
			events: []string{
				start(0, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{}"}`), stop(0),
				start(1, `{"type":"text","text":""}`), delta(1, `{"type":"text_delta","text":"a"}`), stop(1),
			},
			want: []message.Block{message.TextBlock("a")},
		},
		"ends that are missing": {
			events: []string{start(0, `{"type":"text","text":""}`), delta(0, `{"type":"text_delta","text":"a"}`), start(1, `{"type":"text","text":"b"}`)},
			want:   []message.Block{message.TextBlock("a"), message.TextBlock("b")},
		},
		"an index that is used twice": {
			events: []string{start(0, `{"type":"text","text":"a"}`), start(0, `{"type":"text","text":"b"}`), stop(0)},
			want:   []message.Block{message.TextBlock("a"), message.TextBlock("b")},
		},
		"deltas for no block, or a block of another type": {
			events: []string{delta(7, `{"type":"text_delta","text":"x"}`), delta(-1, `{"type":"text_delta","text":"x"}`), stop(7),
				start(0, `{"type":"text","text":"a"}`), delta(0, `{"type":"thinking_delta","thinking":"x"}`), stop(0), delta(0, `{"type":"text_delta","text":"late"}`), stop(0)},
			want: []message.Block{message.TextBlock("a")},
		},
		"events that are yet to be invented": {
			events: []string{`{"type":"weather","rain":true}`, `{}`, `[1]`, `7`, start(0, `{"type":"text","text":"a"}`), delta(0, `{"type":"smell_delta"}`), stop(0)},
			want:   []message.Block{message.TextBlock("a")},
		},
		"nothing": {want: nil},
	} {
		got, err := answers(t, append(append([]string{messageStart}, c.events...), messageDelta("end_turn"), messageStop)...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got.Blocks, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got.Blocks, c.want)
		}
	}
}

func TestABlockFarOut(t *testing.T) {
	for _, index := range []int{-1, 1 << 40} {
		_, err := answers(t, messageStart, start(index, `{"type":"text","text":"a"}`))
		if provider.ClassOf(err) != provider.Retryable {
			t.Errorf("index %d: error %v", index, err)
		}
	}
}

func TestStopReasons(t *testing.T) {
	for word, want := range map[string]message.StopReason{
		"end_turn": message.StopStop, "stop_sequence": message.StopStop, "pause_turn": message.StopStop, "tool_use": message.StopToolUse,
		"max_tokens": message.StopLength, "model_context_window_exceeded": message.StopLength, "refusal": message.StopError, "invented": message.StopStop,
	} {
		got, err := answers(t, messageStart, textStart, textDelta("no"), textStop, messageDelta(word), messageStop)
		if err != nil || got.Stop != want || got.Raw != word || (got.Error != "") != (want == message.StopError) {
			t.Errorf("%s: %+v, error %v", word, got, err)
		}
	}
}

func TestUsage(t *testing.T) {
	hour := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		start, delta string
		want         message.Usage
	}{
		"everything": {messageStart, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`,
			message.Usage{Input: 10, Output: 9, CacheRead: 3, CacheWrite: 7, TotalTokens: 29, CacheWrite1h: hour(2)}},
		"corrected at the end": {messageStart, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":20,"cache_read_input_tokens":null,"output_tokens":9}}`,
			message.Usage{Input: 20, Output: 9, CacheRead: 3, CacheWrite: 7, TotalTokens: 39, CacheWrite1h: hour(2)}},
		"nothing told": {`{"type":"message_start","message":{"id":"m"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`,
			message.Usage{CacheWrite1h: hour(0)}},
	} {
		got, err := answers(t, c.start, c.delta, messageStop)
		if err != nil || !reflect.DeepEqual(got.Usage, c.want) {
			t.Errorf("%s: usage %+v, error %v", name, got.Usage, err)
		}
	}
}

func TestErrorsInTheStream(t *testing.T) {
	for kind, want := range map[string]provider.Class{
		"overloaded_error": provider.Retryable, "api_error": provider.Retryable, "rate_limit_error": provider.Retryable, "timeout_error": provider.Retryable,
		"authentication_error": provider.Auth, "billing_error": provider.Quota, "invalid_request_error": provider.Invalid,
	} {
		event := fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"bad luck"}}`, kind)
		got, err := answers(t, messageStart, textStart, textDelta("partial "), event)
		if provider.ClassOf(err) != want || err.Error() != event || message.Text(got.Blocks) != "partial " {
			t.Errorf("%s: error %v of class %q", kind, err, provider.ClassOf(err))
		}
	}
}

func TestAStreamWithoutItsLastEvents(t *testing.T) {
	got, err := answers(t, messageStart, textStart, textDelta("a"), textStop, messageDelta("end_turn"))
	if err != nil || got.Stop != message.StopStop {
		t.Errorf("without message_stop: %+v, error %v", got, err)
	}
	if _, err := answers(t, messageStart, textStart, textDelta("a"), textStop); provider.ClassOf(err) != provider.Retryable {
		t.Errorf("without a stop reason: error %v", err)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(providertest.Events(messageStart, textStart, textDelta("a"), textStop, messageDelta("end_turn"), messageStop))
	f.Add(providertest.Events(messageStart, start(3, `{"type":"tool_use","id":"t","name":"n","input":{"a":1}}`), delta(3, `{"type":"input_json_delta","partial_json":"{"}`), stop(3)))
	f.Add("data: {\"type\":\"error\"}\n\n")
	f.Add("data: {\"type\":\"content_block_start\",\"index\":\"x\",\"content_block\":[]}\n\n")
	providertest.FuzzStream(f, adapter, model)
}

func BenchmarkStream(b *testing.B) {
	const deltas = 20_000
	stream := providertest.Events(messageStart, textStart) +
		strings.Repeat(providertest.Events(textDelta("xxxx ")), deltas) +
		providertest.Events(textStop, messageDelta("end_turn"), messageStop)
	providertest.BenchmarkDeltas(b, adapter, model, stream, deltas)
}
