package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/providertest"
	"github.com/seed-54e836f5/pi/core/provider/openai"
)

// chatSent runs a request and gives the body that arrived, and its headers.
func chatSent(t *testing.T, o provider.Options, req provider.Request) (map[string]any, providertest.Request) {
	t.Helper()
	s := providertest.Serve(t, providertest.Stream(providertest.Events(opening, finished("stop"), done)))
	if req.Model.BaseURL == "" {
		req.Model.BaseURL = s.URL + "/v1"
		o.Transport = providertest.Transport(t)
	} else {
		o.Transport = providertest.Elsewhere(t, s.URL)
	}
	if _, err := providertest.Collect(t.Context(), completions(o), req); err != nil {
		t.Fatal(err)
	}
	return s.Last(t), s.Requests()[0]
}

func user(text string) *message.User { return message.NewUser(text, nil, 1) }

func answerOf(m message.Model, blocks ...message.Block) *message.Assistant {
	return &message.Assistant{Content: blocks, API: m.API, Provider: m.Provider, Model: m.ID}
}

func foreign(blocks ...message.Block) *message.Assistant {
	return answerOf(message.Model{ID: "a1", API: "anthropic-messages", Provider: "other"}, blocks...)
}

func result(id string, blocks ...message.Block) *message.ToolResult {
	return &message.ToolResult{ToolCallID: id, ToolName: "bash", Content: blocks}
}

func thinking(text, signature string) message.Block {
	return message.Block{Type: message.BlockThinking, Thinking: text, ThinkingSignature: signature}
}

func toolCall(id, arguments string) message.Block {
	return message.Block{Type: message.BlockToolCall, ID: id, Name: "bash", Arguments: json.RawMessage(arguments)}
}

var (
	text  = message.TextBlock
	image = message.ImageBlock("aGk=", "image/png")
)

func TestTheWholeCompletionRequest(t *testing.T) {
	req := providertest.Say(chatModel, "SAY hi")
	req.SessionID = "s1"
	req.Tools = []provider.Tool{
		{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"offset":{"type":"number"},"limit":{"type":"number"}}}`)},
		{Name: "now"},
	}
	got, raw := chatSent(t, provider.Options{}, req)
	providertest.EqualJSON(t, "body", got, `{
		"model":"o1","stream":true,"stream_options":{"include_usage":true},"store":false,"max_completion_tokens":16384,
		"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"SAY hi"}]}],
		"tools":[
			{"type":"function","function":{"name":"read","description":"Reads.","strict":false,"parameters":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"offset":{"type":"number"},"limit":{"type":"number"}}}}},
			{"type":"function","function":{"name":"now","strict":false,"parameters":{"type":"object","properties":{}}}}]}`)
	if raw.Path != "/v1/chat/completions" || raw.Header.Get("Authorization") != "Bearer "+providertest.Key {
		t.Errorf("path %s, headers %v", raw.Path, raw.Header)
	}
	if !strings.Contains(raw.Body, `"properties":{"path":{"type":"string"},"offset":{"type":"number"},"limit":{"type":"number"}}`) {
		t.Errorf("the order of the arguments was lost: %s", raw.Body)
	}
}

func TestCompletionConversations(t *testing.T) {
	textOnly := chatModel
	textOnly.Input = []string{"text"}
	thinker := chatModel
	thinker.Reasoning = true
	const picture = `{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}`
	const note = "[image left out: this model takes text only]"
	call := func(id, arguments string) string {
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"bash","arguments":%q}}`, id, arguments)
	}
	for name, c := range map[string]struct {
		model    message.Model
		compat   string
		level    message.ThinkingLevel
		messages []message.Message
		want     string
	}{
		"an image": {model: chatModel, messages: []message.Message{message.NewUser("look", []message.Block{image}, 1)},
			want: `[{"role":"user","content":[{"type":"text","text":"look"},` + picture + `]}]`},
		"an image for a model without eyes": {model: textOnly, messages: []message.Message{message.NewUser("look", []message.Block{image}, 1)},
			want: `[{"role":"user","content":[{"type":"text","text":"look"},{"type":"text","text":"` + note + `"}]}]`},
		"blank messages": {model: chatModel, messages: []message.Message{user("a"), user(""), answerOf(chatModel, text("b")), user(" ")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"(empty)"}]}]`},
		"calls and results": {model: chatModel, messages: []message.Message{user("go"), answerOf(chatModel, toolCall("t1", `{"command":"echo hi"}`)), result("t1", text("hi\n")),
			answerOf(chatModel, text("let "), text("me"), toolCall("t2", `{}`), toolCall("t3", `"broken`)), result("t2"), result("t3", text("a"), text("b"))},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},
				{"role":"assistant","content":null,"tool_calls":[` + call("t1", `{"command":"echo hi"}`) + `]},{"role":"tool","content":"hi\n","tool_call_id":"t1"},
				{"role":"assistant","content":"let me","tool_calls":[` + call("t2", `{}`) + `,` + call("t3", `{}`) + `]},{"role":"tool","content":"(no output)","tool_call_id":"t2"},{"role":"tool","content":"a\nb","tool_call_id":"t3"}]`},
		"images in results": {model: chatModel, messages: []message.Message{user("go"), answerOf(chatModel, toolCall("t1", `{}`), toolCall("t2", `{}`)), result("t1", text("one"), image), result("t2", image), user("and?")},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":null,"tool_calls":[` + call("t1", `{}`) + `,` + call("t2", `{}`) + `]},
				{"role":"tool","content":"one","tool_call_id":"t1"},{"role":"tool","content":"(the image follows)","tool_call_id":"t2"},
				{"role":"user","content":[{"type":"text","text":"Images that the tools gave:"},` + picture + `,` + picture + `]},{"role":"user","content":[{"type":"text","text":"and?"}]}]`},
		"images in results for a model without eyes": {model: textOnly, messages: []message.Message{user("go"), answerOf(textOnly, toolCall("t1", `{}`)), result("t1", text("one"), image)},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":null,"tool_calls":[` + call("t1", `{}`) + `]},{"role":"tool","content":"one\n` + note + `","tool_call_id":"t1"}]`},
		"thinking of its own goes where it came from": {model: chatModel, messages: []message.Message{user("a"), answerOf(chatModel, thinking("hm", "reasoning"), thinking("hm", "reasoning"), text("b")), user("c")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":"b","reasoning":"hm\nhm"},{"role":"user","content":[{"type":"text","text":"c"}]}]`},
		"thinking of another model is text": {model: chatModel, messages: []message.Message{user("a"), foreign(thinking("hm", "sig"), message.Block{Type: message.BlockThinking, Redacted: true, ThinkingSignature: "x"}, text("b")), user("c")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":"hm\n\nb"},{"role":"user","content":[{"type":"text","text":"c"}]}]`},
		"an answer with nothing to send": {model: chatModel, messages: []message.Message{user("a"), answerOf(chatModel, thinking("hm", "reasoning")), user("c")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"c"}]}]`},
		"encrypted reasoning goes back": {model: chatModel, messages: []message.Message{user("a"), answerOf(chatModel, message.Block{Type: message.BlockToolCall, ID: "t1", Name: "bash", ThoughtSignature: `{"type":"reasoning.encrypted","id":"t1"}`}), result("t1", text("x"))},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":null,"reasoning_details":[{"type":"reasoning.encrypted","id":"t1"}],"tool_calls":[` + call("t1", `{}`) + `]},{"role":"tool","content":"x","tool_call_id":"t1"}]`},
		"thinking as text": {model: chatModel, compat: `{"requiresThinkingAsText":true}`, messages: []message.Message{user("a"), answerOf(chatModel, thinking("hm", "reasoning"), text("b")), user("c")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":"hm\n\nb"},{"role":"user","content":[{"type":"text","text":"c"}]}]`},
		"names of results, an answer behind them": {model: chatModel, compat: `{"requiresToolResultName":true,"requiresAssistantAfterToolResult":true}`,
			messages: []message.Message{user("go"), answerOf(chatModel, toolCall("t1", `{}`)), result("t1", text("x")), user("steer"), user("more")},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":null,"tool_calls":[` + call("t1", `{}`) + `]},{"role":"tool","content":"x","tool_call_id":"t1","name":"bash"},
				{"role":"assistant","content":"I have read the results."},{"role":"user","content":[{"type":"text","text":"steer"}]},{"role":"user","content":[{"type":"text","text":"more"}]}]`},
		"empty reasoning on every answer": {model: thinker, level: "medium", compat: `{"requiresReasoningContentOnAssistantMessages":true}`, messages: []message.Message{user("a"), answerOf(thinker, text("b")), user("c"), answerOf(thinker, thinking("hm", "reasoning_content"), text("d")), user("e")},
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":"b","reasoning_content":""},{"role":"user","content":[{"type":"text","text":"c"}]},{"role":"assistant","content":"d","reasoning_content":"hm"},{"role":"user","content":[{"type":"text","text":"e"}]}]`},
		"long ids": {model: chatModel, messages: []message.Message{user("go"), answerOf(chatModel, toolCall(strings.Repeat("x", 41), `{}`)), result(strings.Repeat("x", 41), text("x"))},
			want: `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":null,"tool_calls":[` + call("xxxxxxxxxxxxxxxxxxxxxxxxxxx_3164596df4fd", `{}`) + `]},{"role":"tool","content":"x","tool_call_id":"xxxxxxxxxxxxxxxxxxxxxxxxxxx_3164596df4fd"}]`},
	} {
		req := provider.Request{Model: c.model, Messages: c.messages, Compat: json.RawMessage(c.compat), Thinking: c.level}
		got, _ := chatSent(t, provider.Options{}, req)
		providertest.EqualJSON(t, name, got["messages"], c.want)
		if _, tools := got["tools"]; tools {
			t.Errorf("%s: tools %v", name, got["tools"])
		}
	}
}

func TestCacheMarks(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	req := providertest.Say(chatModel, "go")
	req.Tools = []provider.Tool{{Name: "a"}, {Name: "b"}}
	req.Compat = json.RawMessage(`{"cacheControlFormat":"anthropic","requiresToolResultName":true,"supportsStrictMode":false}`)
	got, _ := chatSent(t, provider.Options{}, req)
	providertest.EqualJSON(t, "messages", got["messages"], `[{"role":"system","content":[{"type":"text","text":"Be brief.",`+mark+`}]},{"role":"user","content":[{"type":"text","text":"go",`+mark+`}]}]`)
	providertest.EqualJSON(t, "tools", got["tools"], `[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"b","parameters":{"type":"object","properties":{}}},`+mark+`}]`)

	req.Messages = append(req.Messages, answerOf(chatModel, toolCall("t1", `{}`)), result("t1", text("x")))
	got, _ = chatSent(t, provider.Options{}, req)
	messages := got["messages"].([]any)
	providertest.EqualJSON(t, "result", messages[len(messages)-1], `{"role":"tool","content":[{"type":"text","text":"x",`+mark+`}],"tool_call_id":"t1","name":"bash"}`)
}

func TestThinkingFormats(t *testing.T) {
	word := func(s string) *string { return &s }
	const templates = `,"chatTemplateKwargs":{"thinking":{"$var":"thinking.enabled"},"effort":{"$var":"thinking.effort"},"quiet":{"$var":"thinking.enabled","omitWhenOff":true},"k":5},"chatTemplateArgs":{"think":{"$var":"thinking.enabled"},"x":"y"}}`
	for _, c := range []struct {
		format  string
		on, off string
	}{
		{"openai", `{"reasoning_effort":"medium"}`, `{}`},
		{"reasoning_effort", `{"reasoning_effort":"medium"}`, `{}`},
		{"openrouter", `{"reasoning":{"effort":"medium"}}`, `{"reasoning":{"effort":"none"}}`},
		{"deepseek", `{"thinking":{"type":"enabled"},"reasoning_effort":"medium"}`, `{"thinking":{"type":"disabled"}}`},
		{"together", `{"reasoning":{"enabled":true},"reasoning_effort":"medium"}`, `{"reasoning":{"enabled":false}}`},
		{"zai", `{"thinking":{"type":"enabled","clear_thinking":false},"reasoning_effort":"medium"}`, `{"thinking":{"type":"disabled"}}`},
		{"qwen", `{"enable_thinking":true,"reasoning_effort":"medium"}`, `{"enable_thinking":false}`},
		{"qwen-chat-template", `{"chat_template_kwargs":{"enable_thinking":true,"preserve_thinking":true}}`, `{"chat_template_kwargs":{"enable_thinking":false,"preserve_thinking":true}}`},
		{"chat-template", `{"chat_template_kwargs":{"thinking":true,"effort":"medium","quiet":true,"k":5}}`, `{"chat_template_kwargs":{"thinking":false,"k":5}}`},
		{"baseten", `{"chat_template_args":{"think":true,"x":"y"},"reasoning_effort":"medium"}`, `{"chat_template_args":{"think":false,"x":"y"}}`},
		{"string-thinking", `{"thinking":"medium"}`, `{"thinking":"none"}`},
		{"ant-ling", `{}`, `{}`},
	} {
		for level, want := range map[message.ThinkingLevel]string{"medium": c.on, "off": c.off} {
			req := providertest.Say(chatModel, "hi")
			req.Model.Reasoning, req.Thinking = true, level
			req.Compat = json.RawMessage(`{"thinkingFormat":"` + c.format + `"` + templates)
			got, _ := chatSent(t, provider.Options{}, req)
			if role := got["messages"].([]any)[0].(map[string]any)["role"]; role != "developer" {
				t.Errorf("%s: the system prompt has role %v", c.format, role)
			}
			for _, name := range []string{"model", "messages", "stream", "stream_options", "store", "max_completion_tokens"} {
				delete(got, name)
			}
			providertest.EqualJSON(t, c.format+" "+string(level), got, want)
		}
	}
	for name, c := range map[string]struct {
		compat string
		words  map[message.ThinkingLevel]*string
		level  message.ThinkingLevel
		plain  bool
		want   any
	}{
		"a word of the service":          {words: map[message.ThinkingLevel]*string{"max": word("ultra")}, level: "max", want: "ultra"},
		"a word for off":                 {words: map[message.ThinkingLevel]*string{"off": word("none")}, level: "off", want: "none"},
		"a word in the old place":        {compat: `{"reasoningEffortMap":{"high":"default"}}`, level: "high", want: "default"},
		"no such parameter":              {compat: `{"supportsReasoningEffort":false}`, level: "high", want: nil},
		"a model that does not think":    {level: "high", plain: true, want: nil},
		"sampling parameters have it":    {compat: `{"samplingParams":{"reasoning_effort":"mine","temperature":0.5}}`, level: "high", want: "mine"},
		"a level that is not asked for":  {want: nil},
		"a level beyond the usual names": {level: "xhigh", want: "xhigh"},
	} {
		req := providertest.Say(chatModel, "hi")
		req.Model.Reasoning, req.Model.ThinkingWords, req.Thinking, req.Compat = !c.plain, c.words, c.level, json.RawMessage(c.compat)
		got, _ := chatSent(t, provider.Options{}, req)
		if got["reasoning_effort"] != c.want {
			t.Errorf("%s: %v, want %v", name, got["reasoning_effort"], c.want)
		}
	}
	req := providertest.Say(chatModel, "hi")
	req.Model.Reasoning, req.Compat = true, json.RawMessage(`{"thinkingFormat":"telepathy"}`)
	_, err := providertest.Collect(t.Context(), completions(provider.Options{}), req)
	if provider.ClassOf(err) != provider.Invalid || !strings.Contains(err.Error(), "telepathy") {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestHosts(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com/v1":                         `{"stream_options":{"include_usage":true},"store":false,"max_completion_tokens":16384,"reasoning_effort":"medium","prompt_cache_key":"s1","role":"developer","strict":true}`,
		"https://api.deepseek.com/v1":                       `{"stream_options":{"include_usage":true},"max_tokens":16384,"thinking":{"type":"enabled"},"reasoning_effort":"medium","role":"system","strict":true}`,
		"https://api.mistral.ai/v1":                         `{"max_tokens":16384,"role":"system","strict":true}`,
		"https://api.x.ai/v1":                               `{"stream_options":{"include_usage":true},"max_completion_tokens":16384,"role":"system","strict":true}`,
		"https://openrouter.ai/api/v1":                      `{"stream_options":{"include_usage":true},"store":false,"max_completion_tokens":16384,"reasoning":{"effort":"medium"},"role":"system","strict":true}`,
		"https://api.z.ai/api/coding/paas/v4":               `{"stream_options":{"include_usage":true},"max_tokens":16384,"thinking":{"type":"enabled","clear_thinking":false},"role":"system","strict":true}`,
		"https://api.together.xyz/v1":                       `{"stream_options":{"include_usage":true},"max_tokens":16384,"reasoning":{"enabled":true},"role":"system"}`,
		"https://api.moonshot.ai/v1":                        `{"stream_options":{"include_usage":true},"max_tokens":16384,"role":"system"}`,
		"https://llm.chutes.ai/v1":                          `{"stream_options":{"include_usage":true},"max_tokens":16384,"reasoning_effort":"medium","role":"system","strict":true}`,
		"https://api.cerebras.ai/v1":                        `{"stream_options":{"include_usage":true},"max_completion_tokens":16384,"reasoning_effort":"medium","role":"system","strict":true}`,
		"https://dashscope.aliyuncs.com/compatible-mode/v1": `{"stream_options":{"include_usage":true},"max_tokens":16384,"enable_thinking":true,"role":"system","strict":true}`,
		"https://example.org/v1":                            `{"stream_options":{"include_usage":true},"store":false,"max_completion_tokens":16384,"reasoning_effort":"medium","role":"developer","strict":true}`,
		"https://notx.ai/v1":                                `{"stream_options":{"include_usage":true},"store":false,"max_completion_tokens":16384,"reasoning_effort":"medium","role":"developer","strict":true}`,
	} {
		req := providertest.Say(chatModel, "hi")
		req.Model.BaseURL, req.Model.Reasoning, req.Thinking, req.SessionID = base, true, message.ThinkingMedium, "s1"
		req.Tools = []provider.Tool{{Name: "now"}}
		got, _ := chatSent(t, provider.Options{}, req)
		got["role"] = got["messages"].([]any)[0].(map[string]any)["role"]
		if _, strict := got["tools"].([]any)[0].(map[string]any)["function"].(map[string]any)["strict"]; strict {
			got["strict"] = true
		}
		for _, name := range []string{"model", "messages", "stream", "tools"} {
			delete(got, name)
		}
		providertest.EqualJSON(t, base, got, want)
	}

	// models.json has the last word.
	req := providertest.Say(chatModel, "hi")
	req.Model.BaseURL, req.Compat = "https://api.deepseek.com/v1", json.RawMessage(`{"maxTokensField":"max_completion_tokens","supportsStore":true}`)
	got, _ := chatSent(t, provider.Options{}, req)
	if got["max_completion_tokens"] != 16384.0 || got["store"] != false {
		t.Errorf("sent %v", got)
	}
}

func TestShortCallIDs(t *testing.T) {
	req := providertest.Say(chatModel, "hi")
	req.Model.BaseURL = "https://api.mistral.ai/v1"
	req.Messages = append(req.Messages, answerOf(chatModel, toolCall("call_abc", `{}`), toolCall("aB3456789", `{}`)), result("call_abc", text("x")), result("aB3456789", text("x")))
	_, raw := chatSent(t, provider.Options{}, req)
	var body struct {
		Messages []struct {
			ToolCallID string                `json:"tool_call_id"`
			ToolCalls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal([]byte(raw.Body), &body); err != nil {
		t.Fatal(err)
	}
	m := body.Messages[2:]
	first, second := m[0].ToolCalls[0].ID, m[0].ToolCalls[1].ID
	if len(first) != 9 || first != m[1].ToolCallID || second != "aB3456789" || second != m[2].ToolCallID {
		t.Errorf("ids %q %q, of results %q %q", first, second, m[1].ToolCallID, m[2].ToolCallID)
	}
}

func TestRoutingAndAffinity(t *testing.T) {
	req := providertest.Say(chatModel, "hi")
	req.SessionID, req.MaxTokens = "s1", 99
	req.Compat = json.RawMessage(`{"openRouterRouting":{"only":["a"]},"vercelGatewayRouting":{"order":["b"]},"supportsUsageInStreaming":false,"sendSessionAffinityHeaders":true}`)
	got, raw := chatSent(t, provider.Options{}, req)
	providertest.EqualJSON(t, "provider", got["provider"], `{"only":["a"]}`)
	providertest.EqualJSON(t, "providerOptions", got["providerOptions"], `{"gateway":{"order":["b"]}}`)
	if got["stream_options"] != nil || got["max_completion_tokens"] != 99.0 {
		t.Errorf("sent %v", got)
	}
	if raw.Header.Get("session_id") != "s1" || raw.Header.Get("x-client-request-id") != "s1" || raw.Header.Get("x-session-affinity") != "s1" {
		t.Errorf("headers %v", raw.Header)
	}
	req.Compat = json.RawMessage(`{"sendSessionAffinityHeaders":true,"sessionAffinityFormat":"openrouter"}`)
	if _, raw = chatSent(t, provider.Options{}, req); raw.Header.Get("x-session-id") != "s1" || raw.Header.Get("session_id") != "" {
		t.Errorf("headers %v", raw.Header)
	}
	req.Model.BaseURL, req.SessionID, req.Compat = "https://api.openai.com/v1", strings.Repeat("s", 100), nil
	got, _ = chatSent(t, provider.Options{LongCache: true}, req)
	if got["prompt_cache_key"] != strings.Repeat("s", 64) || got["prompt_cache_retention"] != "24h" {
		t.Errorf("sent %v", got)
	}
	req.Compat = json.RawMessage(`{"maxTokensField":7}`)
	if _, err := providertest.Collect(t.Context(), completions(provider.Options{}), req); provider.ClassOf(err) != provider.Invalid || !strings.Contains(err.Error(), "maxTokensField") {
		t.Errorf("compat of a wrong type: %v", err)
	}
}

func TestTheHostTableIsReadable(t *testing.T) {
	for _, host := range openai.Hosts() {
		req := providertest.Say(chatModel, "hi")
		req.Model.BaseURL = "https://" + host + "/v1"
		if got, _ := chatSent(t, provider.Options{}, req); got["model"] != "o1" {
			t.Errorf("%s: sent %v", host, got)
		}
	}
}
