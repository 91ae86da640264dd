package demo_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/demo"
	"github.com/seed-54e836f5/pi/core/provider/internal/providertest"
)

func improvised(t *testing.T, req provider.Request) (answer providertest.Answer) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		deltas, err := providertest.Collect(t.Context(), demo.New(), req)
		if err != nil {
			t.Fatal(err)
		}
		answer = providertest.Assemble(t, deltas)
	})
	return answer
}

func tools(names ...string) []provider.Tool {
	var out []provider.Tool
	for _, name := range names {
		out = append(out, provider.Tool{Name: name})
	}
	return out
}

func TestWhatIsImprovised(t *testing.T) {
	for _, c := range []struct {
		prompt string
		tools  []provider.Tool
		call   string // tool and arguments; empty: none
	}{
		{"hello there", tools("read", "bash", "ls"), ""},
		{"look at this folder", tools("read", "bash", "ls"), `ls {"path":"."}`},
		{"Look at this folder", tools("read", "bash", "edit", "write"), `bash {"command":"ls ."}`},
		{"what's in core/provider?", tools("ls"), `ls {"path":"core/provider"}`},
		{"list docs/", tools("ls"), `ls {"path":"docs/"}`},
		{"read go.mod, please", tools("read", "ls"), `read {"path":"go.mod"}`},
		{"show me core/provider/error.go", tools("read"), `read {"path":"core/provider/error.go"}`},
		{"cat .gitignore", tools("read", "bash"), `read {"path":".gitignore"}`},
		{"list -rf/", tools("bash"), `bash {"command":"ls ./-rf/"}`},
		{"read go.mod", tools("write"), ""},
		{"look at this folder", tools("read"), ""},
		{"look at this folder", nil, ""},
		{`call count_words {"path":"a b.txt"}`, tools("ls", "count_words"), `count_words {"path":"a b.txt"}`},
		{`call read {"path": oops}`, tools("write", "read"), ""},
		{`call forecast {}`, tools("bash"), ""},
	} {
		req := providertest.Say(model, c.prompt)
		req.Tools, req.Thinking = c.tools, message.ThinkingMedium
		got := improvised(t, req)
		call := ""
		for _, b := range got.Blocks {
			if b.Type == message.BlockToolCall {
				call = b.Name + " " + string(b.Arguments)
			}
		}
		if call != c.call || got.Blocks[0].Type != message.BlockThinking || message.Text(got.Blocks) == "" {
			t.Errorf("%q: calls %q, want %q; %+v", c.prompt, call, c.call, got.Blocks)
		}
		if want := map[bool]message.StopReason{true: message.StopStop, false: message.StopToolUse}[c.call == ""]; got.Stop != want {
			t.Errorf("%q: stop reason %s", c.prompt, got.Stop)
		}
		if c.call == "" && !strings.Contains(message.Text(got.Blocks), "demo model") {
			t.Errorf("%q: said %q", c.prompt, message.Text(got.Blocks))
		}
	}
}

func TestResultsAreCommented(t *testing.T) {
	result := func(tool, text string, failed bool) *message.ToolResult {
		return &message.ToolResult{ToolName: tool, Content: []message.Block{message.TextBlock(text)}, IsError: failed}
	}
	for _, c := range []struct {
		results []*message.ToolResult
		says    []string
	}{
		{[]*message.ToolResult{result("ls", "a.go\nb.go\n", false)}, []string{"2 lines: a.go, b.go."}},
		{[]*message.ToolResult{result("read", "module x\n\ngo 1.26\n", false)}, []string{"2 lines", `"module x"`}},
		{[]*message.ToolResult{result("ls", "1\n2\n3\n4\n5\n6\n", false)}, []string{"6 lines, the first of them 1, 2, 3, 4, 5."}},
		{[]*message.ToolResult{result("read", "", false)}, []string{"nothing"}},
		{[]*message.ToolResult{result("ls", "x\n", false), result("bash", "permission denied", true)}, []string{"1 line: x.", "did not succeed", "permission denied"}},
	} {
		req := providertest.Say(model, "look at this folder")
		req.Messages = append(req.Messages, &message.Assistant{})
		for _, r := range c.results {
			req.Messages = append(req.Messages, r)
		}
		req.Tools = tools("ls")
		got := message.Text(improvised(t, req).Blocks)
		for _, part := range c.says {
			if !strings.Contains(got, part) {
				t.Errorf("said %q, want %q in it", got, part)
			}
		}
	}
}

func TestThinkingIsOnlyWhereItIsAskedFor(t *testing.T) {
	for level, want := range map[message.ThinkingLevel]message.BlockType{"": message.BlockText, message.ThinkingOff: message.BlockText, message.ThinkingLow: message.BlockThinking} {
		req := providertest.Say(model, "hello")
		req.Thinking = level
		if got := improvised(t, req); got.Blocks[0].Type != want {
			t.Errorf("level %q: %+v", level, got.Blocks)
		}
	}
}

func TestImagesAndLongPrompts(t *testing.T) {
	req := providertest.Say(model, "")
	req.Messages = []message.Message{message.NewUser(strings.Repeat("é ", 1000), []message.Block{message.ImageBlock("aGk=", "image/png"), message.ImageBlock("aGk=", "image/png")}, 1)}
	got := message.Text(improvised(t, req).Blocks)
	if !strings.Contains(got, "2 images") || !strings.Contains(got, "é …") || len(got) > 1000 {
		t.Errorf("said %q", got)
	}
}

func TestASummary(t *testing.T) {
	req := providertest.Say(model, "<conversation>\n[User]: first\n\n[Assistant]: x\n\n[User]: second thing\n</conversation>\n\nSummarise.")
	got := message.Text(improvised(t, req).Blocks)
	if !strings.Contains(got, `- "first"`) || !strings.Contains(got, `- "second thing"`) || strings.Contains(got, "ANTHROPIC") {
		t.Errorf("said %q", got)
	}
}

// The same prompt gets the same answer.
func TestImprovisationIsDeterministic(t *testing.T) {
	req := providertest.Say(model, "look at this folder")
	req.Tools = tools("ls")
	if a, b := improvised(t, req), improvised(t, req); message.Text(a.Blocks) != message.Text(b.Blocks) || !reflect.DeepEqual(a.Usage, b.Usage) {
		t.Errorf("%+v and %+v", a, b)
	}
}
