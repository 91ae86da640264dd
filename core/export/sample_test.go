package export_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// session builds a session entry by entry.
type session struct {
	t   *testing.T
	log *store.Log
}

func newSession(t *testing.T) session {
	t.Helper()
	return session{t, store.InMemory(store.CreateOptions{Cwd: "/home/ada/parser"})}
}

func (s session) add(body store.Body) string {
	s.t.Helper()
	e, err := s.log.Append(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return e.ID
}

func (s session) say(m message.Message) string {
	s.t.Helper()
	return s.add(store.MessageBody{Message: m})
}

func (s session) user(text string, images ...message.Block) string {
	s.t.Helper()
	return s.say(message.NewUser(text, images, 0))
}

func (s session) answer(blocks ...message.Block) string {
	s.t.Helper()
	return s.say(&message.Assistant{
		Content: blocks, API: "anthropic-messages", Provider: "mock", Model: "m1", StopReason: message.StopStop,
		Usage: message.Usage{Input: 1234, Output: 321, CacheRead: 9000, TotalTokens: 10555, Cost: message.Cost{Total: 0.0114}},
	})
}

func (s session) result(call, tool, text string, more ...func(*message.ToolResult)) string {
	s.t.Helper()
	m := &message.ToolResult{ToolCallID: call, ToolName: tool, Content: []message.Block{message.TextBlock(text)}}
	for _, f := range more {
		f(m)
	}
	return s.say(m)
}

func (s session) leaf(id string) {
	s.t.Helper()
	if err := s.log.SetLeaf(id); err != nil {
		s.t.Fatal(err)
	}
}

func call(id, tool string, arguments any) message.Block {
	raw, err := message.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return message.Block{Type: message.BlockToolCall, ID: id, Name: tool, Arguments: raw}
}

func thinking(text string) message.Block {
	return message.Block{Type: message.BlockThinking, Thinking: text}
}

func failed(m *message.ToolResult) { m.IsError = true }

func patched(patch string) func(*message.ToolResult) {
	return func(m *message.ToolResult) {
		m.Details, _ = json.Marshal(map[string]any{"patch": patch, "firstChangedLine": 3})
	}
}

// picture is a small image of a gradient.
func picture() message.Block {
	img := image.NewRGBA(image.Rect(0, 0, 320, 120))
	for x := range 320 {
		for y := range 120 {
			img.Set(x, y, color.RGBA{uint8(x * 255 / 320), uint8(y * 2), 160, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return message.Block{Type: message.BlockImage, MimeType: "image/png", Data: base64.StdEncoding.EncodeToString(b.Bytes())}
}

const markdownAnswer = "The parser loses **escaped quotes**. Three things to do:\n\n" +
	"1. read the escape before the quote\n2. keep the column\n3. a test for `\\\"` at the end\n\n" +
	"```go\n// next reads one rune, and knows whether it was escaped.\nfunc (p *parser) next() (r rune, escaped bool, err error) {\n\tif p.peek() == '\\\\' {\n\t\tp.pos++\n\t\treturn p.read(), true, nil\n\t}\n\treturn p.read(), false, nil\n}\n```\n\n" +
	"| case | before | after |\n|:--|--:|:-:|\n| `\"a\\\"b\"` | `a\\` | `a\"b` |\n| `\"\"` | empty | empty |\n\n" +
	"> Quotes inside quotes are the old bug.\n\nSee [the grammar](https://example.com/grammar), `parser.go` or [the code](parser.go).\n\n- [x] reproduce\n- [ ] fix\n"

const editPatch = "--- parser.go\n+++ parser.go\n@@ -1,7 +1,9 @@\n package parser\n \n-func (p *parser) next() rune {\n-\treturn p.read()\n+func (p *parser) next() (rune, bool) {\n+\tif p.peek() == '\\\\' {\n+\t\tp.pos++\n+\t\treturn p.read(), true\n+\t}\n+\treturn p.read(), false\n }\n \n"

// sample is a session with something of everything in it, and three branches.
func sample(t *testing.T) *store.Log {
	t.Helper()
	s := newSession(t)
	s.add(store.ModelChange{Provider: "mock", ModelID: "m1"})
	s.add(store.ThinkingLevelChange{Level: message.ThinkingMedium})
	first := s.user("The parser drops escaped quotes.\nFind out why, and fix it.", picture())
	s.answer(thinking("The user wants a fix. I look at the **parser** first, then at its tests."), message.TextBlock("I look at the parser."),
		call("c1", "read", map[string]any{"path": "parser.go"}), call("c2", "bash", map[string]any{"command": "go test ./... 2>&1 | tail -n 40\nls -la"}))
	s.result("c1", "read", "package parser\n\nfunc (p *parser) next() rune {\n\treturn p.read()\n}\n")
	var out strings.Builder
	for i := range 120 {
		fmt.Fprintf(&out, "\x1b[32mok\x1b[0m  \texample.com/parser/pkg%d\t0.%03ds\n", i, i)
	}
	s.result("c2", "bash", out.String())
	wrong := s.answer(message.TextBlock(markdownAnswer), call("c3", "edit", map[string]any{"path": "parser.go", "edits": []any{map[string]any{"oldText": "func (p *parser) next() rune {", "newText": "func (p *parser) next() (rune, bool) {"}}}),
		call("c4", "write", map[string]any{"path": "parser_test.go", "content": "package parser\n\n" + strings.Repeat("func TestEscape(t *testing.T) { t.Log(\"x\") }\n", 30)}))
	s.result("c3", "edit", "Replaced 1 block.", patched(editPatch))
	s.result("c4", "write", "permission denied", failed)
	s.add(store.Label{TargetID: wrong, Label: "the plan"})
	exit := 1
	s.say(&message.BashExecution{Command: "go vet ./...", Output: "parser.go:12: unreachable code\n", ExitCode: &exit})
	s.user("No, keep the signature. Try with a field instead.")
	s.answer(message.TextBlock("A field `escaped` it is."))
	s.say(&message.Assistant{API: "a", Provider: "mock", Model: "m1", StopReason: message.StopError, ErrorMessage: "529 overloaded: try again later"})
	s.leaf(wrong)
	s.add(store.BranchSummary{FromID: wrong, Summary: "A field was tried; it did not survive **nested** quotes.", FromHook: false})
	again := s.user("Good. Now the column of errors is wrong.")
	s.answer(message.TextBlock("The column counts bytes. It should count runes:\n\n```diff\n-col++\n+col += utf8.RuneLen(r)\n```"))
	kept := s.user("Do that.")
	s.answer(message.TextBlock("Done."))
	s.leaf(again)
	s.answer(message.TextBlock("Another answer to the same question."))
	s.leaf(kept)
	s.add(store.Compaction{Summary: "## Goal\nFix the parser.\n\n## Done\n- escapes\n- columns", FirstKeptEntryID: kept, TokensBefore: 123456})
	s.add(store.CustomMessage{CustomType: "deploy-bot", Content: message.BlockContent([]message.Block{message.TextBlock("Deployed to **staging**.")}), Display: true})
	s.add(store.Custom{CustomType: "state", Data: json.RawMessage(`{"n":1}`)})
	s.user("<task>Write the release notes</task> and mention <b>quotes</b>.\n\n    indented code\n")
	s.answer(message.TextBlock("Release notes:\n\n* escaped quotes are read\n* columns count characters"), call("c9", "deploy", map[string]any{"target": "production", "dry": true, "steps": []string{"build", "test"}}))
	s.result("c9", "deploy", "ok")
	_ = first
	return s.log
}
