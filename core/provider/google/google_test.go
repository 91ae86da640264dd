package google_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/google"
	"github.com/seed-54e836f5/pi/core/provider/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func adapter(o provider.Options) provider.Provider { return google.New(o) }

var model = message.Model{ID: "gemini-2.5-pro", API: google.API, Provider: "mock", Input: []string{"text", "image"}, MaxTokens: 16384}

func parts(list string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":%s,"role":"model"},"index":0}],"responseId":"g1"}`, list)
}

func said(text string) string { return parts(fmt.Sprintf(`[{"text":%q}]`, text)) }

func ended(reason string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":%q,"finishMessage":"","index":0}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":5,"thoughtsTokenCount":4,"cachedContentTokenCount":4,"totalTokenCount":29},"responseId":"g1"}`, reason)
}

func TestContract(t *testing.T) {
	providertest.Contract(t, providertest.Adapter{
		New: adapter, Model: model, Base: "/v1beta",
		Begun: providertest.Events(said("partial ")),
		Whole: providertest.Events(said("Hello"), said(" there."), ended("STOP")),
		Text:  func(text string) string { return providertest.Events(said(text)) },
		Failure: func(kind, text string) string {
			return fmt.Sprintf(`{"error":{"code":0,"message":%q,"status":%q}}`, text, kind)
		},
		Described: func(status int, kind, text string) string {
			return fmt.Sprintf(`%d: {"code":0,"message":%q,"status":%q}`, status, text, kind)
		},
	})
}

func answers(t *testing.T, events ...string) (providertest.Answer, error) {
	t.Helper()
	s := providertest.Serve(t, providertest.Stream(providertest.Events(events...)))
	req := providertest.Say(model, "hi")
	req.Model.BaseURL = s.URL + "/v1beta"
	deltas, err := providertest.Collect(t.Context(), adapter(provider.Options{Transport: providertest.Transport(t)}), req)
	return providertest.Assemble(t, deltas), err
}

func TestBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		want   []message.Block
	}{
		"thinking, text, call": {
			[]string{parts(`[{"text":"h","thought":true},{"text":"m","thought":true,"thoughtSignature":"c2ln"}]`), said("o"), said("k"), parts(`[{"functionCall":{"name":"read","args":{"path":"a"},"id":"f1"},"thoughtSignature":"Y2Fs"}]`), said("more")},
			[]message.Block{{Type: message.BlockThinking, Thinking: "hm", ThinkingSignature: "c2ln"}, message.TextBlock("ok"),
				{Type: message.BlockToolCall, ID: "f1", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`), ThoughtSignature: "Y2Fs"}, message.TextBlock("more")},
		},
		"a signature that comes behind its text": {
			[]string{said("ok"), parts(`[{"text":"","thoughtSignature":"c2ln"}]`)},
			[]message.Block{{Type: message.BlockText, Text: "ok", TextSignature: "c2ln"}},
		},
		"a signature without a text": {
			[]string{parts(`[{"text":"hm","thought":true}]`), parts(`[{"text":"","thoughtSignature":"c2ln"}]`)},
			[]message.Block{{Type: message.BlockThinking, Thinking: "hm"}, {Type: message.BlockText, TextSignature: "c2ln"}},
		},
		"parts that are not ours": {
			[]string{parts(`[{"executableCode":{"code":"x"}},{"inlineData":{}},7,{"text":5}]`), `{"candidates":[{}]}`, `{}`, `[]`, `{"candidates":null}`, said("a")},
			[]message.Block{message.TextBlock("a")},
		},
		"nothing": {nil, nil},
	} {
		got, err := answers(t, append(c.events, ended("STOP"))...)
		if err != nil || !reflect.DeepEqual(got.Blocks, c.want) {
			t.Errorf("%s:\n got %+v, error %v\nwant %+v", name, got.Blocks, err, c.want)
		}
	}
}

func TestCallsWithoutIDs(t *testing.T) {
	got, err := answers(t, parts(`[{"functionCall":{"name":"a"}},{"functionCall":{"name":"b","args":{}}},{"functionCall":{"name":"c","id":"x"}},{"functionCall":{"name":"d","id":"x"}}]`), ended("STOP"))
	if err != nil || got.Stop != message.StopToolUse || len(got.Blocks) != 4 {
		t.Fatalf("got %+v, error %v", got, err)
	}
	seen := map[string]bool{}
	for _, b := range got.Blocks {
		if b.ID == "" || seen[b.ID] || string(b.Arguments) != "{}" {
			t.Errorf("call %+v", b)
		}
		seen[b.ID] = true
	}
}

func TestEnds(t *testing.T) {
	for word, want := range map[string]message.StopReason{
		"STOP": message.StopStop, "MAX_TOKENS": message.StopLength, "SAFETY": message.StopError, "RECITATION": message.StopError, "OTHER": message.StopError, "INVENTED": message.StopStop,
	} {
		got, err := answers(t, said("no"), ended(word))
		if err != nil || got.Stop != want || got.Raw != word || (got.Error != "") != (want == message.StopError) {
			t.Errorf("%s: %+v, error %v", word, got, err)
		}
		thought := int64(4)
		if wanted := (message.Usage{Input: 16, Output: 9, CacheRead: 4, Reasoning: &thought, TotalTokens: 29}); !reflect.DeepEqual(got.Usage, wanted) {
			t.Errorf("%s: usage %+v", word, got.Usage)
		}
	}
	_, err := answers(t, said("no"), `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"bad call"}]}`)
	if provider.ClassOf(err) != provider.Retryable || !strings.Contains(err.Error(), "bad call") {
		t.Errorf("a malformed call: error %v", err)
	}
	got, err := answers(t, `{"promptFeedback":{"blockReason":"SAFETY"},"responseId":"g1"}`)
	if err != nil || got.Stop != message.StopError || got.Raw != "SAFETY" || got.Error == "" {
		t.Errorf("a prompt that is refused: %+v, error %v", got, err)
	}
	_, err = answers(t, said("partial "), `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`)
	if provider.ClassOf(err) != provider.Retryable || err.Error() != `503: {"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}` {
		t.Errorf("an error in the stream: %v", err)
	}
}

func TestLimitsAndQuotas(t *testing.T) {
	details := func(quota, delay string) string {
		return fmt.Sprintf(`{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":%q}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":%q}]}}`, quota, delay)
	}
	for name, c := range map[string]struct {
		status int
		body   string
		want   provider.Class
		wait   time.Duration
	}{
		"a minute's":            {429, details("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "38.5s"), provider.Retryable, 38500 * time.Millisecond},
		"a day's":               {429, details("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "38s"), provider.Quota, 38 * time.Second},
		"nothing is said of it": {429, `{"error":{"message":"You exceeded your current quota"}}`, provider.Quota, 0},
		"no JSON":               {429, `slow down`, provider.Retryable, 0},
		"a wrong key":           {400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, provider.Auth, 0},
		"too long":              {400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, provider.Overflow, 0},
	} {
		s := providertest.Serve(t, providertest.Fail(c.status, c.body))
		req := providertest.Say(model, "hi")
		req.Model.BaseURL = s.URL
		_, err := providertest.Collect(t.Context(), adapter(provider.Options{Transport: providertest.Transport(t)}), req)
		var failure *provider.Error
		if !errors.As(err, &failure) || failure.Class != c.want || failure.RetryAfter != c.wait {
			t.Errorf("%s: %+v", name, failure)
		}
	}
}

func sent(t *testing.T, req provider.Request) (map[string]any, providertest.Request) {
	t.Helper()
	s := providertest.Serve(t, providertest.Stream(providertest.Events(ended("STOP"))))
	o := provider.Options{Transport: providertest.Transport(t)}
	if strings.HasPrefix(req.Model.BaseURL, "http") || req.Model.BaseURL == "" {
		o.Transport = providertest.Elsewhere(t, s.URL)
	} else {
		req.Model.BaseURL = s.URL + req.Model.BaseURL
	}
	if _, err := providertest.Collect(t.Context(), adapter(o), req); err != nil {
		t.Fatal(err)
	}
	return s.Last(t), s.Requests()[0]
}

func TestTheWholeRequest(t *testing.T) {
	req := providertest.Say(model, "hi <&>")
	req.Model.Reasoning, req.Thinking, req.Model.BaseURL = true, message.ThinkingMedium, "/v1beta"
	req.Tools = []provider.Tool{{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"limit":{"type":"number"}}}`)}, {Name: "now"}}
	got, raw := sent(t, req)
	providertest.EqualJSON(t, "body", got, `{
		"contents":[{"role":"user","parts":[{"text":"hi <&>"}]}],
		"systemInstruction":{"parts":[{"text":"Be brief."}]},
		"tools":[{"functionDeclarations":[{"name":"read","description":"Reads.","parametersJsonSchema":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"limit":{"type":"number"}}}},{"name":"now"}]}],
		"generationConfig":{"maxOutputTokens":16384,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}}`)
	if raw.Path != "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse" || raw.Header.Get("X-Goog-Api-Key") != providertest.Key || raw.Header.Get("Content-Type") != "application/json" {
		t.Errorf("path %s, headers %v", raw.Path, raw.Header)
	}
	if !strings.Contains(raw.Body, `"properties":{"path":{"type":"string"},"limit":{"type":"number"}}`) {
		t.Errorf("the order of the arguments was lost: %s", raw.Body)
	}
}

func TestAddresses(t *testing.T) {
	for base, want := range map[string]string{
		"": "/v1beta/models/", "/v1beta": "/v1beta/models/", "/v1beta/": "/v1beta/models/", "/google": "/google/models/",
		"https://generativelanguage.googleapis.com": "/v1beta/models/", "https://generativelanguage.googleapis.com/v1": "/v1/models/",
	} {
		for _, id := range []string{"gemma", "models/gemma"} {
			req := providertest.Say(model, "hi")
			req.Model.ID, req.Model.BaseURL, req.APIKey = id, base, ""
			_, raw := sent(t, req)
			if raw.Path != want+"gemma:streamGenerateContent?alt=sse" || raw.Header.Values("X-Goog-Api-Key") != nil {
				t.Errorf("base URL %q, model %s: %s", base, id, raw.Path)
			}
		}
	}
}

func TestConversations(t *testing.T) {
	user := func(text string) *message.User { return message.NewUser(text, nil, 1) }
	answer := func(m message.Model, blocks ...message.Block) *message.Assistant {
		return &message.Assistant{Content: blocks, API: m.API, Provider: m.Provider, Model: m.ID}
	}
	result := func(id string, failed bool, blocks ...message.Block) *message.ToolResult {
		return &message.ToolResult{ToolCallID: id, ToolName: "read", Content: blocks, IsError: failed}
	}
	call := func(id, signature string) message.Block {
		return message.Block{Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"a"}`), ThoughtSignature: signature}
	}
	text, image := message.TextBlock, message.ImageBlock("aGk=", "image/png")
	other, textOnly, third := model, model, model
	other.ID, textOnly.Input, third.ID = "other", []string{"text"}, "gemini-3-pro-preview"
	const picture = `{"inlineData":{"mimeType":"image/png","data":"aGk="}}`
	const note = "[image left out: this model takes text only]"
	for name, c := range map[string]struct {
		model    message.Model
		messages []message.Message
		want     string
	}{
		"images": {model, []message.Message{message.NewUser("look", []message.Block{image}, 1)}, `[{"role":"user","parts":[{"text":"look"},` + picture + `]}]`},
		"images for a model without eyes": {textOnly, []message.Message{message.NewUser("look", []message.Block{image}, 1)},
			`[{"role":"user","parts":[{"text":"look"},{"text":"` + note + `"}]}]`},
		"blank messages": {model, []message.Message{user(""), user("a"), answer(model, text("b"), text(" ")), user(" ")},
			`[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"(empty)"}]}]`},
		"of its own": {model, []message.Message{user("a"),
			answer(model, message.Block{Type: message.BlockThinking, Thinking: "hm", ThinkingSignature: "c2ln"}, message.Block{Type: message.BlockText, TextSignature: "c2ln"}, call("f1", "c2ln"), call("f2", "not base64!")),
			result("f1", false, text("one"), image), result("f2", true, text("bad"))},
			`[{"role":"user","parts":[{"text":"a"}]},
			{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"","thoughtSignature":"c2ln"},{"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"read","args":{"path":"a"}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"one"}}},{"functionResponse":{"name":"read","response":{"error":"bad"}}}]},
			{"role":"user","parts":[{"text":"Images that the tools gave:"},` + picture + `]}]`},
		"of another model": {model, []message.Message{user("a"), answer(other, message.Block{Type: message.BlockThinking, Thinking: "hm", ThinkingSignature: "c2ln"}, message.Block{Type: message.BlockThinking, Redacted: true, Thinking: "x"}, message.Block{Type: message.BlockText, Text: "b", TextSignature: "c2ln"}, call("f|1", "c2ln")), result("f|1", false)},
			`[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"hm"},{"text":"b"},{"functionCall":{"name":"read","args":{"path":"a"}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":""}}}]}]`},
		"a later generation": {third, []message.Message{user("a"), answer(other, call("f|1", ""), call("f2", "")), result("f|1", false, text("one"), image), result("f2", false, text("two")), answer(third, call("f3", "c2ln")), result("f3", false, text("three"))},
			`[{"role":"user","parts":[{"text":"a"}]},
			{"role":"model","parts":[{"functionCall":{"id":"f_1","name":"read","args":{"path":"a"}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"f2","name":"read","args":{"path":"a"}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"f_1","name":"read","response":{"output":"one"},"parts":[` + picture + `]}},{"functionResponse":{"id":"f2","name":"read","response":{"output":"two"}}}]},
			{"role":"model","parts":[{"functionCall":{"id":"f3","name":"read","args":{"path":"a"}},"thoughtSignature":"c2ln"}]},
			{"role":"user","parts":[{"functionResponse":{"id":"f3","name":"read","response":{"output":"three"}}}]}]`},
	} {
		req := provider.Request{Model: c.model, Messages: c.messages}
		req.Model.BaseURL = "/v1beta"
		got, _ := sent(t, req)
		providertest.EqualJSON(t, name, got["contents"], c.want)
		if got["tools"] != nil || got["systemInstruction"] != nil {
			t.Errorf("%s: sent %v", name, got)
		}
	}
}

func TestThinking(t *testing.T) {
	word := "ultra"
	for _, c := range []struct {
		id    string
		level message.ThinkingLevel
		words map[message.ThinkingLevel]*string
		own   int64 // the user's budget
		want  string
	}{
		{id: "gemini-2.5-pro", level: "off", want: `{"thinkingBudget":128}`},
		{id: "gemini-2.5-pro", level: "high", want: `{"includeThoughts":true,"thinkingBudget":32768}`},
		{id: "gemini-2.5-flash", level: "off", want: `{"thinkingBudget":0}`},
		{id: "gemini-2.5-flash", level: "high", want: `{"includeThoughts":true,"thinkingBudget":24576}`},
		{id: "gemini-2.5-flash-lite", level: "minimal", want: `{"includeThoughts":true,"thinkingBudget":512}`},
		{id: "gemini-2.5-flash", level: "low", own: 999, want: `{"includeThoughts":true,"thinkingBudget":999}`},
		{id: "gemini-3-pro-preview", level: "off", want: `{"thinkingLevel":"LOW"}`},
		{id: "gemini-3-pro-preview", level: "medium", own: 999, want: `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{id: "gemini-3-flash", level: "off", want: `{"thinkingLevel":"MINIMAL"}`},
		{id: "gemini-3-flash", level: "medium", want: `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{id: "gemma-4-31b-it", level: "low", want: `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
		{id: "something", level: "low", want: `{"includeThoughts":true,"thinkingBudget":-1}`},
		{id: "something", level: "", want: `{"thinkingBudget":0}`},
		{id: "something", level: "max", words: map[message.ThinkingLevel]*string{"max": &word}, want: `{"includeThoughts":true,"thinkingLevel":"ULTRA"}`},
	} {
		req := providertest.Say(model, "hi")
		req.Model.ID, req.Model.BaseURL, req.Model.Reasoning, req.Model.ThinkingWords, req.Thinking = c.id, "/v1beta", true, c.words, c.level
		req.ThinkingBudgets = map[message.ThinkingLevel]int64{c.level: c.own}
		got, _ := sent(t, req)
		providertest.EqualJSON(t, c.id+" "+string(c.level), got["generationConfig"].(map[string]any)["thinkingConfig"], c.want)
	}
	req := providertest.Say(model, "hi")
	req.Model.BaseURL, req.Thinking = "/v1beta", message.ThinkingHigh
	got, _ := sent(t, req)
	providertest.EqualJSON(t, "a model that does not think", got["generationConfig"], `{"maxOutputTokens":16384}`)
}

func FuzzStream(f *testing.F) {
	f.Add(providertest.Events(said("a"), parts(`[{"text":"h","thought":true,"thoughtSignature":"c2ln"},{"functionCall":{"name":"read","args":{"path":"a"}}}]`), ended("STOP")))
	f.Add("data: {\"error\":{\"code\":\"x\"}}\n\n")
	f.Add("data: {\"candidates\":[{\"content\":{\"parts\":[[],{\"functionCall\":{\"args\":7}}]},\"finishReason\":\"STOP\"}]}\n\n")
	providertest.FuzzStream(f, adapter, model)
}

func BenchmarkStream(b *testing.B) {
	const deltas = 20_000
	one := `{"candidates":[{"content":{"parts":[{"text":"xxxx "}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":3,"totalTokenCount":11,"promptTokensDetails":[{"modality":"TEXT","tokenCount":8}]},"modelVersion":"gemini-2.5-pro","responseId":"abcdefghijk"}`
	stream := strings.Repeat(providertest.Events(one), deltas) + providertest.Events(ended("STOP"))
	providertest.BenchmarkDeltas(b, adapter, model, stream, deltas)
}
