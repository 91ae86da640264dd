package store

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/message"
)

// Totals count what a session holds, on all branches, failed answers included.
type Totals struct {
	Messages          int // of any role; those of extensions are not among them
	UserMessages      int
	AssistantMessages int
	ToolCalls         int
	ToolResults       int
	// Usage is the sum over answers, tools and summaries.
	Usage message.Usage
}

// Totals counts the session. Entries are looked at once, whatever the number of
// calls, and without decoding what is not counted.
func (l *Log) Totals() Totals {
	l.counting.Lock()
	defer l.counting.Unlock()
	entries := l.snapshot()
	for _, e := range entries[l.counted:] {
		l.totals.add(e)
	}
	l.counted = len(entries)
	return l.totals
}

func (t *Totals) add(e Entry) {
	if e.Type == TypeMessage && e.role != "" {
		t.Messages++
	}
	switch e.role {
	case message.RoleUser:
		t.UserMessages++
	case message.RoleAssistant:
		t.AssistantMessages++
	case message.RoleToolResult:
		t.ToolResults++
	}
	// The line was read before, so that it cannot fail now.
	s := scanner{data: e.Raw}
	s.object(func(key []byte) bool {
		switch {
		case string(key) == "usage":
			return t.usage(&s)
		case string(key) == "message" && s.peek() == '{':
			return s.object(func(key []byte) bool { return t.messageMember(&s, e.role, key) })
		}
		return s.skip()
	})
}

func (t *Totals) messageMember(s *scanner, role message.Role, key []byte) bool {
	switch {
	case string(key) == "usage":
		return t.usage(s)
	case string(key) == "content" && role == message.RoleAssistant && s.peek() == '[':
		return s.array(func() bool { return t.block(s) })
	}
	return s.skip()
}

func (t *Totals) usage(s *scanner) bool {
	start := s.pos
	ok := s.skip()
	var u message.Usage
	if ok && json.Unmarshal(s.data[start:s.pos], &u) == nil {
		t.Usage = t.Usage.Add(u)
	}
	return ok
}

// block counts a content block that is a tool call.
func (t *Totals) block(s *scanner) bool {
	if s.peek() != '{' {
		return s.skip()
	}
	var blockType string
	ok := s.object(func(key []byte) bool {
		if string(key) == "type" {
			return s.string(&blockType)
		}
		return s.skip()
	})
	if message.BlockType(blockType) == message.BlockToolCall {
		t.ToolCalls++
	}
	return ok
}
