package openai_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/providertest"
	"github.com/seed-54e836f5/pi/core/provider/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func completions(o provider.Options) provider.Provider { return openai.NewCompletions(o) }

var chatModel = message.Model{ID: "o1", API: openai.APICompletions, Provider: "mock", Input: []string{"text", "image"}, MaxTokens: 16384}

func chunk(delta, finish string) string {
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"o1","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish)
}

func said(text string) string { return chunk(fmt.Sprintf(`{"content":%q}`, text), "null") }

func finished(reason string) string { return chunk(`{}`, fmt.Sprintf("%q", reason)) }

const (
	opening    = `{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	usageChunk = `{"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":9,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`
	done       = `[DONE]`
)

func TestCompletionsContract(t *testing.T) {
	providertest.Contract(t, providertest.Adapter{
		New: completions, Model: chatModel, Base: "/v1",
		Begun: providertest.Events(opening, said("partial ")),
		Whole: providertest.Events(opening, said("Hello"), said(" there."), finished("stop"), usageChunk, done),
		Text:  func(text string) string { return providertest.Events(said(text)) },
		Failure: func(kind, text string) string {
			return fmt.Sprintf(`{"error":{"type":%q,"message":%q}}`, kind, text)
		},
		Described: func(status int, kind, text string) string {
			return fmt.Sprintf(`%d: {"type":%q,"message":%q}`, status, kind, text)
		},
	})
}

func chatAnswers(t *testing.T, compat string, events ...string) (providertest.Answer, error) {
	t.Helper()
	s := providertest.Serve(t, providertest.Stream(providertest.Events(events...)))
	req := providertest.Say(chatModel, "hi")
	req.Model.BaseURL, req.Compat = s.URL+"/v1", json.RawMessage(compat)
	deltas, err := providertest.Collect(t.Context(), completions(provider.Options{Transport: providertest.Transport(t)}), req)
	return providertest.Assemble(t, deltas), err
}

func TestCompletionBlocks(t *testing.T) {
	call := func(id, name, arguments string) message.Block {
		return message.Block{Type: message.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(arguments)}
	}
	thought := func(text, field string) message.Block {
		return message.Block{Type: message.BlockThinking, Thinking: text, ThinkingSignature: field}
	}
	for name, c := range map[string]struct {
		events []string
		want   []message.Block
	}{
		"thinking, then text": {
			[]string{chunk(`{"reasoning_content":"some "}`, "null"), chunk(`{"reasoning_content":"thoughts","content":null}`, "null"), said("o"), said("k")},
			[]message.Block{thought("some thoughts", "reasoning_content"), message.TextBlock("ok")},
		},
		"thinking in another field": {
			[]string{chunk(`{"reasoning":"a"}`, "null"), said("ok"), chunk(`{"reasoning":"b"}`, "null")},
			[]message.Block{thought("ab", "reasoning"), message.TextBlock("ok")},
		},
		"thinking in two fields at once": {
			[]string{chunk(`{"reasoning":"a","reasoning_content":"a"}`, "null"), said("ok")},
			[]message.Block{thought("a", "reasoning"), message.TextBlock("ok")},
		},
		"content in parts": {
			[]string{chunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`, "null"), chunk(`{"content":[{"type":"text","text":"ok"},{"type":"reference"}]}`, "null")},
			[]message.Block{thought("hm", "reasoning_content"), message.TextBlock("ok")},
		},
		"a refusal": {[]string{chunk(`{"refusal":"No."}`, "null")}, []message.Block{message.TextBlock("No.")}},
		"parallel calls": {
			[]string{said("let me"),
				chunk(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}},{"index":1,"id":"c2","type":"function","function":{"name":"bash","arguments":"{"}}]}`, "null"),
				chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}`, "null"), chunk(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}`, "null"),
				chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}`, "null")},
			[]message.Block{message.TextBlock("let me"), call("c1", "read", `{"path":"a"}`), call("c2", "bash", `{}`)},
		},
		"calls that are all number 0": {
			[]string{chunk(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"a\":"}}]}`, "null"), chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`, "null"),
				chunk(`{"tool_calls":[{"index":0,"id":"c2","function":{"name":"read","arguments":"{\"a\":"}}]}`, "null"), chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"2}"}}]}`, "null")},
			[]message.Block{call("c1", "read", `{"a":1}`), call("c2", "read", `{"a":2}`)},
		},
		"calls without numbers": {
			[]string{chunk(`{"tool_calls":[{"id":"c1","function":{"name":"read","arguments":"{\"a\":1}"}},{"id":"c2","function":{"name":"read","arguments":{"a":2}}}]}`, "null")},
			[]message.Block{call("c1", "read", `{"a":1}`), call("c2", "read", `{"a":2}`)},
		},
		"an id and a name that come late": {
			[]string{chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}`, "null"), chunk(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"}"}}]}`, "null")},
			[]message.Block{call("c1", "read", `{}`)},
		},
		"encrypted reasoning for a call": {
			[]string{chunk(`{"reasoning_details":[{"type":"reasoning.encrypted","id":"c1","data":"xyz"},{"type":"reasoning.text","text":"t"}],"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"}}]}`, "null")},
			[]message.Block{{Type: message.BlockToolCall, ID: "c1", Name: "read", Arguments: json.RawMessage(`{}`), ThoughtSignature: `{"type":"reasoning.encrypted","id":"c1","data":"xyz"}`}},
		},
		"odd chunks": {[]string{`{}`, `[]`, `{"choices":null}`, `{"choices":[{"delta":null}]}`, `{"choices":[{"delta":{"content":7,"tool_calls":"x"}}],"error":null}`, said("a")}, []message.Block{message.TextBlock("a")}},
		"nothing":    {nil, nil},
	} {
		got, err := chatAnswers(t, "", append(append([]string{opening}, c.events...), finished("stop"), usageChunk, done)...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got.Blocks, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got.Blocks, c.want)
		}
	}
}

func TestACallWithoutAnID(t *testing.T) {
	got, err := chatAnswers(t, "", opening, chunk(`{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"{}"}},{"index":1,"function":{"name":"read","arguments":"{}"}}]}`, "null"), finished("tool_calls"), done)
	if err != nil || len(got.Blocks) != 2 || got.Blocks[0].ID == "" || got.Blocks[0].ID == got.Blocks[1].ID {
		t.Errorf("got %+v, error %v", got.Blocks, err)
	}
}

// Thinking ends with the message, behind the text: the stream does not tell
// where it ends.
func TestTheOrderOfEnds(t *testing.T) {
	s := providertest.Serve(t, providertest.Stream(providertest.Events(opening, chunk(`{"reasoning_content":"hm"}`, "null"), said("ok"), finished("stop"), done)))
	req := providertest.Say(chatModel, "hi")
	req.Model.BaseURL = s.URL
	deltas, err := providertest.Collect(t.Context(), completions(provider.Options{Transport: providertest.Transport(t)}), req)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []provider.DeltaKind
	for _, d := range deltas {
		kinds = append(kinds, d.Kind)
	}
	want := []provider.DeltaKind{provider.Begin, provider.ThinkingStart, provider.ThinkingDelta, provider.TextStart, provider.TextDelta, provider.ThinkingEnd, provider.TextEnd, provider.Finish}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
}

func TestCompletionStops(t *testing.T) {
	for word, want := range map[string]message.StopReason{
		"stop": message.StopStop, "eos": message.StopStop, "length": message.StopLength, "tool_calls": message.StopToolUse, "function_call": message.StopToolUse,
		"content_filter": message.StopError, "invented": message.StopStop,
	} {
		got, err := chatAnswers(t, "", opening, said("no"), finished(word), usageChunk, done)
		if err != nil || got.Stop != want || got.Raw != word || (got.Error != "") != (want == message.StopError) {
			t.Errorf("%s: %+v, error %v", word, got, err)
		}
	}
	for word, want := range map[string]provider.Class{"error": provider.Retryable, "network_error": provider.Retryable, "insufficient_system_resource": provider.Retryable, "model_context_window_exceeded": provider.Overflow} {
		if _, err := chatAnswers(t, "", opening, said("no"), finished(word), done); provider.ClassOf(err) != want {
			t.Errorf("%s: error %v of class %q", word, err, provider.ClassOf(err))
		}
	}
	got, err := chatAnswers(t, "", opening, chunk(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"}}]}`, `"stop"`), done)
	if err != nil || got.Stop != message.StopToolUse || got.Raw != "stop" {
		t.Errorf("a call that ends with stop: %+v, error %v", got, err)
	}
}

func TestCompletionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		compat string
		events []string
		want   provider.Class
	}{
		"no [DONE]":                      {"", []string{opening, said("a"), finished("stop")}, ""},
		"no finish_reason, but [DONE]":   {"", []string{opening, said("a"), done}, ""},
		"no finish_reason, none known":   {`{"supportsFinishReason":false}`, []string{opening, said("a")}, ""},
		"no finish_reason, nothing said": {`{"supportsFinishReason":false}`, []string{opening}, provider.Retryable},
		"no finish_reason":               {"", []string{opening, said("a")}, provider.Retryable},
	} {
		got, err := chatAnswers(t, c.compat, c.events...)
		if provider.ClassOf(err) != c.want || err == nil && got.Stop != message.StopStop {
			t.Errorf("%s: %+v, error %v", name, got, err)
		}
	}
}

func TestCompletionUsage(t *testing.T) {
	thought := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		chunk string
		want  message.Usage
	}{
		"OpenAI":     {usageChunk, message.Usage{Input: 16, Output: 9, CacheRead: 4, TotalTokens: 29, Reasoning: thought(2)}},
		"DeepSeek":   {`{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":9,"prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":15}}`, message.Usage{Input: 15, Output: 9, CacheRead: 5, TotalTokens: 29, Reasoning: thought(0)}},
		"Moonshot":   {`{"choices":[{"index":0,"delta":{},"usage":{"prompt_tokens":20,"completion_tokens":9,"cached_tokens":5}}]}`, message.Usage{Input: 15, Output: 9, CacheRead: 5, TotalTokens: 29, Reasoning: thought(0)}},
		"OpenRouter": {`{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":6}}}`, message.Usage{Input: 10, Output: 9, CacheRead: 4, CacheWrite: 6, TotalTokens: 29, Reasoning: thought(0)}},
		"nonsense":   {`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}}`, message.Usage{Output: 9, CacheRead: 4, TotalTokens: 13, Reasoning: thought(0)}},
		"none":       {`{"choices":[],"usage":null}`, message.Usage{}},
	} {
		got, err := chatAnswers(t, "", opening, said("a"), finished("stop"), c.chunk, done)
		if err != nil || !reflect.DeepEqual(got.Usage, c.want) {
			t.Errorf("%s: usage %+v, error %v", name, got.Usage, err)
		}
	}
}

func TestCompletionErrorsInTheStream(t *testing.T) {
	for failure, c := range map[string]struct {
		want provider.Class
		text string
	}{
		`{"code":502,"message":"Provider disconnected"}`:                    {provider.Retryable, `502: {"code":502,"message":"Provider disconnected"}`},
		`{"code":"server_error","message":"oops"}`:                          {provider.Retryable, `{"code":"server_error","message":"oops"}`},
		`{"code":400,"message":"This model's maximum context length is 5"}`: {provider.Overflow, `400: {"code":400,"message":"This model's maximum context length is 5"}`},
		`{"code":402,"message":"pay"}`:                                      {provider.Quota, `402: {"code":402,"message":"pay"}`},
		`"just words"`:                                                      {provider.Invalid, `"just words"`},
	} {
		got, err := chatAnswers(t, "", opening, said("partial "), `{"id":"x","error":`+failure+`,"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`)
		if provider.ClassOf(err) != c.want || err.Error() != c.text || message.Text(got.Blocks) != "partial " {
			t.Errorf("%s: error %v of class %q", failure, err, provider.ClassOf(err))
		}
	}
}

func FuzzCompletionStream(f *testing.F) {
	f.Add(providertest.Events(opening, said("a"), chunk(`{"reasoning":"b"}`, "null"), finished("stop"), usageChunk, done))
	f.Add(providertest.Events(opening, chunk(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"}}]}`, "null"), finished("tool_calls"), done))
	f.Add("data: {\"error\":{}}\n\n")
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":[[]],\"tool_calls\":[1,{}]}}]}\n\ndata: [DONE]\n\n")
	providertest.FuzzStream(f, completions, chatModel)
}

func BenchmarkCompletionStream(b *testing.B) {
	const deltas = 20_000
	one := `{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":"xxxx "},"logprobs":null,"finish_reason":null}],"usage":null}`
	stream := providertest.Events(opening) + strings.Repeat(providertest.Events(one), deltas) + providertest.Events(finished("stop"), usageChunk, done)
	providertest.BenchmarkDeltas(b, completions, chatModel, stream, deltas)
}
