package compact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/message"
)

// resultLimit is how many bytes of a tool result a summary request holds.
// Results are most of a conversation, and their beginning says what they were.
const resultLimit = 2000

// Serialize writes a conversation down as text, so that a model reads about it
// rather than going on with it. The shape of the lines is the reference's; what
// the model would not be sent is left out.
func Serialize(messages []message.Message) string {
	return strings.Join(paragraphs(messages), "\n\n")
}

func paragraphs(messages []message.Message) []string {
	var parts []string
	add := func(who, text string) {
		if strings.TrimSpace(text) != "" {
			parts = append(parts, "["+who+"]: "+text)
		}
	}
	for _, m := range message.ForModel(messages) {
		switch m := m.(type) {
		case *message.User:
			add("User", textAndImages(m.Content.Blocks()))
		case *message.Assistant:
			add("Assistant thinking", thinking(m.Content))
			add("Assistant", message.Text(m.Content))
			add("Assistant tool calls", toolCalls(m))
		case *message.ToolResult:
			add("Tool result", cutResult(textAndImages(m.Content)))
		}
	}
	return parts
}

func textAndImages(blocks []message.Block) string {
	text := message.Text(blocks)
	for _, b := range blocks {
		if b.Type == message.BlockImage {
			text += " (an image)"
		}
	}
	return strings.TrimPrefix(text, " ")
}

func thinking(blocks []message.Block) string {
	var parts []string
	for _, b := range blocks {
		if b.Type == message.BlockThinking && b.Thinking != "" {
			parts = append(parts, b.Thinking)
		}
	}
	return strings.Join(parts, "\n")
}

// toolCalls writes calls like function calls: read(path="a"); bash(command="ls").
func toolCalls(m *message.Assistant) string {
	var calls []string
	for _, call := range m.ToolCalls() {
		calls = append(calls, call.Name+"("+arguments(call.Arguments)+")")
	}
	return strings.Join(calls, "; ")
}

// arguments writes the members of an object in their order.
func arguments(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return string(raw)
	}
	var parts []string
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return string(raw)
		}
		parts = append(parts, fmt.Sprintf("%s=%s", name, value))
	}
	return strings.Join(parts, ", ")
}

// cutResult shortens a long text at a character's border and says so.
func cutResult(text string) string {
	if len(text) <= resultLimit {
		return text
	}
	end := resultLimit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[%d more bytes left out]", text[:end], len(text)-end)
}
