package modelserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask posts body and returns the status and the body of the answer.
func ask(t *testing.T, ctx context.Context, url, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := newClient(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(data)
}

func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func userOnly(text string) string {
	return fmt.Sprintf(`{"model":"m","tools":[{}],"messages":[{"role":"user","content":%s}]}`, quote(text))
}

// data decodes the data lines of a stream.
func data(t *testing.T, stream string) []map[string]any {
	t.Helper()
	var out []map[string]any
	scanner := bufio.NewScanner(strings.NewReader(stream))
	for scanner.Scan() {
		text, ok := strings.CutPrefix(scanner.Text(), "data: ")
		if !ok || text == "[DONE]" {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		out = append(out, v)
	}
	return out
}

// brief renders an Anthropic stream in one line.
func briefAnthropic(t *testing.T, stream string) string {
	t.Helper()
	var b strings.Builder
	for _, v := range data(t, stream) {
		switch v["type"] {
		case "content_block_start":
			block := v["content_block"].(map[string]any)
			fmt.Fprintf(&b, "[%s", block["type"])
			if name, ok := block["name"]; ok {
				fmt.Fprintf(&b, " %s %s", block["id"], name)
			}
			b.WriteByte(':')
		case "content_block_delta":
			delta := v["delta"].(map[string]any)
			for _, key := range []string{"text", "thinking", "partial_json"} {
				if text, ok := delta[key]; ok {
					fmt.Fprintf(&b, "%s|", text)
				}
			}
		case "content_block_stop":
			b.WriteByte(']')
		case "message_delta":
			fmt.Fprintf(&b, " %s", v["delta"].(map[string]any)["stop_reason"])
		}
	}
	return b.String()
}

func briefChat(t *testing.T, stream string) string {
	t.Helper()
	var b strings.Builder
	for _, v := range data(t, stream) {
		for _, c := range v["choices"].([]any) {
			choice := c.(map[string]any)
			delta := choice["delta"].(map[string]any)
			if text, ok := delta["reasoning_content"]; ok {
				fmt.Fprintf(&b, "(%s)", text)
			}
			if text, ok := delta["content"]; ok && text != "" {
				fmt.Fprintf(&b, "%s|", text)
			}
			if calls, ok := delta["tool_calls"].([]any); ok {
				call := calls[0].(map[string]any)
				f := call["function"].(map[string]any)
				if name, ok := f["name"]; ok {
					fmt.Fprintf(&b, "<%s %s>", call["id"], name)
				}
				fmt.Fprintf(&b, "%s", f["arguments"])
			}
			if reason := choice["finish_reason"]; reason != nil {
				fmt.Fprintf(&b, " %s", reason)
			}
		}
	}
	return b.String()
}

func TestOrders(t *testing.T) {
	for _, test := range []struct{ name, orders, anthropic, chat string }{
		{
			"nothing ordered", "hi",
			"[text:Hello |from |the |mock |model.|] end_turn",
			"Hello |from |the |mock |model.| stop",
		},
		{"two texts", "SAY a b\nSAY c", "[text:a |b|][text:c|] end_turn", "a |b|c| stop"},
		{"thinking first", "SAY a\nTHINK x y", "[thinking:x |y|][text:a|] end_turn", "(x )(y)a| stop"},
		{"burst", "BURST 3 4", "[text:xxx |xxx |xxx |] end_turn", "xxx |xxx |xxx | stop"},
		{
			"tool call", `TOOL bash {"command":"ls"}`,
			`[tool_use toolu_1_0 bash:{"command":"|ls"}|] tool_use`,
			`<call_1_0 bash>{"command":"ls"} tool_calls`,
		},
		{"other stop reason", "SAY a\nSTOP max_tokens", "[text:a|] max_tokens", "a| max_tokens"},
		{"empty", "EMPTY", " end_turn", " stop"},
		{"indented orders", "  SAY a  ", "[text:a|] end_turn", "a| stop"},
		{"first round", "SAY a\nTHEN\nSAY b", "[text:a|] end_turn", "a| stop"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, stream := ask(t, t.Context(), modelserver.Start(t).URL+"/v1/messages", userOnly(test.orders))
			if got := briefAnthropic(t, stream); got != test.anthropic {
				t.Errorf("anthropic: got %q, want %q", got, test.anthropic)
			}
			_, _, stream = ask(t, t.Context(), modelserver.Start(t).URL+"/v1/chat/completions", userOnly(test.orders))
			if got := briefChat(t, stream); got != test.chat {
				t.Errorf("chat: got %q, want %q", got, test.chat)
			}
		})
	}
}

func TestRounds(t *testing.T) {
	const script = "TOOL bash {}\nTHEN\nSAY done"
	anthropicResult := func(user string) string {
		return fmt.Sprintf(`{"model":"m","tools":[{}],"messages":[{"role":"user","content":%s},
			{"role":"assistant","content":[]},
			{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"out"}]}]}]}`, quote(user))
	}
	chatResult := func(user string) string {
		return fmt.Sprintf(`{"model":"m","tools":[{}],"messages":[{"role":"user","content":%s},
			{"role":"assistant","content":null},{"role":"tool","content":"out"}]}`, quote(user))
	}
	for _, test := range []struct{ name, orders, want string }{
		{"the next round", script, "done"},
		{"no round left", "TOOL bash {}", "tool said: out\n"},
		{"no round left, others before", script + "\nTHEN\nSAY never", "done"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := modelserver.Start(t)
			_, _, stream := ask(t, t.Context(), server.URL+"/v1/messages", anthropicResult(test.orders))
			got := strings.ReplaceAll(briefAnthropic(t, stream), "|", "")
			if want := "[text:" + test.want + "] end_turn"; got != want {
				t.Errorf("anthropic: got %q, want %q", got, want)
			}
			_, _, stream = ask(t, t.Context(), server.URL+"/chat/completions", chatResult(test.orders))
			got = strings.ReplaceAll(briefChat(t, stream), "|", "")
			if want := test.want + " stop"; got != want {
				t.Errorf("chat: got %q, want %q", got, want)
			}
		})
	}
}

func TestSummaries(t *testing.T) {
	server := modelserver.Start(t)
	request := func(text string) string {
		return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%s}]}`, quote(text))
	}
	for _, text := range []string{"<conversation>\n[User]: SAY not this\n</conversation>", "Please summarize."} {
		_, _, stream := ask(t, t.Context(), server.URL+"/v1/messages", request(text))
		if got := briefAnthropic(t, stream); got != "[text:SUMMARY: |mock |summary.|] end_turn" {
			t.Errorf("%q: got %q", text, got)
		}
	}
	failing := request("<conversation>\n[User]: SUMFAIL 529 1\nSUMSLOW 1\n</conversation>")
	var statuses []int
	for range 2 {
		status, _, _ := ask(t, t.Context(), server.URL+"/v1/messages", failing)
		statuses = append(statuses, status)
	}
	if want := []int{529, 200}; !slices.Equal(statuses, want) {
		t.Errorf("statuses %v, want %v", statuses, want)
	}
}

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		orders string
		status int
		second int
		body   string
	}{
		{"FAIL 529 2", 529, 529, `{"error":{"message":"mock failure","type":"overloaded_error"},"type":"error"}`},
		{"FAIL 429\nRETRYAFTER 7\nFAILMSG slow down", 429, 200, `{"error":{"message":"slow down","type":"rate_limit_error"},"type":"error"}`},
		{"FAIL 400", 400, 200, `{"error":{"message":"prompt is too long: 250000 tokens \u003e 200000 maximum","type":"invalid_request_error"},"type":"error"}`},
		{"FAIL 401", 401, 200, `{"error":{"message":"mock failure","type":"authentication_error"},"type":"error"}`},
		{"FAIL 503", 503, 200, `{"error":{"message":"mock failure","type":"api_error"},"type":"error"}`},
	} {
		server := modelserver.Start(t)
		status, header, body := ask(t, t.Context(), server.URL+"/v1/messages", userOnly(test.orders))
		if status != test.status || body != test.body {
			t.Errorf("%q: got %d %s, want %d %s", test.orders, status, body, test.status, test.body)
		}
		if strings.Contains(test.orders, "RETRYAFTER") && header.Get("Retry-After") != "7" {
			t.Errorf("%q: Retry-After is %q", test.orders, header.Get("Retry-After"))
		}
		if status, _, _ := ask(t, t.Context(), server.URL+"/v1/messages", userOnly(test.orders)); status != test.second {
			t.Errorf("%q: the second request got %d, want %d", test.orders, status, test.second)
		}
	}
}

func TestUsage(t *testing.T) {
	server := modelserver.Start(t)
	_, _, stream := ask(t, t.Context(), server.URL+"/v1/messages", userOnly("USAGE 183700\nSAY a"))
	usage := data(t, stream)[0]["message"].(map[string]any)["usage"].(map[string]any)
	if usage["input_tokens"] != 183700.0 {
		t.Errorf("anthropic: input_tokens %v", usage["input_tokens"])
	}
	body := userOnly("SAY a")
	_, _, stream = ask(t, t.Context(), server.URL+"/v1/chat/completions", body)
	frames := data(t, stream)
	usage = frames[len(frames)-1]["usage"].(map[string]any)
	if want := float64(len(body) / 4); usage["prompt_tokens"] != want {
		t.Errorf("chat: prompt_tokens %v, want %v", usage["prompt_tokens"], want)
	}
}

func TestEcho(t *testing.T) {
	server := modelserver.Start(t)
	_, _, stream := ask(t, t.Context(), server.URL+"/v1/messages", userOnly("ECHO"))
	if got := strings.ReplaceAll(briefAnthropic(t, stream), "|", ""); got != `[text:[{"role":"user","content":"ECHO"}]] end_turn` {
		t.Errorf("got %s", got)
	}
}

func TestCutDropsTheConnection(t *testing.T) {
	server := modelserver.Start(t)
	resp, err := newClient(t).Post(server.URL+"/v1/messages", "application/json", strings.NewReader(userOnly("CUT")))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil {
		t.Error("the stream ended as if it were whole")
	}
	if got := briefAnthropic(t, string(body)); got != "[text:partial |" {
		t.Errorf("got %q", got)
	}
}

func TestHangEndsWhenTheClientLeaves(t *testing.T) {
	server := modelserver.Start(t)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/messages", strings.NewReader(userOnly("HANG")))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := newClient(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	buf := make([]byte, 1)
	if _, err := resp.Body.Read(buf); err != nil {
		t.Fatal(err)
	}
	leave()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the hanging stream ended by itself")
	}
}

func TestCloseEndsAHang(t *testing.T) {
	server, err := modelserver.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := newClient(t).Post(server.URL+"/v1/messages", "application/json", strings.NewReader(userOnly("HANG")))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Logf("the client sees %v", err)
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	server := modelserver.Start(t)
	body := userOnly("SAY a")
	ask(t, t.Context(), server.URL+"/v1/messages", body)
	ask(t, t.Context(), server.URL+"/v1/messages", "not JSON")
	requests := server.Requests()
	if len(requests) != 2 || requests[0].Path != "/v1/messages" || string(requests[0].Body) != body {
		t.Errorf("got %+v", requests)
	}
}

func TestBadBodyIsRefused(t *testing.T) {
	server := modelserver.Start(t)
	for _, path := range []string{"/v1/messages", "/v1/chat/completions"} {
		for _, body := range []string{"", "[]", `{"messages":5}`, `{"messages":[{"role":"user","content":5}]}`} {
			if status, _, _ := ask(t, t.Context(), server.URL+path, body); status != http.StatusBadRequest {
				t.Errorf("%s %q: got status %d", path, body, status)
			}
		}
	}
}
