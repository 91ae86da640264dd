package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/providertest"
)

// sent runs a request and gives the body that arrived, and its headers.
func sent(t *testing.T, o provider.Options, req provider.Request) (map[string]any, providertest.Request) {
	t.Helper()
	s := providertest.Serve(t, providertest.Stream(providertest.Events(messageStart, messageDelta("end_turn"), messageStop)))
	req.Model.BaseURL = s.URL + req.Model.BaseURL
	o.Transport = providertest.Transport(t)
	if _, err := providertest.Collect(t.Context(), adapter(o), req); err != nil {
		t.Fatal(err)
	}
	return s.Last(t), s.Requests()[0]
}

func user(text string) *message.User { return message.NewUser(text, nil, 1) }

func assistant(blocks ...message.Block) *message.Assistant {
	return &message.Assistant{Content: blocks, API: model.API, Provider: model.Provider, Model: model.ID}
}

func foreign(blocks ...message.Block) *message.Assistant {
	return &message.Assistant{Content: blocks, API: "openai-completions", Provider: "other", Model: "o1"}
}

func result(id string, isError bool, blocks ...message.Block) *message.ToolResult {
	return &message.ToolResult{ToolCallID: id, ToolName: "bash", Content: blocks, IsError: isError}
}

func thinking(text, signature string) message.Block {
	return message.Block{Type: message.BlockThinking, Thinking: text, ThinkingSignature: signature}
}

func call(id, name, arguments string) message.Block {
	return message.Block{Type: message.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

var (
	text  = message.TextBlock
	image = message.ImageBlock("aGk=", "image/png")
)

const mark = `"cache_control":{"type":"ephemeral"}`

func TestTheWholeRequest(t *testing.T) {
	req := providertest.Say(model, "SAY hi")
	req.Model.Reasoning = true
	req.Thinking = message.ThinkingMedium
	req.Tools = []provider.Tool{
		{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
		{Name: "now"},
	}
	got, raw := sent(t, provider.Options{}, req)
	providertest.EqualJSON(t, "body", got, `{
		"model":"m1","max_tokens":16000,"stream":true,
		"thinking":{"type":"enabled","budget_tokens":8192,"display":"summarized"},
		"system":[{"type":"text","text":"Be brief.",`+mark+`}],
		"messages":[{"role":"user","content":[{"type":"text","text":"SAY hi",`+mark+`}]}],
		"tools":[
			{"name":"read","description":"Reads.","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false},"eager_input_streaming":true},
			{"name":"now","input_schema":{"type":"object","properties":{},"required":[]},"eager_input_streaming":true,`+mark+`}]}`)
	for name, want := range map[string]string{"X-Api-Key": providertest.Key, "Anthropic-Version": "2023-06-01", "Anthropic-Beta": "interleaved-thinking-2025-05-14"} {
		if got := raw.Header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	if raw.Path != "/v1/messages" {
		t.Errorf("path %s", raw.Path)
	}
}

func TestConversations(t *testing.T) {
	textOnly := model
	textOnly.Input = []string{"text"}
	const note = `{"type":"text","text":"[image left out: this model takes text only]"}`
	const picture = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`
	marked := func(object string) string { return strings.TrimSuffix(object, "}") + "," + mark + "}" }
	for name, c := range map[string]struct {
		model    message.Model
		compat   string
		messages []message.Message
		want     string
	}{
		"an image": {model: model, messages: []message.Message{message.NewUser("look", []message.Block{image}, 1)},
			want: `[{"role":"user","content":[{"type":"text","text":"look"},` + marked(picture) + `]}]`},
		"an image for a model without eyes": {model: textOnly, messages: []message.Message{message.NewUser("look", []message.Block{image}, 1)},
			want: `[{"role":"user","content":[{"type":"text","text":"look"},` + marked(note) + `]}]`},
		"an image without a text": {model: model, messages: []message.Message{message.NewUser(" ", []message.Block{image}, 1)},
			want: `[{"role":"user","content":[` + marked(picture) + `]}]`},
		"plain content": {model: model, messages: []message.Message{&message.User{Content: message.PlainContent("plain")}},
			want: `[{"role":"user","content":[` + marked(`{"type":"text","text":"plain"}`) + `]}]`},
		"one blank message": {model: model, messages: []message.Message{user(" \n")},
			want: `[{"role":"user","content":[` + marked(`{"type":"text","text":"(empty)"}`) + `]}]`},
		"blank messages are left out": {model: model, messages: []message.Message{user(""), user("a"), user(""), user("b")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":[` + marked(`{"type":"text","text":"b"}`) + `]}]`},
		"blank at the end": {model: model, messages: []message.Message{user("a"), assistant(text("b")), user("")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b"}]},{"role":"user","content":[` + marked(`{"type":"text","text":"(empty)"}`) + `]}]`},
		"no message at all": {model: model, want: `[{"role":"user","content":[` + marked(`{"type":"text","text":"(empty)"}`) + `]}]`},
		"tool calls and results": {model: model, messages: []message.Message{
			user("go"), assistant(text("reading"), call("toolu_1", "bash", `{"command":"a"}`), call("toolu_2", "bash", `{ "command" : "b" }`)),
			result("toolu_1", false, text("one\n")), result("toolu_2", true, text("x"), text("y")), user("steer")},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},
				{"role":"assistant","content":[{"type":"text","text":"reading"},{"type":"tool_use","id":"toolu_1","name":"bash","input":{"command":"a"}},{"type":"tool_use","id":"toolu_2","name":"bash","input":{"command":"b"}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"one\n","is_error":false},{"type":"tool_result","tool_use_id":"toolu_2","content":"x\ny","is_error":true}]},
				{"role":"user","content":[` + marked(`{"type":"text","text":"steer"}`) + `]}]`},
		"a result without content": {model: model, messages: []message.Message{user("go"), assistant(call("t1", "bash", `{}`)), result("t1", false)},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"bash","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"(no output)","is_error":false,` + mark + `}]}]`},
		"an image in a result": {model: model, messages: []message.Message{user("go"), assistant(call("t1", "read", `{}`)), result("t1", false, text("an image"), image)},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"an image"},` + picture + `],"is_error":false,` + mark + `}]}]`},
		"an image in a result for a model without eyes": {model: textOnly, messages: []message.Message{user("go"), assistant(call("t1", "read", `{}`)), result("t1", false, text("an image"), image)},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"an image\n[image left out: this model takes text only]","is_error":false,` + mark + `}]}]`},
		"broken arguments": {model: model, messages: []message.Message{user("go"), assistant(call("t1", "bash", `"{\"command\": \"ec"`), call("t2", "bash", ``)), result("t1", true, text("no")), result("t2", true, text("no"))},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"bash","input":{}},{"type":"tool_use","id":"t2","name":"bash","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"no","is_error":true},{"type":"tool_result","tool_use_id":"t2","content":"no","is_error":true,` + mark + `}]}]`},
		"thinking of its own": {model: model, messages: []message.Message{user("a"),
			assistant(thinking("hm", "sig"), message.Block{Type: message.BlockThinking, Thinking: "[hidden]", ThinkingSignature: "DATA", Redacted: true}, thinking("", "sig2"), thinking("cut", ""), thinking(" ", ""), text("b"), text("  ")), user("c")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},
				{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"DATA"},{"type":"thinking","thinking":"","signature":"sig2"},{"type":"text","text":"cut"},{"type":"text","text":"b"}]},
				{"role":"user","content":[` + marked(`{"type":"text","text":"c"}`) + `]}]`},
		"thinking that has no signatures": {model: model, compat: `{"allowEmptySignature":true}`, messages: []message.Message{user("a"), assistant(thinking("hm", ""), text("b")), user("c")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},
				{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""},{"type":"text","text":"b"}]},
				{"role":"user","content":[` + marked(`{"type":"text","text":"c"}`) + `]}]`},
		"an answer of another model": {model: model, messages: []message.Message{user("a"),
			foreign(thinking("hm", "reasoning_content"), message.Block{Type: message.BlockThinking, ThinkingSignature: "DATA", Redacted: true}, text("b"), call("call_1|fc.2", "bash", `{}`)), result("call_1|fc.2", false, text("ok"))},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},
				{"role":"assistant","content":[{"type":"text","text":"hm"},{"type":"text","text":"b"},{"type":"tool_use","id":"call_1_fc_2","name":"bash","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1_fc_2","content":"ok","is_error":false,` + mark + `}]}]`},
		"an answer with nothing to send": {model: model, messages: []message.Message{user("a"), foreign(thinking("", "x")), user("b")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":[` + marked(`{"type":"text","text":"b"}`) + `]}]`},
		"odd characters": {model: model, messages: []message.Message{user("<a & b>\u2028\"\\")},
			want: `[{"role":"user","content":[` + marked(`{"type":"text","text":"<a & b>\u2028\"\\"}`) + `]}]`},
	} {
		req := provider.Request{Model: c.model, Messages: c.messages, Compat: json.RawMessage(c.compat)}
		got, _ := sent(t, provider.Options{}, req)
		providertest.EqualJSON(t, name, got["messages"], c.want)
		if got["system"] != nil || got["tools"] != nil {
			t.Errorf("%s: system %v, tools %v", name, got["system"], got["tools"])
		}
	}
}

func TestLongCallIDs(t *testing.T) {
	long := strings.Repeat("x", 100)
	req := provider.Request{Model: model, Messages: []message.Message{user("go"), assistant(call(long+"1", "bash", `{}`), call(long+"2", "bash", `{}`)), result(long+"1", false), result(long+"2", false)}}
	got, _ := sent(t, provider.Options{}, req)
	var ids []string
	for _, m := range got["messages"].([]any)[1:] {
		for _, b := range m.(map[string]any)["content"].([]any) {
			for _, name := range []string{"id", "tool_use_id"} {
				if id, ok := b.(map[string]any)[name].(string); ok {
					ids = append(ids, id)
				}
			}
		}
	}
	if len(ids) != 4 || len(ids[0]) > 64 || ids[0] == ids[1] || ids[0] != ids[2] || ids[1] != ids[3] {
		t.Errorf("ids %q", ids)
	}
}

func TestThinking(t *testing.T) {
	word := "extreme"
	for _, c := range []struct {
		name      string
		level     message.ThinkingLevel
		plain     bool // a model without reasoning
		compat    string
		max       int64 // of the request
		most      int64 // of the model; 0: 16000
		words     map[message.ThinkingLevel]*string
		want      string
		budgets   map[message.ThinkingLevel]int64
		effort    string
		beta      string
		maxTokens float64
	}{
		{name: "off", level: "off", want: `{"type":"disabled"}`},
		{name: "no level", want: `{"type":"disabled"}`},
		{name: "minimal", level: "minimal", want: `{"type":"enabled","budget_tokens":1024,"display":"summarized"}`},
		{name: "low", level: "low", want: `{"type":"enabled","budget_tokens":2048,"display":"summarized"}`},
		{name: "medium", level: "medium", want: `{"type":"enabled","budget_tokens":8192,"display":"summarized"}`},
		{name: "high is capped", level: "high", want: `{"type":"enabled","budget_tokens":14976,"display":"summarized"}`},
		{name: "xhigh", level: "xhigh", want: `{"type":"enabled","budget_tokens":14976,"display":"summarized"}`},
		{name: "high", level: "high", most: 64000, maxTokens: 64000, want: `{"type":"enabled","budget_tokens":16384,"display":"summarized"}`},
		{name: "an answer with a limit", level: "medium", max: 1600, maxTokens: 9792, want: `{"type":"enabled","budget_tokens":8192,"display":"summarized"}`},
		{name: "a short answer with a limit", level: "medium", max: 1000, maxTokens: 9192, want: `{"type":"enabled","budget_tokens":8168,"display":"summarized"}`},
		{name: "a limit under a small model's", level: "medium", max: 1600, most: 4000, maxTokens: 4000, want: `{"type":"enabled","budget_tokens":2976,"display":"summarized"}`},
		{name: "a limit without thinking", level: "off", max: 1600, maxTokens: 1600, want: `{"type":"disabled"}`},
		{name: "a limit without reasoning", level: "medium", max: 1600, plain: true, maxTokens: 1600, want: `null`},
		{name: "a limit over the model's", level: "off", max: 64000, maxTokens: 16000, want: `{"type":"disabled"}`},
		{name: "a small model", level: "high", most: 2048, maxTokens: 2048, want: `{"type":"enabled","budget_tokens":1024,"display":"summarized"}`},
		{name: "too small a model", level: "high", most: 2047, maxTokens: 2047, want: `{"type":"disabled"}`},
		{name: "the user's budget", level: "low", budgets: map[message.ThinkingLevel]int64{"low": 3000}, want: `{"type":"enabled","budget_tokens":3000,"display":"summarized"}`},
		{name: "the user's budget of another level", level: "low", budgets: map[message.ThinkingLevel]int64{"high": 3000}, want: `{"type":"enabled","budget_tokens":2048,"display":"summarized"}`},
		{name: "a budget that is too small", level: "low", budgets: map[message.ThinkingLevel]int64{"low": 10}, want: `{"type":"enabled","budget_tokens":1024,"display":"summarized"}`},
		{name: "a budget that is too large", level: "low", budgets: map[message.ThinkingLevel]int64{"low": 1000000}, want: `{"type":"enabled","budget_tokens":14976,"display":"summarized"}`},
		{name: "a budget and off", level: "off", budgets: map[message.ThinkingLevel]int64{"low": 3000}, want: `{"type":"disabled"}`},
		{name: "without reasoning", level: "high", plain: true, want: `null`},
		{name: "adaptive", level: "medium", compat: `{"forceAdaptiveThinking":true}`, want: `{"type":"adaptive","display":"summarized"}`, effort: "medium"},
		{name: "adaptive minimal", level: "minimal", compat: `{"forceAdaptiveThinking":true}`, want: `{"type":"adaptive","display":"summarized"}`, effort: "low"},
		{name: "adaptive max", level: "max", compat: `{"forceAdaptiveThinking":true}`, want: `{"type":"adaptive","display":"summarized"}`, effort: "max"},
		{name: "adaptive off", level: "off", compat: `{"forceAdaptiveThinking":true}`, want: `{"type":"disabled"}`},
		{name: "a word of the service", level: "max", compat: `{"forceAdaptiveThinking":true}`, words: map[message.ThinkingLevel]*string{"max": &word}, want: `{"type":"adaptive","display":"summarized"}`, effort: word},
	} {
		req := providertest.Say(model, "hi")
		req.Model.Reasoning, req.Model.ThinkingWords = !c.plain, c.words
		req.ThinkingBudgets = c.budgets
		req.Thinking, req.MaxTokens, req.Compat = c.level, c.max, json.RawMessage(c.compat)
		if c.most > 0 {
			req.Model.MaxTokens = c.most
		}
		got, raw := sent(t, provider.Options{}, req)
		providertest.EqualJSON(t, c.name, got["thinking"], c.want)
		effort := ""
		if config, ok := got["output_config"].(map[string]any); ok {
			effort, _ = config["effort"].(string)
		}
		if effort != c.effort {
			t.Errorf("%s: effort %q, want %q", c.name, effort, c.effort)
		}
		if c.maxTokens != 0 && got["max_tokens"] != c.maxTokens {
			t.Errorf("%s: max_tokens %v", c.name, got["max_tokens"])
		}
		interleaved := strings.Contains(raw.Header.Get("Anthropic-Beta"), "interleaved-thinking")
		if want := !c.plain && c.compat == ""; interleaved != want {
			t.Errorf("%s: header %q", c.name, raw.Header.Get("Anthropic-Beta"))
		}
	}
}

func TestQuirks(t *testing.T) {
	req := providertest.Say(model, "hi")
	req.Model.Reasoning, req.SessionID = true, "s1"
	req.Tools = []provider.Tool{{Name: "now"}}
	req.Compat = json.RawMessage(`{"supportsEagerToolInputStreaming":false,"supportsCacheControlOnTools":false,"sendSessionAffinityHeaders":true,"supportsLongCacheRetention":false,"somethingElse":[1]}`)
	got, raw := sent(t, provider.Options{LongCache: true}, req)
	providertest.EqualJSON(t, "tools", got["tools"], `[{"name":"now","input_schema":{"type":"object","properties":{},"required":[]}}]`)
	providertest.EqualJSON(t, "system", got["system"], `[{"type":"text","text":"Be brief.",`+mark+`}]`)
	if beta := raw.Header.Get("Anthropic-Beta"); beta != "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14" {
		t.Errorf("beta header %q", beta)
	}
	if id := raw.Header.Get("X-Session-Affinity"); id != "s1" {
		t.Errorf("affinity %q", id)
	}

	req.Compat = nil
	got, _ = sent(t, provider.Options{LongCache: true}, req)
	providertest.EqualJSON(t, "an hour", got["system"], `[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral","ttl":"1h"}}]`)

	req.Compat = json.RawMessage(`{"forceAdaptiveThinking":"yes"}`)
	_, err := providertest.Collect(t.Context(), adapter(provider.Options{}), req)
	if provider.ClassOf(err) != provider.Invalid || !strings.Contains(err.Error(), "forceAdaptiveThinking") {
		t.Errorf("compat of a wrong type: %v", err)
	}
}

func TestBaseURLs(t *testing.T) {
	for base, want := range map[string]string{"": "/v1/messages", "/": "/v1/messages", "/v1": "/v1/messages", "/v1/": "/v1/messages", "/proxy": "/proxy/v1/messages", "/proxy/v1": "/proxy/v1/messages"} {
		req := providertest.Say(model, "hi")
		req.Model.BaseURL = base
		if _, raw := sent(t, provider.Options{}, req); raw.Path != want {
			t.Errorf("base URL …%s: path %s, want %s", base, raw.Path, want)
		}
	}
}

func TestARequestWithoutAKeySendsNone(t *testing.T) {
	req := providertest.Say(model, "hi")
	req.APIKey = ""
	req.Headers = map[string]string{"Authorization": "Bearer other"}
	_, raw := sent(t, provider.Options{}, req)
	if raw.Header.Values("X-Api-Key") != nil || raw.Header.Get("Authorization") != "Bearer other" {
		t.Errorf("headers %v", raw.Header)
	}
}
