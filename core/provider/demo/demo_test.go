package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/demo"
	"github.com/seed-54e836f5/pi/core/provider/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var model = message.Model{ID: "demo-1", API: demo.API, Provider: "demo", Reasoning: true}

func scripted(t *testing.T, script string) provider.Provider {
	t.Helper()
	parsed, err := demo.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	p, err := demo.Play(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAScriptPlaysItsTurns(t *testing.T) {
	p := scripted(t, `{"turns": [
		{"steps": [{"thinking": "hm "}, {"thinking": "so"}, {"text": "I look."}, {"toolCall": {"name": "ls", "arguments": {"path": "."}}}, {"toolCall": {"id": "mine", "name": "read", "argumentsText": "{\"path\": \"é✓"}}, {"text": "Done."}]},
		{"steps": [{"text": "cut"}, {"usage": {"input": 7, "output": 2, "cacheRead": 3}}, {"stop": {"reason": "length", "raw": "max_tokens"}}]},
		{"steps": [{"stop": {"reason": "error", "message": "no", "raw": "refusal"}}]},
		{"steps": []}]}`)
	call := func(id, name, arguments string) message.Block {
		return message.Block{Type: message.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(arguments)}
	}
	want := []providertest.Answer{
		{ResponseID: "demo_1", Stop: message.StopToolUse, Raw: "toolUse", Usage: message.Usage{Input: 3, Output: 9, TotalTokens: 12}, Blocks: []message.Block{
			{Type: message.BlockThinking, Thinking: "hm so", ThinkingSignature: "demo"}, message.TextBlock("I look."),
			call("call_1_1", "ls", `{"path": "."}`), call("mine", "read", `{"path": "é✓`), message.TextBlock("Done.")}},
		{ResponseID: "demo_2", Stop: message.StopLength, Raw: "max_tokens", Usage: message.Usage{Input: 7, Output: 2, CacheRead: 3, TotalTokens: 12}, Blocks: []message.Block{message.TextBlock("cut")}},
		{ResponseID: "demo_3", Stop: message.StopError, Raw: "refusal", Error: "no", Usage: message.Usage{Input: 3, TotalTokens: 3}},
		{ResponseID: "demo_4", Stop: message.StopStop, Raw: "stop", Usage: message.Usage{Input: 3, TotalTokens: 3}},
	}
	for i := range want {
		deltas, err := providertest.Collect(t.Context(), p, providertest.Say(model, "hello"))
		if err != nil {
			t.Fatal(err)
		}
		if got := providertest.Assemble(t, deltas); !reflect.DeepEqual(got, want[i]) {
			t.Errorf("turn %d:\n got %+v\nwant %+v", i, got, want[i])
		}
	}
	_, err := providertest.Collect(t.Context(), p, providertest.Say(model, "hello"))
	if provider.ClassOf(err) != provider.Invalid || !strings.Contains(err.Error(), "4 turns") {
		t.Errorf("behind the last turn: error %v", err)
	}
}

func TestAScriptRepeats(t *testing.T) {
	p := scripted(t, `{"repeat": true, "turns": [{"steps": [{"text": "a"}]}, {"steps": [{"text": "b"}]}]}`)
	var got string
	for range 5 {
		deltas, err := providertest.Collect(t.Context(), p, providertest.Say(model, "hello"))
		if err != nil {
			t.Fatal(err)
		}
		got += message.Text(providertest.Assemble(t, deltas).Blocks)
	}
	if got != "ababa" {
		t.Errorf("played %s", got)
	}
}

func TestFaults(t *testing.T) {
	for fault, want := range map[string]provider.Error{
		`{"status": 529, "message": "Overloaded", "retryAfter": "1.5s"}`: {Class: provider.Retryable, Status: 529, Message: "529 Overloaded", RetryAfter: 1500 * time.Millisecond},
		`{"status": 400, "message": "prompt is too long"}`:               {Class: provider.Overflow, Status: 400, Message: "400 prompt is too long"},
		`{"class": "quota", "message": "nothing left"}`:                  {Class: provider.Quota, Message: "nothing left"},
	} {
		for steps, text := range map[string]string{`[{"error": ` + fault + `}]`: "", `[{"text": "partial"}, {"error": ` + fault + `}]`: "partial"} {
			deltas, err := providertest.Collect(t.Context(), scripted(t, `{"turns": [{"steps": `+steps+`}]}`), providertest.Say(model, "hello"))
			var got *provider.Error
			if !errors.As(err, &got) || *got != want || message.Text(providertest.Assemble(t, deltas).Blocks) != text {
				t.Errorf("%s: error %+v behind %d deltas", steps, err, len(deltas))
			}
			if text == "" && len(deltas) != 0 {
				t.Errorf("%s: %+v came first", steps, deltas)
			}
		}
	}
}

func TestTimeAndAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scripted(t, `{"repeat": true, "pace": "1s", "turns": [
			{"steps": [{"text": "one two "}, {"delay": "1m"}, {"toolCall": {"name": "x", "arguments": {"number": 1234567890}}}]},
			{"steps": [{"text": "stop me"}, {"waitForAbort": true}]}]}`)
		began := time.Now()
		if _, err := providertest.Collect(t.Context(), p, providertest.Say(model, "hello")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 64*time.Second {
			t.Errorf("the turn took %s", took)
		}
		// The second turn waits for ever; then both again, given up at
		// different moments.
		for _, after := range []time.Duration{time.Hour, 500 * time.Millisecond, time.Second, 30 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			began := time.Now()
			_, err := providertest.Collect(ctx, p, providertest.Say(model, "hello"))
			if provider.ClassOf(err) != provider.Aborted || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != after {
				t.Errorf("given up after %s: error %v after %s", after, err, time.Since(began))
			}
			cancel()
		}
	})
}

func TestSinkErrorsEndAnAnswer(t *testing.T) {
	full := errors.New("full")
	for kind := provider.Begin; kind <= provider.Finish; kind++ {
		p := scripted(t, `{"turns": [{"steps": [{"thinking": "a"}, {"text": "b"}, {"usage": {}}, {"toolCall": {"name": "x"}}]}]}`)
		seen := false
		err := p.Stream(t.Context(), providertest.Say(model, "hello"), func(d provider.Delta) error {
			if seen {
				t.Errorf("%+v is passed on behind an error", d)
			}
			if seen = d.Kind == kind; seen {
				return full
			}
			return nil
		})
		if !seen || !errors.Is(err, full) {
			t.Errorf("kind %d: seen %t, error %v", kind, seen, err)
		}
	}
}

func TestScriptsThatAreNone(t *testing.T) {
	for script, says := range map[string]string{
		``:                                  "not a script",
		`[]`:                                "not a script",
		`{"turns": []}`:                     "turns",
		`{"turns": [{"steps": [{}]}]} `:     "turns[0].steps[0]: a step has one of",
		`{"turns": [{"steps": []}]} x`:      "something follows",
		`{"turns": [{"step": []}]}`:         `unknown field "step"`,
		`{"turns": [{"steps": []}], "x":1}`: `unknown field "x"`,
		`{"pace": 5, "turns": []}`:          `"1.5s"`,
		`{"pace": "5", "turns": []}`:        `"1.5s"`,
		`{"pace": "-5s", "turns": [{"steps": []}]}`:                                                    "pace",
		`{"turns": [{"steps": []}, {"steps": [{"text": "a"}, {"text": "a", "thinking": "b"}]}]}`:       "turns[1].steps[1]: a step has one of",
		`{"turns": [{"steps": [{"stop": {"reason": "stop"}}, {"text": "a"}]}]}`:                        "nothing can follow",
		`{"turns": [{"steps": [{"waitForAbort": true}, {"text": "a"}]}]}`:                              "nothing can follow",
		`{"turns": [{"steps": [{"stop": {"reason": "bored"}}]}]}`:                                      `"bored" is none of`,
		`{"turns": [{"steps": [{"stop": {"reason": "error"}}]}]}`:                                      "stop.message",
		`{"turns": [{"steps": [{"toolCall": {}}]}]}`:                                                   "toolCall.name",
		`{"turns": [{"steps": [{"toolCall": {"name": "x", "arguments": [1]}}]}]}`:                      "toolCall.arguments",
		`{"turns": [{"steps": [{"toolCall": {"name": "x", "arguments": {}, "argumentsText": "x"}}]}]}`: "both",
		`{"turns": [{"steps": [{"delay": "-1s"}]}]}`:                                                   "delay",
		`{"turns": [{"steps": [{"usage": {"input": -1}}]}]}`:                                           "usage",
		`{"turns": [{"steps": [{"error": {"status": 500}}]}]}`:                                         "error.message",
		`{"turns": [{"steps": [{"error": {"status": 200, "message": "x"}}]}]}`:                         "error.status",
		`{"turns": [{"steps": [{"error": {"class": "sad", "message": "x"}}]}]}`:                        "error.class",
		`{"turns": [{"steps": [{"error": {"retryAfter": "-1s", "message": "x"}}]}]}`:                   "error.retryAfter",
	} {
		if _, err := demo.Parse([]byte(script)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one about %s", script, err, says)
		}
	}
	if _, err := demo.Play(demo.Script{}); err == nil {
		t.Error("a script value without turns is played")
	}
}

func TestScriptsFromTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(`{"turns": [{"steps": [{"text": "from the file"}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(demo.ScriptVariable, file)
	deltas, err := providertest.Collect(t.Context(), demo.New(), providertest.Say(model, "hello"))
	if got := message.Text(providertest.Assemble(t, deltas).Blocks); err != nil || got != "from the file" {
		t.Errorf("said %q, error %v", got, err)
	}
	for path, content := range map[string]string{file: "{", file + ".missing": "", t.TempDir(): ""} {
		if content != "" {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv(demo.ScriptVariable, path)
		p := demo.New()
		for range 2 {
			_, err := providertest.Collect(t.Context(), p, providertest.Say(model, "hello"))
			if provider.ClassOf(err) != provider.Invalid || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: error %v", path, err)
			}
		}
	}
}

func TestHooks(t *testing.T) {
	var seen []string
	req := providertest.Say(model, "hello")
	req.Tools = []provider.Tool{{Name: "ls"}}
	req.Hooks = provider.Hooks{
		BeforeHeaders: func(_ context.Context, h map[string]string) map[string]string {
			seen = append(seen, "headers")
			return h
		},
		BeforeRequest: func(_ context.Context, payload json.RawMessage) json.RawMessage {
			seen = append(seen, string(payload))
			return nil
		},
		AfterResponse: func(_ context.Context, status int, _ map[string]string) {
			seen = append(seen, []string{"200", "529"}[min(status-200, 1)])
		},
	}
	p := scripted(t, `{"turns": [{"steps": [{"text": "a"}]}, {"steps": [{"error": {"status": 529, "message": "x"}}]}]}`)
	if _, err := providertest.Collect(t.Context(), p, req); err != nil {
		t.Fatal(err)
	}
	if _, err := providertest.Collect(t.Context(), p, req); err == nil {
		t.Fatal("the second turn did not fail")
	}
	payload := `{"messages":[{"role":"user","content":[{"type":"text","text":"hello"}],"timestamp":1}],"model":"demo-1","system":"Be brief.","tools":["ls"]}`
	if want := []string{"headers", payload, "200", "headers", payload, "529"}; !reflect.DeepEqual(seen, want) {
		t.Errorf("hooks saw %q, want %q", seen, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"pace": "1ns", "turns": [{"steps": [{"text": "a b"}, {"toolCall": {"name": "x", "arguments": {"a": 1}}}, {"stop": {"reason": "length"}}]}]}`))
	f.Add([]byte(`{"turns": [{"steps": [{"error": {"message": "x"}}]}]}`))
	f.Add([]byte(`{"turns": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		script, err := demo.Parse(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(script)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := demo.Parse(again); err != nil {
			t.Fatalf("%s is a script, and %s is none: %v", data, again, err)
		}
	})
}
