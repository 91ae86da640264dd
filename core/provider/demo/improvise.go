package demo

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// improvise makes an answer that shows what a session can do: it thinks,
// talks, calls a tool where it is asked to look at something, and says what
// came of it.
func improvise(req provider.Request) Turn {
	prompt := lastPrompt(req.Messages)
	switch results := lastResults(req.Messages); {
	case len(results) > 0:
		return answer(req, "The tool is done; I say what it gave.", comment(results))
	case wantsSummary(req, prompt):
		return answer(req, "", summary(prompt))
	}
	if call, about := lookup(prompt, req.Tools); call != nil {
		turn := answer(req, "This asks me to look at something, so I call a tool.", "I look at "+about+".")
		turn.Steps = append(turn.Steps, Step{ToolCall: call})
		return turn
	}
	return answer(req, "I am the demo model: I can only say what I was given, and how to go on.", reply(req, prompt))
}

func answer(req provider.Request, thought, text string) Turn {
	var turn Turn
	if thought != "" && req.Model.Reasoning && req.Thinking != "" && req.Thinking != message.ThinkingOff {
		turn.Steps = append(turn.Steps, Step{Thinking: &thought})
	}
	turn.Steps = append(turn.Steps, Step{Text: &text})
	return turn
}

func lastPrompt(messages []message.Message) *message.User {
	for _, m := range slices.Backward(messages) {
		if user, ok := m.(*message.User); ok {
			return user
		}
	}
	return &message.User{}
}

// lastResults gives the tool results that the conversation ends with.
func lastResults(messages []message.Message) []*message.ToolResult {
	var results []*message.ToolResult
	for _, m := range slices.Backward(messages) {
		result, ok := m.(*message.ToolResult)
		if !ok {
			break
		}
		results = append(results, result)
	}
	slices.Reverse(results)
	return results
}

func reply(req provider.Request, prompt *message.User) string {
	var b strings.Builder
	b.WriteString("This is the demo model. It runs inside pi, offline, and makes up nothing.")
	if text := quote(message.TextOf(prompt)); text != "" {
		fmt.Fprintf(&b, " You said: %s.", text)
	}
	if n := images(prompt); n > 0 {
		fmt.Fprintf(&b, " With it came %s.", plural(n, "image"))
	}
	if len(req.Tools) > 0 {
		b.WriteString("\n\nAsk me to look at something, like \"look at this folder\" or \"read go.mod\", and I call a tool. \"call NAME {...}\" calls the tool NAME with these arguments.")
	}
	b.WriteString(" For a model that thinks, set the API key of a service, like ANTHROPIC_API_KEY, and choose one of its models.")
	return b.String()
}

func images(m *message.User) int {
	n := 0
	for _, b := range m.Content.Blocks() {
		if b.Type == message.BlockImage {
			n++
		}
	}
	return n
}

// calling is a prompt that says which tool to call, and with what: authors of
// tools try them so.
var calling = onFirstUse(`(?s)^\s*call ([\w.:-]+)\s*(\{.*\})\s*$`)

// looking are the words of a prompt that asks to look at something.
var looking = onFirstUse(`(?i)\b(look|list|show|see|read|open|print|cat|ls|explore|inspect|what(?:'s| is) in|which files|files|folder|directory)\b`)

// named is a word that names a file or a folder: it has a dot or a slash
// inside.
var named = onFirstUse(`[\w~.-]*(?:/[\w.-]+)+/?|[\w~.-]+/|\b[\w-]+\.[A-Za-z]\w{0,7}\b|(?:^|\s)\.[\w-]+`)

func onFirstUse(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// lookup makes the call that a prompt asks for, with the tools there are, and
// says what it looks at; nil: none.
func lookup(prompt *message.User, tools []provider.Tool) (call *ToolCall, about string) {
	text := message.TextOf(prompt)
	has := func(name string) bool {
		return slices.ContainsFunc(tools, func(t provider.Tool) bool { return t.Name == name })
	}
	if m := calling().FindStringSubmatch(text); len(m) == 3 && has(m[1]) && json.Valid([]byte(m[2])) {
		return &ToolCall{Name: m[1], Arguments: json.RawMessage(m[2])}, "what " + m[1] + " gives"
	}
	if !looking().MatchString(text) {
		return nil, ""
	}
	file := strings.TrimSpace(named().FindString(text))
	folder := "."
	if strings.HasSuffix(file, "/") || file != "" && path.Ext(file) == "" && !strings.HasPrefix(path.Base(file), ".") {
		file, folder = "", file
	}
	switch {
	case file != "" && has("read"):
		return toolCall("read", map[string]any{"path": file}), file
	case has("ls"):
		return toolCall("ls", map[string]any{"path": folder}), place(folder)
	case has("bash"):
		return toolCall("bash", map[string]any{"command": "ls " + shellWord(folder)}), place(folder)
	}
	return nil, ""
}

func place(folder string) string {
	if folder == "." {
		return "this folder"
	}
	return folder
}

// shellWord makes a path an operand: what named lets through has no character
// that means something to a shell, but may look like a flag.
func shellWord(word string) string {
	if strings.HasPrefix(word, "-") {
		word = "./" + word
	}
	return word
}

func toolCall(name string, arguments map[string]any) *ToolCall {
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // strings always encode
	}
	return &ToolCall{Name: name, Arguments: raw}
}

// comment says what tools gave.
func comment(results []*message.ToolResult) string {
	var sentences []string
	for _, r := range results {
		text := message.TextOf(r)
		lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
		switch {
		case r.IsError:
			sentences = append(sentences, fmt.Sprintf("The tool %s did not succeed: %s.", r.ToolName, quote(text)))
		case len(lines) == 0:
			sentences = append(sentences, fmt.Sprintf("The tool %s gave nothing.", r.ToolName))
		case r.ToolName == "ls" || r.ToolName == "bash":
			sentences = append(sentences, fmt.Sprintf("The tool %s lists %s.", r.ToolName, some(lines)))
		default:
			sentences = append(sentences, fmt.Sprintf("The tool %s gave %s, beginning with %s.", r.ToolName, plural(len(lines), "line"), quote(lines[0])))
		}
	}
	return strings.Join(sentences, " ") + " A real model would now go on from here."
}

func some(lines []string) string {
	const most = 5
	if len(lines) > most {
		return plural(len(lines), "line") + ", the first of them " + strings.Join(lines[:most], ", ")
	}
	return plural(len(lines), "line") + ": " + strings.Join(lines, ", ")
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// quote shortens a text to its first words.
func quote(text string) string {
	const most = 120
	words := strings.Join(strings.Fields(text), " ")
	if words == "" {
		return ""
	}
	if n := cut(words, most); n < len(words) {
		words = words[:n] + "…"
	}
	return `"` + strings.TrimRight(words, ".") + `"`
}

// wantsSummary knows the request that a compaction makes: no tools, and a
// conversation quoted whole.
func wantsSummary(req provider.Request, prompt *message.User) bool {
	return len(req.Tools) == 0 && strings.HasPrefix(strings.TrimSpace(message.TextOf(prompt)), "<conversation>")
}

// summary lists what was asked in a quoted conversation.
func summary(prompt *message.User) string {
	var asked []string
	for line := range strings.Lines(message.TextOf(prompt)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "[User]: "); ok {
			asked = append(asked, "- "+quote(text))
		}
	}
	return fmt.Sprintf("The user asked %s, and the demo model answered:\n%s", plural(len(asked), "time"), strings.Join(asked, "\n"))
}
