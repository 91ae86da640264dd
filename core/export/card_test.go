package export_test

import (
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// card exports a session of one message and gives its element.
func card(t *testing.T, m message.Message) *html.Node {
	t.Helper()
	s := newSession(t)
	id := s.say(m)
	return read(t, s.log).entry(id)
}

func answer(text string) *message.Assistant {
	return &message.Assistant{Content: []message.Block{message.TextBlock(text)}, Model: "m1"}
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ name, markdown, want string }{
		{"emphasis", "a **b** *c* ~~d~~ `e`", "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p>"},
		{"headings", "# a\n\n###### b", "<h1>a</h1><h6>b</h6>"},
		{"lists", "3. a\n4. b\n\n- [x] c\n- [ ] d", `<ol start="3"><li>a</li><li>b</li></ol><ul><li><input checked="" disabled="" type="checkbox"/> c</li><li><input disabled="" type="checkbox"/> d</li></ul>`},
		{"table", "|a|b|c|\n|:-|-:|:-:|\n|1|2|3|", `<table><thead><tr><th align="left">a</th><th align="right">b</th><th align="center">c</th></tr></thead><tbody><tr><td align="left">1</td><td align="right">2</td><td align="center">3</td></tr></tbody></table>`},
		{"link", "[a](https://b.c/d?e=f&g#h \"t\")", `<p><a href="https://b.c/d?e=f&amp;g#h" rel="noopener noreferrer">a</a></p>`},
		{"bare addresses", "www.a.b, https://c.d and e@f.g", `<p><a href="http://www.a.b" rel="noopener noreferrer">www.a.b</a>, <a href="https://c.d" rel="noopener noreferrer">https://c.d</a> and <a href="mailto:e@f.g" rel="noopener noreferrer">e@f.g</a></p>`},
		{"link into the project", "[a](core/a.go#L3)", `<p><span class="link" title="core/a.go#L3">a</span></p>`},
		{"image", "![a *b*](https://c.d/e.png) ![](f.png)", `<p><a href="https://c.d/e.png" rel="noopener noreferrer">a <em>b</em></a> <span class="link" title="f.png">image</span></p>`},
		{"image in a link", "[![a](https://b.c/d.png)](https://e.f)", `<p><a href="https://e.f" rel="noopener noreferrer">a</a></p>`},
		{"HTML is text", "a <b>c</b>\n\n<div>\nd\n</div>\n\ne", "<p>a &lt;b&gt;c&lt;/b&gt;</p><p class=\"plain\">&lt;div&gt;\nd\n&lt;/div&gt;\n</p><p>e</p>"},
		{"code", "```go\nx := 1\n```", "<pre class=\"chroma\"><code><span class=\"nx\">x</span> <span class=\"o\">:=</span> <span class=\"m\">1</span>\n</code></pre>"},
		{"code of no language", "```\na < b\n```\n\n    c", "<pre class=\"chroma\"><code>a &lt; b\n</code></pre><pre class=\"chroma\"><code>c\n</code></pre>"},
		{"code of a language that nobody knows", "```klingon\na\n```", "<pre class=\"chroma\"><code>a\n</code></pre>"},
		{"line breaks of a model", "a\nb", "<p>a\nb</p>"},
		{"what terminals act on", "a\x1b[31mb\x1b[0m\x07c\x00", "<p>abc</p>"},
	} {
		var got strings.Builder
		for n := range inside(card(t, answer(c.markdown)), "div", "text").ChildNodes() {
			if n.Type == html.TextNode && strings.TrimSpace(n.Data) == "" {
				continue
			}
			if err := html.Render(&got, n); err != nil {
				t.Fatal(err)
			}
		}
		if flat(got.String()) != flat(c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got.String(), c.want)
		}
	}
}

// flat leaves out the line feeds between elements.
func flat(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, ">\n<", "><"), ">\n", ">")
}

func TestLineBreaksOfPeopleStay(t *testing.T) {
	if n := inside(card(t, message.NewUser("a\nb", nil, 0)), "br", ""); n == nil {
		t.Error("a line break of a prompt is gone")
	}
}

func TestLongOutputIsFolded(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("0123456789\n", n) }
	for _, c := range []struct {
		name    string
		output  string
		shown   int    // bytes before the fold
		summary string // empty: there is no fold
	}{
		{"short", lines(17), 17*11 - 1, ""},
		{"long", lines(100), 12 * 11, "88 more lines"},
		{"very long", lines(2000), 12 * 11, "1\u202f988 more lines"},
		{"one long line", strings.Repeat("é", 30000), 2000, "29\u202f000 more characters"},
		{"a long line at the end", lines(3) + strings.Repeat("x", 9000), 2000, "7\u202f033 more characters"},
		{"long lines", strings.Repeat(strings.Repeat("x", 999)+"\n", 50), 2000, "48 more lines"},
		{"nothing", "", 0, ""},
	} {
		n := card(t, &message.ToolResult{ToolName: "bash", Content: []message.Block{message.TextBlock(c.output)}})
		whole := ""
		for _, pre := range []*html.Node{inside(n, "pre", "output"), inside(n, "details", "")} {
			if pre == nil {
				continue
			}
			if pre.Data == "pre" && len(textOf(pre)) != c.shown {
				t.Errorf("%s: %d bytes are shown, want %d", c.name, len(textOf(pre)), c.shown)
			}
			whole += strings.TrimPrefix(textOf(pre), c.summary)
		}
		if want := strings.TrimSuffix(c.output, "\n"); whole != want {
			t.Errorf("%s: %d bytes of %d are in the page", c.name, len(whole), len(want))
		}
		fold := inside(n, "summary", "")
		if c.summary == "" && fold != nil || c.summary != "" && (fold == nil || textOf(fold) != c.summary) {
			t.Errorf("%s: the fold is %v, want %q", c.name, fold, c.summary)
		}
	}
}

func TestToolCalls(t *testing.T) {
	for _, c := range []struct {
		name      string
		tool      string
		arguments string
		want      []string // of the elements that show it, their texts
		result    string   // heading of its result
	}{
		{"bash", "bash", `{"command":"ls -la\ncat x"}`, []string{"bash", "ls -la\ncat x"}, "bash ls -la cat x"},
		{"read", "read", `{"path":"a/b.go"}`, []string{"read a/b.go"}, "read a/b.go"},
		{"read a part", "read", `{"path":"a.go","offset":10}`, []string{"read a.go", "{\n  \"path\": \"a.go\",\n  \"offset\": 10\n}"}, "read a.go"},
		{"write", "write", `{"path":"a.go","content":"package a\n"}`, []string{"write a.go", "package a\n"}, "write a.go"},
		{"edit", "edit", `{"path":"a.go","edits":[{"oldText":"a\nb","newText":"c"},{"oldText":"d\n","newText":""}]}`,
			[]string{"edit a.go", "What to replace", "-a\n-b\n+c\n…\n-d\n"}, "edit a.go"},
		{"edit of the old kind", "edit", `{"path":"a.go","oldText":"a","newText":"b"}`, []string{"edit a.go", "What to replace", "-a\n+b\n"}, "edit a.go"},
		{"edit that cannot be read", "edit", `{"path":"a.go","edits":7}`, []string{"edit a.go", "{\n  \"path\": \"a.go\",\n  \"edits\": 7\n}"}, "edit a.go"},
		{"grep", "grep", `{"pattern":"x+","path":"core"}`, []string{"grep x+ in core", "{\n  \"pattern\": \"x+\",\n  \"path\": \"core\"\n}"}, "grep x+ in core"},
		{"no arguments", "ls", `{}`, []string{"ls"}, "ls"},
		{"another tool", "deploy", `{"n":1}`, []string{"deploy", "{\n  \"n\": 1\n}"}, "deploy"},
		{"arguments that are no object", "deploy", `[1]`, []string{"deploy", "[\n  1\n]"}, "deploy"},
	} {
		s := newSession(t)
		asked := s.say(&message.Assistant{Content: []message.Block{{Type: message.BlockToolCall, ID: "c", Name: c.tool, Arguments: json.RawMessage(c.arguments)}}})
		gave := s.result("c", c.tool, "ok")
		p := read(t, s.log)
		var got []string
		for n := range p.entry(asked).Descendants() {
			if n.Data == "p" || n.Data == "pre" || n.Data == "summary" {
				got = append(got, textOf(n))
			}
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		heading := inside(p.entry(gave), "h2", "top")
		if text := textOf(heading); !strings.HasPrefix(text, c.result+" 2") { // the time follows
			t.Errorf("%s: the result's heading is %q, want it to begin %q", c.name, text, c.result)
		}
	}
}

func TestEditIsShownAsADifference(t *testing.T) {
	result := &message.ToolResult{ToolName: "edit", Content: []message.Block{message.TextBlock("done")}}
	patched("--- a.go\n+++ a.go\n@@ -1,3 +1,3 @@\n same\n---- old\n+++ new\n\\ No newline at end of file\n")(result)
	var got []string
	for n := range inside(card(t, result), "pre", "diff").ChildNodes() {
		got = append(got, attribute(n, "class")+" "+strings.TrimSuffix(textOf(n), "\n"))
	}
	want := []string{"file --- a.go", "file +++ a.go", "hunk @@ -1,3 +1,3 @@", "same  same", "removed ---- old", "added +++ new", `same \ No newline at end of file`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}

	patched("@@ -1 +1 @@\n" + strings.Repeat("+x\n", 1000))(result)
	if fold := inside(card(t, result), "summary", ""); fold == nil || textOf(fold) != "941 more lines" {
		t.Error("a long difference is not folded")
	}
}

func TestWhatCardsSay(t *testing.T) {
	exit := 3
	for _, c := range []struct {
		name  string
		m     message.Message
		class string
		want  []string
	}{
		{"a failed answer", &message.Assistant{StopReason: message.StopError, ErrorMessage: "529 overloaded"}, "assistant error", []string{"529 overloaded"}},
		{"an answer that was cut off", &message.Assistant{Content: []message.Block{message.TextBlock("half")}, StopReason: message.StopLength}, "assistant", []string{"half", "cut off at its token limit"}},
		{"thinking", &message.Assistant{Content: []message.Block{thinking("*hm*")}}, "assistant", []string{"Thinking", "hm"}},
		{"usage", &message.Assistant{Usage: message.Usage{Input: 1500, Output: 20, CacheRead: 3, CacheWrite: 4, TotalTokens: 9, Cost: message.Cost{Total: 0.0031}}}, "assistant",
			[]string{"1\u202f500 in, 20 out, 3 from the cache, 4 into it, $0.0031"}},
		{"a failed command", &message.BashExecution{Command: "false", Output: "no\n", ExitCode: &exit, Truncated: true}, "bash error", []string{"false", "no", "Exit code 3.", "Only the end of the output was kept."}},
		{"a cancelled command", &message.BashExecution{Command: "sleep 9", Cancelled: true}, "bash error", []string{"Cancelled."}},
		{"a failed tool", &message.ToolResult{ToolName: "x", IsError: true, Usage: &message.Usage{Input: 7, Output: 1}}, "tool error", []string{"7 in, 1 out"}},
		{"a note of an extension", &message.Custom{CustomType: "bot", Content: message.BlockContent([]message.Block{message.TextBlock("*hi*")}), Display: true}, "note", []string{"bot", "hi"}},
		{"a role that nobody knows", &message.Opaque{Name: "system", Raw: json.RawMessage(`{"role":"system","x":1}`)}, "note", []string{"A message of role system", `"x"`}},
		{"a damaged image", message.NewUser("", []message.Block{{Type: message.BlockImage, MimeType: "image/png", Data: "a\"b"}}, 0), "user", []string{"An image that is damaged."}},
		{"an image of a kind that is not shown", message.NewUser("", []message.Block{{Type: message.BlockImage, MimeType: "image/svg+xml", Data: "PHN2Zz4="}}, 0), "user", []string{`An image of type "image/svg+xml"`}},
	} {
		n := card(t, c.m)
		if got := attribute(n, "class"); got != c.class {
			t.Errorf("%s: class %q, want %q", c.name, got, c.class)
		}
		for _, want := range c.want {
			if !strings.Contains(textOf(n), want) {
				t.Errorf("%s: %q is missing in %q", c.name, want, textOf(n))
			}
		}
	}
}

func TestSettingsAndSummaries(t *testing.T) {
	s := newSession(t)
	for want, body := range map[string]store.Body{
		"Model p/m":                         store.ModelChange{Provider: "p", ModelID: "m"},
		"Thinking high":                     store.ThinkingLevelChange{Level: message.ThinkingHigh},
		"Name the session":                  store.SessionInfo{Name: "the session"},
		"which had 5\u202f000 tokens":       store.Compaction{Summary: "S", TokensBefore: 5000, Usage: &message.Usage{Input: 1}},
		"Summary of a branch that was left": store.BranchSummary{Summary: "B"},
	} {
		id := s.add(body)
		n := read(t, s.log).entry(id)
		heading := inside(n, "h2", "top")
		text := textOf(heading.FirstChild)
		if p := inside(n, "p", ""); p != nil {
			text += " " + textOf(p)
		}
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q", text, want)
		}
	}
	// These have nothing to show, but a link can lead to them.
	for _, body := range []store.Body{
		store.Custom{CustomType: "state", Data: json.RawMessage(`"secret"`)},
		store.CustomMessage{CustomType: "x", Content: message.BlockContent([]message.Block{message.TextBlock("secret")})},
	} {
		id := s.add(body)
		p := read(t, s.log)
		if n := p.entry(id); n.Data != "a" || attribute(n, "class") != "place" || strings.Contains(p.texts.String(), "secret") {
			t.Errorf("%T is shown as %s", body, n.Data)
		}
	}
}

func TestTotalsCountEverything(t *testing.T) {
	s := newSession(t)
	root := s.user("q")
	s.answer(message.TextBlock("a"), call("c", "bash", map[string]any{}))
	s.leaf(root)
	s.answer(message.TextBlock("b"))
	s.add(store.Compaction{Summary: "S", FirstKeptEntryID: root, Usage: &message.Usage{Input: 10, Cost: message.Cost{Total: 1}}})
	text := textOf(read(t, s.log).all("dl")[0])
	for _, want := range []string{"1 prompt, 2 answers, 1 tool call", "2\u202f478 in, 642 out, 18\u202f000 from the cache", "$1.02"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
}
