package export_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// hostile are texts that would do something in a page that is not careful. In
// a browser, what they do is to set window.pwned or to ask the network.
var hostile = []string{
	`<script>pwned=1</script>`,
	`</script><script>pwned=1</script>`,
	`</title></style></textarea></pre></code><script>pwned=1</script>`,
	`<img src=x onerror=pwned=1>`,
	`"><img src=https://evil.example/x onerror="pwned=1">`,
	`' onmouseover='pwned=1`,
	`" autofocus onfocus="pwned=1`,
	`<svg/onload=pwned=1>`,
	`<iframe src="javascript:parent.pwned=1"></iframe>`,
	`<object data="https://evil.example/x"></object><embed src="https://evil.example/x">`,
	`<base href="https://evil.example/"><link rel=stylesheet href=https://evil.example/x.css>`,
	`<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
	`<form action="https://evil.example/"><input type=image src=https://evil.example/x></form>`,
	`<style>@import url(https://evil.example/x.css); body { display: none }</style>`,
	`<a href="javascript:pwned=1" id="x" style="position:fixed">x</a>`,
	`<!-- <script>pwned=1</script> -->`,
	`<![CDATA[ <script>pwned=1</script> ]]>`,
	`<?php pwned ?>`,
	`[x](javascript:pwned=1)`,
	`[x](JaVaScRiPt:pwned=1)`,
	"[x](java\tscript:pwned=1)",
	`[x](&#106;avascript:pwned=1)`,
	`[x](<java
script:pwned=1>)`,
	`[x](data:text/html,<script>pwned=1</script>)`,
	`[x](vbscript:pwned)`,
	`[x](file:///etc/passwd)`,
	`[x](//evil.example/)`,
	`[x](https://evil.example/" onclick="pwned=1)`,
	`[x](https://evil.example/ "t\" onclick=\"pwned=1")`,
	`![x](https://evil.example/x.png)`,
	`![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9InB3bmVkPTEiPg==)`,
	`![" onerror="pwned=1](x)`,
	"[x]: javascript:pwned=1\n\n[x]",
	`<javascript:pwned=1>`,
	`<https://evil.example/?"onclick="pwned=1>`,
	"```<script>pwned=1</script>\n<script>pwned=1</script>\n```",
	"```html\n<script>pwned=1</script>\n```",
	"```\"onclick=\"pwned=1\n</code></pre><script>pwned=1</script>\n```",
	"~~~js\n</script><script>pwned=1</script>\n~~~",
	"| <script>pwned=1</script> |\n|---|\n| <img src=x onerror=pwned=1> |",
	"- [x] <script>pwned=1</script>",
	`{{.Script}}{{template "foot"}}`,
	"\x00<scr\x00ipt>pwned=1</script>",
	"\xff\xfe<script>pwned=1</script>",
	"\u2028</script>\u2029<script>pwned=1</script>",
	"\u202e<script>pwned=1</script>",
	"\x1b]8;;javascript:pwned=1\x07x\x1b]8;;\x07",
	`#top`, `__proto__`, `constructor`,
}

// everywhere is a session that says a text wherever something can be said.
func everywhere(t *testing.T, text string) *store.Log {
	t.Helper()
	s := session{t, store.InMemory(store.CreateOptions{Cwd: text, ID: text, ParentSession: text})}
	s.add(store.ModelChange{Provider: text, ModelID: text})
	s.add(store.ThinkingLevelChange{Level: message.ThinkingLevel(text)})
	s.add(store.SessionInfo{Name: text})
	image := message.Block{Type: message.BlockImage, MimeType: text, Data: text}
	fake := message.Block{Type: message.BlockImage, MimeType: "image/png", Data: text}
	first := s.user(text, image, fake)
	asked := s.say(&message.Assistant{
		Content: []message.Block{
			thinking(text), message.TextBlock(text), call(text, text, map[string]any{text: text, "path": text}),
			call("b", "bash", map[string]any{"command": text}), call("w", "write", map[string]any{"path": text, "content": text}),
			call("e", "edit", map[string]any{"path": text, "edits": []any{map[string]any{"oldText": text, "newText": text}}}),
			call("g", "grep", map[string]any{"pattern": text, "path": text}),
			call("x", "x", text), // arguments that are no object
			image, {Type: message.BlockType(text), Text: text},
		},
		API: text, Provider: text, Model: text, StopReason: message.StopReason(text), ErrorMessage: text, RawStopReason: text,
		Usage: message.Usage{TotalTokens: 1},
	})
	s.result(text, text, text, failed)
	s.result("b", "bash", strings.Repeat(text+"\n", 40))
	s.result("e", "edit", text, patched(text+"\n@@ "+text+"\n-"+text+"\n+"+text+"\n"+text))
	s.say(&message.ToolResult{ToolCallID: "x", ToolName: text, Content: []message.Block{image, fake}, Details: json.RawMessage(`{"patch":7}`)})
	s.say(&message.BashExecution{Command: text, Output: text, FullOutputPath: text, Truncated: true})
	s.add(store.CustomMessage{CustomType: text, Content: message.BlockContent([]message.Block{message.TextBlock(text), image}), Display: true})
	s.add(store.Label{TargetID: asked, Label: text})
	s.leaf(first)
	s.add(store.BranchSummary{FromID: first, Summary: text})
	s.add(store.Compaction{Summary: text, FirstKeptEntryID: first})
	s.user(text)
	return s.log
}

func TestHostileContent(t *testing.T) {
	for _, text := range hostile {
		t.Run("", func(t *testing.T) {
			p := read(t, everywhere(t, text))
			if t.Failed() {
				t.Logf("the text is %q", text)
			}
			if strings.Contains(p.texts.String(), "ZgotmplZ") {
				t.Errorf("a template gave up on %q", text)
			}
		})
	}
}

// What is harmless once it is text is also there to be read.
func TestHostileTextCanBeRead(t *testing.T) {
	for _, text := range []string{`<script>pwned=1</script>`, `a <img src=x onerror=pwned=1> b`, "<div>\n\nc", `<!-- d -->`, "x <!-- e --> y"} {
		got := textOf(card(t, message.NewUser(text, nil, 0)))
		for word := range strings.FieldsSeq(text) {
			if !strings.Contains(got, word) {
				t.Errorf("%q is missing in %q", word, got)
			}
		}
	}
}

// A file can hold ids and times that this program would not write, and two
// entries of one id.
func TestHostileFile(t *testing.T) {
	line := func(members map[string]any) string {
		raw, err := message.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw) + "\n"
	}
	for _, text := range hostile {
		text = strings.ToValidUTF8(text, "?")
		said := map[string]any{"role": "user", "content": text}
		file := filepath.Join(t.TempDir(), "s.jsonl")
		content := line(map[string]any{"type": "session", "version": 3, "id": text, "timestamp": text, "cwd": text}) +
			line(map[string]any{"type": "message", "id": text, "parentId": nil, "timestamp": text, "message": said}) +
			line(map[string]any{"type": "message", "id": text, "parentId": text, "timestamp": text, "message": said}) +
			line(map[string]any{"type": "message", "id": "other", "parentId": text, "timestamp": text, "message": said}) +
			line(map[string]any{"type": text, "id": text + "2", "parentId": "missing", "timestamp": text, text: said})
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := store.Read(file)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		p := read(t, log)
		if t.Failed() {
			t.Fatalf("the text is %q", text)
		}
		p.entry("other")
	}
}

// Texts that keep parsers and expressions busy must not keep an export busy.
func TestTextsThatTakeLong(t *testing.T) {
	const size = 200_000
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for _, text := range []string{
		fill("["), fill("![x]("), fill("[a](<b"), fill("*a "), fill("_a__b"), fill("`a"), fill("<a "), fill("<!-- "), fill("> "), fill("- "), fill("1. "),
		fill("|a"), fill("\\"), fill("&amp"), fill("a@"), fill("http://a"), fill("[x]: y\n"), fill("~~a"), "|a|\n|-|\n" + fill("|\n"), fill("\t"), fill("#"),
		"```perl\n" + strings.Repeat("m{", 30_000) + "\n```", "```js\n" + strings.Repeat("/a", 30_000) + "\n```", "```json\n" + fill("{\"a\":") + "\n```",
	} {
		s := newSession(t)
		// The second half is short enough to be looked at.
		s.answer(message.TextBlock(text), message.TextBlock(text[:60_000]), call("c", "x", json.RawMessage(`{"a":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"}")))
		at := time.Now()
		read(t, s.log)
		if took := time.Since(at); took > 20*time.Second {
			t.Errorf("%.30q takes %v", text, took)
		}
	}
}

func FuzzPage(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Add(markdownAnswer)
	f.Add(editPatch)
	f.Fuzz(func(t *testing.T, text string) {
		s := newSession(t)
		s.user(text)
		s.answer(message.TextBlock(text), call(text, "write", map[string]any{"path": text, "content": text}))
		s.result(text, "edit", text, patched(text))
		read(t, s.log)
	})
}
