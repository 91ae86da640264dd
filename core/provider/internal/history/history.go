// Package history is how the adapters read a conversation: what of it a model
// can be sent, whatever model it was held with.
//
// It imports the standard library and core/message only.
package history

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
)

// ImageLeftOut stands where an image was that the model cannot see.
const ImageLeftOut = "[image left out: this model takes text only]"

// NothingSaid stands for a last message without content, which no service
// accepts.
const NothingSaid = "(empty)"

// SameModel says whether an answer came from the model that is asked now.
// Signatures mean something to their own model only.
func SameModel(answer *message.Assistant, model message.Model) bool {
	return answer.API == model.API && answer.Provider == model.Provider && answer.Model == model.ID
}

// Said gives what of content the model can be sent: texts that are not blank,
// and images, or a note in the place of each that the model does not take.
func Said(content []message.Block, model message.Model) []message.Block {
	out := make([]message.Block, 0, len(content))
	for _, b := range content {
		switch {
		case b.Type == message.BlockImage && model.TakesImages():
			out = append(out, b)
		case b.Type == message.BlockImage:
			out = append(out, message.TextBlock(ImageLeftOut))
		case b.Type == message.BlockText && !Blank(b.Text):
			out = append(out, b)
		}
	}
	return out
}

// Result gives the text of a tool result, its text blocks and the notes for
// images left out each on lines of their own, and the images that the model
// takes.
func Result(content []message.Block, model message.Model) (text string, images []message.Block) {
	var texts []string
	for _, b := range content {
		switch {
		case b.Type == message.BlockImage && model.TakesImages():
			images = append(images, b)
		case b.Type == message.BlockImage:
			texts = append(texts, ImageLeftOut)
		case b.Type == message.BlockText:
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n"), images
}

// Blank says whether a text is nothing but white space.
func Blank(text string) bool { return strings.TrimSpace(text) == "" }

// Arguments gives the arguments of a tool call as services want them back: an
// object. What the model wrote in place of one is told by the call's result.
func Arguments(b message.Block) json.RawMessage {
	if raw := bytes.TrimSpace(b.Arguments); len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		return raw
	}
	return json.RawMessage("{}")
}

// Sound gives the messages of a request with the ids and names of tool calls
// that a service takes, where a model wrote others: it would refuse the
// conversation for ever. Of calls that share an id, each gets its own, and so
// does its result; that is within one answer, or everywhere for services that
// want ids unique in all of the conversation. onWire gives an id as the
// adapter sends it. What is fine stays as it is, since services cache by it.
// The list and its messages are not changed; the result shares those that
// needed nothing.
func Sound(list []message.Message, everywhere bool, onWire func(id string) string) []message.Message {
	out := make([]message.Message, len(list))
	s := sounder{everywhere: everywhere, onWire: onWire, used: map[string]bool{}}
	for i, m := range list {
		switch m := m.(type) {
		case *message.Assistant:
			out[i] = s.answer(m)
		case *message.ToolResult:
			out[i] = s.result(m)
		default:
			out[i] = m
		}
	}
	return out
}

type sounder struct {
	everywhere bool
	onWire     func(id string) string
	used       map[string]bool     // ids as they are sent
	open       map[string][]string // ids of the last answer's calls, by the id they had
}

func (s *sounder) answer(m *message.Assistant) *message.Assistant {
	if !s.everywhere {
		s.used = map[string]bool{}
	}
	s.open = map[string][]string{}
	content := m.Content
	for i, b := range m.Content {
		if b.Type != message.BlockToolCall {
			continue
		}
		was := b
		b.ID, b.Name = s.unused(b.ID), ToolName(b.Name)
		s.used[s.onWire(b.ID)] = true
		s.open[was.ID] = append(s.open[was.ID], b.ID)
		if b.ID == was.ID && b.Name == was.Name {
			continue
		}
		if &content[0] == &m.Content[0] {
			content = slices.Clone(content)
		}
		content[i] = b
	}
	if len(content) == 0 || &content[0] == &m.Content[0] {
		return m
	}
	sound := *m
	sound.Content = content
	return &sound
}

// unused gives an id, or where it is in use one like it: the first that is
// free, so that every request of a conversation says the same.
func (s *sounder) unused(id string) string {
	if !s.used[s.onWire(id)] {
		return id
	}
	for n := 2; ; n++ {
		if other := fmt.Sprintf("%s_%d", s.onWire(id), n); !s.used[s.onWire(other)] {
			return other
		}
	}
}

func (s *sounder) result(m *message.ToolResult) *message.ToolResult {
	id := m.ToolCallID
	if ids := s.open[id]; len(ids) > 0 {
		id, s.open[id] = ids[0], ids[1:]
	}
	name := ToolName(m.ToolName)
	if id == m.ToolCallID && name == m.ToolName {
		return m
	}
	sound := *m
	sound.ToolCallID, sound.ToolName = id, name
	return &sound
}

// ToolName makes a legal name of one that a model made up: letters, digits, _
// and -, at most 128, which is what services take. A legal one stays.
func ToolName(name string) string {
	if name == "" {
		return "unnamed_tool"
	}
	return CallID(name, 128)
}

// CallID makes an id of a tool call, which may come from another service,
// acceptable: letters, digits, _ and -, at most so many, which are 40 or
// more. The same id gives the same.
func CallID(id string, longest int) string {
	safe := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, id)
	if safe == "" || len(safe) > longest {
		sum := sha256.Sum256([]byte(id))
		tail := "_" + hex.EncodeToString(sum[:6])
		return safe[:min(len(safe), longest-len(tail))] + tail
	}
	return safe
}

// NewCallID makes an id for a tool call that the service gave none.
func NewCallID() string {
	var id [9]byte
	_, _ = rand.Read(id[:]) // never fails
	return "call_" + hex.EncodeToString(id[:])
}
