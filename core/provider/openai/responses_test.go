package openai_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/providertest"
	"github.com/seed-54e836f5/pi/core/provider/openai"
)

func responses(o provider.Options) provider.Provider { return openai.NewResponses(o) }

var responseModel = message.Model{ID: "r1", API: openai.APIResponses, Provider: "mock", Input: []string{"text", "image"}, MaxTokens: 16384}

const (
	created      = `{"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}`
	messageAdded = `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[],"status":"in_progress"}}`
	completed    = `{"type":"response.completed","response":{"id":"resp_1","status":"completed","usage":{"input_tokens":20,"output_tokens":9,"total_tokens":29,"input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":2}}}}`
)

func outputText(text string) string {
	return fmt.Sprintf(`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":%q}`, text)
}

func messageDone(text string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":%q,"annotations":[]}]}}`, text)
}

func TestResponsesContract(t *testing.T) {
	providertest.Contract(t, providertest.Adapter{
		New: responses, Model: responseModel, Base: "/v1",
		Begun: providertest.Events(created, messageAdded, outputText("partial ")),
		Whole: providertest.Events(created, `{"type":"response.in_progress"}`, messageAdded, outputText("Hello"), outputText(" there."), messageDone(""), completed),
		Text:  func(text string) string { return providertest.Events(outputText(text)) },
		Failure: func(kind, text string) string {
			return fmt.Sprintf(`{"error":{"type":%q,"message":%q}}`, kind, text)
		},
		Described: func(status int, kind, text string) string {
			return fmt.Sprintf(`%d: {"type":%q,"message":%q}`, status, kind, text)
		},
	})
}

func responseAnswers(t *testing.T, events ...string) (providertest.Answer, error) {
	t.Helper()
	s := providertest.Serve(t, providertest.Stream(providertest.Events(events...)))
	req := providertest.Say(responseModel, "hi")
	req.Model.BaseURL = s.URL + "/v1"
	deltas, err := providertest.Collect(t.Context(), responses(provider.Options{Transport: providertest.Transport(t)}), req)
	return providertest.Assemble(t, deltas), err
}

func item(event string, index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.%s","output_index":%d,"item":%s}`, event, index, item)
}

func piece(kind string, index int, delta string) string {
	return fmt.Sprintf(`{"type":"response.%s.delta","output_index":%d,"delta":%q}`, kind, index, delta)
}

func TestResponseBlocks(t *testing.T) {
	const reasoning = `{"type":"reasoning","id":"rs_1","encrypted_content":"ENC","summary":[{"type":"summary_text","text":"hm"},{"type":"summary_text","text":"so"}]}`
	const call = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{\"path\":\"a\"}"}`
	for name, c := range map[string]struct {
		events []string
		want   []message.Block
	}{
		"reasoning, call, text": {
			[]string{
				item("added", 0, `{"type":"reasoning","id":"rs_1","summary":[]}`), `{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}`,
				piece("reasoning_summary_text", 0, "hm"), `{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}`, piece("reasoning_summary_text", 0, "so"), item("done", 0, reasoning),
				item("added", 1, `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":""}`), piece("function_call_arguments", 1, `{"path":`), piece("function_call_arguments", 1, `"a"}`), item("done", 1, call),
				item("added", 2, `{"type":"message","id":"msg_1","content":[]}`), piece("output_text", 2, "o"), piece("output_text", 2, "k"), item("done", 2, `{"type":"message","id":"msg_1","content":[]}`),
			},
			[]message.Block{
				{Type: message.BlockThinking, Thinking: "hm\n\nso", ThinkingSignature: reasoning},
				{Type: message.BlockToolCall, ID: "call_1|fc_1", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)},
				{Type: message.BlockText, Text: "ok", TextSignature: `{"v":1,"id":"msg_1"}`},
			},
		},
		"items that come whole": {
			[]string{item("done", 0, reasoning), item("done", 1, call), item("done", 2, `{"type":"message","id":"msg_1","phase":"commentary","content":[{"type":"output_text","text":"ok"}]}`), item("done", 2, `{"type":"message","id":"again"}`)},
			[]message.Block{
				{Type: message.BlockThinking, Thinking: "hm\n\nso", ThinkingSignature: reasoning},
				{Type: message.BlockToolCall, ID: "call_1|fc_1", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)},
				{Type: message.BlockText, Text: "ok", TextSignature: `{"v":1,"id":"msg_1","phase":"commentary"}`},
			},
		},
		"calls that stream at the same time": {
			[]string{item("added", 0, `{"type":"function_call","id":"fc_1","call_id":"c1","name":"a"}`), item("added", 1, `{"type":"function_call","id":"fc_2","call_id":"c2","name":"b"}`),
				piece("function_call_arguments", 1, `{}`), piece("function_call_arguments", 0, `{"x":1}`), item("done", 1, `{"type":"function_call","name":"b"}`), item("done", 0, `{"type":"function_call","name":"a"}`)},
			[]message.Block{{Type: message.BlockToolCall, ID: "c1|fc_1", Name: "a", Arguments: json.RawMessage(`{"x":1}`)}, {Type: message.BlockToolCall, ID: "c2|fc_2", Name: "b", Arguments: json.RawMessage(`{}`)}},
		},
		"raw reasoning, a refusal, ends that are missing": {
			[]string{item("added", 0, `{"type":"reasoning","id":"rs_1"}`), piece("reasoning_text", 0, "hm"), item("added", 1, `{"type":"message","id":"msg_1"}`), piece("refusal", 1, "No.")},
			[]message.Block{{Type: message.BlockThinking, Thinking: "hm"}, message.TextBlock("No.")},
		},
		"what is not ours": {
			[]string{item("added", 0, `{"type":"web_search_call","id":"ws_1"}`), piece("output_text", 0, "x"), item("done", 0, `{"type":"web_search_call"}`), item("added", 1, `{"type":"message"}`), piece("function_call_arguments", 1, "x"),
				piece("output_text", 1, "a"), item("done", 1, `{"type":"reasoning"}`), `{"type":"weather"}`, `{}`, `[]`, done},
			[]message.Block{message.TextBlock("a")},
		},
	} {
		got, err := responseAnswers(t, append(append([]string{created}, c.events...), completed)...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got.Blocks, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got.Blocks, c.want)
		}
	}
}

func TestResponseEnds(t *testing.T) {
	thought := int64(2)
	ends := func(event, response string) string {
		return fmt.Sprintf(`{"type":"response.%s","response":%s}`, event, response)
	}
	for name, c := range map[string]struct {
		events []string
		want   providertest.Answer
		class  provider.Class
	}{
		"completed":        {[]string{completed}, providertest.Answer{Stop: message.StopStop, Raw: "completed", Usage: message.Usage{Input: 16, Output: 9, CacheRead: 4, Reasoning: &thought, TotalTokens: 29}}, ""},
		"without usage":    {[]string{ends("done", `{"status":"completed"}`)}, providertest.Answer{Stop: message.StopStop, Raw: "completed"}, ""},
		"too long":         {[]string{ends("incomplete", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`)}, providertest.Answer{Stop: message.StopLength, Raw: "incomplete"}, ""},
		"filtered":         {[]string{ends("incomplete", `{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`)}, providertest.Answer{Stop: message.StopError, Raw: "incomplete", Error: "The service's content filter stopped the answer"}, ""},
		"stopped somehow":  {[]string{ends("incomplete", `{"status":"incomplete","incomplete_details":{"reason":"boredom"}}`)}, providertest.Answer{Stop: message.StopError, Raw: "incomplete", Error: "The service stopped the answer: boredom"}, ""},
		"failed":           {[]string{ends("failed", `{"status":"failed","error":{"code":"server_error","message":"oops"}}`)}, providertest.Answer{}, provider.Retryable},
		"does not fit":     {[]string{ends("failed", `{"status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}`)}, providertest.Answer{}, provider.Overflow},
		"cancelled":        {[]string{ends("completed", `{"status":"cancelled"}`)}, providertest.Answer{}, provider.Retryable},
		"an error":         {[]string{`{"type":"error","code":"rate_limit_exceeded","message":"slow down"}`}, providertest.Answer{}, provider.Retryable},
		"a nested error":   {[]string{`{"type":"error","error":{"type":"invalid_request_error","code":"invalid_prompt","message":"no"}}`}, providertest.Answer{}, provider.Invalid},
		"the stream ended": {nil, providertest.Answer{}, provider.Retryable},
	} {
		got, err := responseAnswers(t, append([]string{created}, c.events...)...)
		got.ResponseID = ""
		if provider.ClassOf(err) != c.class || err == nil && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, error %v of class %q", name, got, err, provider.ClassOf(err))
		}
	}
	got, err := responseAnswers(t, created, item("done", 0, `{"type":"function_call","id":"fc_1","call_id":"c1","name":"a","arguments":"{}"}`), completed)
	if err != nil || got.Stop != message.StopToolUse || got.Raw != "completed" {
		t.Errorf("with a call: %+v, error %v", got, err)
	}
}

func responseSent(t *testing.T, o provider.Options, req provider.Request) (map[string]any, providertest.Request) {
	t.Helper()
	s := providertest.Serve(t, providertest.Stream(providertest.Events(created, completed)))
	req.Model.BaseURL = s.URL + "/v1"
	o.Transport = providertest.Transport(t)
	if _, err := providertest.Collect(t.Context(), responses(o), req); err != nil {
		t.Fatal(err)
	}
	return s.Last(t), s.Requests()[0]
}

func TestTheWholeResponseRequest(t *testing.T) {
	req := providertest.Say(responseModel, "hi")
	req.Model.Reasoning, req.Thinking, req.SessionID = true, message.ThinkingMedium, "s1"
	req.Tools = []provider.Tool{{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"limit":{"type":"number"}}}`)}}
	got, raw := responseSent(t, provider.Options{}, req)
	providertest.EqualJSON(t, "body", got, `{
		"model":"r1","stream":true,"store":false,"max_output_tokens":16384,"prompt_cache_key":"s1",
		"reasoning":{"effort":"medium","summary":"auto"},"include":["reasoning.encrypted_content"],
		"input":[{"role":"developer","content":"Be brief."},{"role":"user","content":[{"type":"input_text","text":"hi"}]}],
		"tools":[{"type":"function","name":"read","description":"Reads.","parameters":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"limit":{"type":"number"}}}}]}`)
	if raw.Path != "/v1/responses" || raw.Header.Get("Authorization") != "Bearer "+providertest.Key || raw.Header.Get("session_id") != "s1" || raw.Header.Get("x-client-request-id") != "s1" {
		t.Errorf("path %s, headers %v", raw.Path, raw.Header)
	}
	if !strings.Contains(raw.Body, `"properties":{"path":{"type":"string"},"limit":{"type":"number"}}`) {
		t.Errorf("the order of the arguments was lost: %s", raw.Body)
	}

	req.Thinking, req.MaxTokens, req.Compat = message.ThinkingOff, 3, json.RawMessage(`{"samplingParams":{"temperature":0.5},"supportsDeveloperRole":false}`)
	got, _ = responseSent(t, provider.Options{LongCache: true}, req)
	providertest.EqualJSON(t, "reasoning off", got["reasoning"], `{"effort":"none"}`)
	if got["include"] != nil || got["max_output_tokens"] != 16.0 || got["temperature"] != 0.5 || got["prompt_cache_retention"] != "24h" || got["input"].([]any)[0].(map[string]any)["role"] != "system" {
		t.Errorf("sent %v", got)
	}
	req.Model.Reasoning = false
	if got, _ = responseSent(t, provider.Options{}, req); got["reasoning"] != nil {
		t.Errorf("a model that does not think is told %v", got["reasoning"])
	}
}

func TestResponseConversations(t *testing.T) {
	textOnly := responseModel
	textOnly.Input = []string{"text"}
	const reasoning = `{"type":"reasoning","id":"rs_1","encrypted_content":"ENC","summary":[]}`
	const picture = `{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,aGk="}`
	const note = "[image left out: this model takes text only]"
	asked := func(text string) string {
		return fmt.Sprintf(`{"role":"user","content":[{"type":"input_text","text":%q}]}`, text)
	}
	spoke := func(text, id, more string) string {
		return fmt.Sprintf(`{"type":"message","role":"assistant","status":"completed","id":%q,"content":[{"type":"output_text","text":%q,"annotations":[]}]%s}`, id, text, more)
	}
	signed := message.Block{Type: message.BlockText, Text: "b", TextSignature: `{"v":1,"id":"msg_1","phase":"final_answer"}`}
	for name, c := range map[string]struct {
		model    message.Model
		messages []message.Message
		want     string
	}{
		"images": {responseModel, []message.Message{message.NewUser("look", []message.Block{image}, 1)},
			`[{"role":"user","content":[{"type":"input_text","text":"look"},` + picture + `]}]`},
		"images for a model without eyes": {textOnly, []message.Message{message.NewUser("look", []message.Block{image}, 1)},
			`[{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_text","text":"` + note + `"}]}]`},
		"of its own": {responseModel, []message.Message{user("a"), answerOf(responseModel, thinking("hm", reasoning), signed, toolCall("call_1|fc_1", `{"x":1}`)), result("call_1|fc_1", text("ok"), image), user("c")},
			`[` + asked("a") + `,` + reasoning + `,` + spoke("b", "msg_1", `,"phase":"final_answer"`) + `,{"type":"function_call","id":"fc_1","call_id":"call_1","name":"bash","arguments":"{\"x\":1}"},
			{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"ok"},` + picture + `]},` + asked("c") + `]`},
		"of its own, with thinking that was cut off": {responseModel, []message.Message{user("a"), answerOf(responseModel, thinking("hm", ""), toolCall("call_1|fc_1", `{}`)), result("call_1|fc_1")},
			`[` + asked("a") + `,{"type":"function_call","call_id":"call_1","name":"bash","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"(no output)"}]`},
		"thinking with nothing behind it": {responseModel, []message.Message{user("a"), answerOf(responseModel, signed, thinking("hm", reasoning)), user("c")},
			`[` + asked("a") + `,` + spoke("b", "msg_1", `,"phase":"final_answer"`) + `,` + asked("c") + `]`},
		"of another model": {responseModel, []message.Message{user("a"), foreign(thinking("hm", "sig"), signed, toolCall("call_1|x", `{}`)), result("call_1|x", text("ok"))},
			`[` + asked("a") + `,` + spoke("hm", "msg_1_0", "") + `,` + spoke("b", "msg_1_1", "") + `,{"type":"function_call","call_id":"call_1_x","name":"bash","arguments":"{}"},{"type":"function_call_output","call_id":"call_1_x","output":"ok"}]`},
		"images in results for a model without eyes": {textOnly, []message.Message{user("a"), answerOf(textOnly, toolCall("c", `{}`)), result("c", image)},
			`[` + asked("a") + `,{"type":"function_call","call_id":"c","name":"bash","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"` + note + `"}]`},
		"blank messages": {responseModel, []message.Message{user(""), user("a"), answerOf(responseModel, text("b")), user(" ")},
			`[` + asked("a") + `,` + spoke("b", "msg_2_0", "") + `,` + asked("(empty)") + `]`},
		"an answer with nothing to send": {responseModel, []message.Message{user("a"), answerOf(responseModel, text(" "))}, `[` + asked("a") + `]`},
	} {
		got, _ := responseSent(t, provider.Options{}, provider.Request{Model: c.model, Messages: c.messages})
		providertest.EqualJSON(t, name, got["input"], c.want)
	}
}

func FuzzResponseStream(f *testing.F) {
	f.Add(providertest.Events(created, messageAdded, outputText("a"), messageDone("a"), completed))
	f.Add(providertest.Events(created, item("added", 0, `{"type":"function_call","id":"fc_1","call_id":"c1","name":"a"}`), piece("function_call_arguments", 0, "{}"), completed))
	f.Add("data: {\"type\":\"response.output_item.done\",\"output_index\":-1,\"item\":{\"type\":\"reasoning\",\"summary\":7}}\n\n")
	providertest.FuzzStream(f, responses, responseModel)
}

func BenchmarkResponseStream(b *testing.B) {
	const deltas = 20_000
	one := `{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_0123456789abcdef0123456789abcdef","output_index":0,"content_index":0,"delta":"xxxx ","logprobs":[],"obfuscation":"Zq3v"}`
	stream := providertest.Events(created, messageAdded) + strings.Repeat(providertest.Events(one), deltas) + providertest.Events(messageDone(""), completed)
	providertest.BenchmarkDeltas(b, responses, responseModel, stream, deltas)
}
