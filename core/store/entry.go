package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/message"
)

// Entry is one line of a session file. It is a value; the bytes behind it are
// shared and must not be changed.
type Entry struct {
	Type      string
	ID        string
	ParentID  string // "" for a root
	Timestamp string // ISO 8601 with milliseconds, UTC, as the file has it
	// Raw is the entry as JSON: valid UTF-8, one line, without U+2028 and
	// U+2029 in the raw. It can be put on the wire as it is.
	Raw json.RawMessage

	role message.Role
	stop message.StopReason
	body span // the member "message"
}

// span is a part of Entry.Raw.
type span struct{ start, end uint32 }

// Role is the role of the message that the entry holds; empty for an entry of
// another type.
func (e Entry) Role() message.Role { return e.role }

// StopReason is how the answer that the entry holds ended; empty for anything
// else.
func (e Entry) StopReason() message.StopReason { return e.stop }

// Message decodes the message that the entry stands for in a conversation.
// That is nil without an error for an entry that stands for none.
func (e Entry) Message() (message.Message, error) {
	var (
		m   message.Message
		err error
	)
	switch e.Type {
	case TypeMessage:
		if e.body.end == 0 {
			return nil, fmt.Errorf("entry %s: field message is missing", e.ID)
		}
		m, err = message.Decode(e.messageRaw())
	case TypeCustomMessage:
		var b CustomMessage
		err = json.Unmarshal(e.Raw, &b)
		m = &message.Custom{CustomType: b.CustomType, Content: b.Content, Display: b.Display, Details: b.Details, Timestamp: e.millis()}
	case TypeBranchSummary:
		var b BranchSummary
		err = json.Unmarshal(e.Raw, &b)
		m = &message.BranchSummary{Summary: b.Summary, FromID: b.FromID, Timestamp: e.millis()}
	case TypeCompaction:
		var b Compaction
		err = json.Unmarshal(e.Raw, &b)
		m = &message.CompactionSummary{Summary: b.Summary, TokensBefore: b.TokensBefore, Timestamp: e.millis()}
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("entry %s of type %s: %w", e.ID, e.Type, err)
	}
	return m, nil
}

// Decode fills body, a pointer to the type that belongs to e.Type.
func (e Entry) Decode(body any) error {
	if err := json.Unmarshal(e.Raw, body); err != nil {
		return fmt.Errorf("entry %s of type %s: %w", e.ID, e.Type, err)
	}
	return nil
}

func (e Entry) messageRaw() json.RawMessage {
	return e.Raw[e.body.start:e.body.end:e.body.end]
}

// millis is the entry's time in milliseconds since 1970, 0 if it is not
// readable.
func (e Entry) millis() int64 {
	t, err := time.Parse(time.RFC3339Nano, e.Timestamp)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// timestampLayout is how the format writes times; they are in UTC.
const timestampLayout = "2006-01-02T15:04:05.000Z"

// line is what one line of a file says at its top level.
type line struct {
	entry    Entry
	parent   []byte // parentId; nil: null or not there
	roleSpan span   // the value of message.role, quotes included
	header   Header
	version  span // the value of version
}

// parseLine reads one line, which must be wireSafe. It gives false for a line
// that is not a JSON object with a string type.
func parseLine(raw []byte) (line, bool) {
	var l line
	raw = bytes.TrimSpace(raw)
	if len(raw) > math.MaxUint32 {
		return l, false
	}
	s := scanner{data: raw}
	if !s.object(func(key []byte) bool { return l.member(&s, key) }) || s.pos != len(raw) {
		return l, false
	}
	l.entry.Raw = raw
	return l, l.entry.Type != ""
}

func (l *line) member(s *scanner, key []byte) bool {
	start := s.pos
	switch string(key) {
	case "type":
		return s.intern(&l.entry.Type)
	case "id":
		return s.string(&l.entry.ID)
	case "parentId":
		if s.peek() != '"' {
			l.parent = nil
			return s.skip()
		}
		var ok bool
		l.parent, ok = s.text()
		return ok
	case "timestamp":
		return s.string(&l.entry.Timestamp)
	case "message":
		l.entry.role, l.entry.stop = "", ""
		if s.peek() != '{' {
			return s.skip()
		}
		ok := s.object(func(key []byte) bool { return l.messageMember(s, key) })
		l.entry.body = spanOf(start, s.pos)
		return ok
	case "version":
		ok := s.skip()
		l.version = spanOf(start, s.pos)
		return ok
	case "cwd":
		return s.string(&l.header.Cwd)
	case "parentSession":
		return s.string(&l.header.ParentSession)
	}
	return s.skip()
}

func (l *line) messageMember(s *scanner, key []byte) bool {
	start := s.pos
	switch string(key) {
	case "role":
		ok := s.intern((*string)(&l.entry.role))
		l.roleSpan = spanOf(start, s.pos)
		return ok
	case "stopReason":
		return s.intern((*string)(&l.entry.stop))
	}
	return s.skip()
}

func spanOf(start, end int) span { return span{uint32(start), uint32(end)} }

// string reads a string value; a value of another kind is skipped and leaves
// the empty string.
func (s *scanner) string(into *string) bool {
	*into = ""
	if s.peek() != '"' {
		return s.skip()
	}
	text, ok := s.text()
	*into = string(text)
	return ok
}

// intern is string for words that a file repeats on every line.
func (s *scanner) intern(into *string) bool {
	*into = ""
	if s.peek() != '"' {
		return s.skip()
	}
	text, ok := s.text()
	if word, known := words[string(text)]; known {
		*into = word
	} else {
		*into = string(text)
	}
	return ok
}

var words = func() map[string]string {
	m := map[string]string{}
	for _, w := range []string{
		TypeSession, TypeMessage, TypeModelChange, TypeThinkingLevelChange, TypeCompaction, TypeBranchSummary,
		TypeCustom, TypeCustomMessage, TypeLabel, TypeSessionInfo, TypeContextEdit,
	} {
		m[w] = w
	}
	for _, r := range []message.Role{
		message.RoleUser, message.RoleAssistant, message.RoleToolResult, message.RoleBashExecution, message.RoleCustom,
		message.RoleBranchSummary, message.RoleCompactionSummary, "system",
	} {
		m[string(r)] = string(r)
	}
	for _, r := range []message.StopReason{
		message.StopStop, message.StopLength, message.StopToolUse, message.StopError, message.StopAborted,
	} {
		m[string(r)] = string(r)
	}
	return m
}()

// wireSafe gives raw as it may go on the wire: bytes that are not UTF-8 become
// U+FFFD, and the two line separators that some readers split on are escaped.
// It gives raw itself when there is nothing to do.
func wireSafe(raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if bytes.Contains(raw, []byte("\u2028")) {
		raw = bytes.ReplaceAll(raw, []byte("\u2028"), []byte(`\u2028`))
	}
	if bytes.Contains(raw, []byte("\u2029")) {
		raw = bytes.ReplaceAll(raw, []byte("\u2029"), []byte(`\u2029`))
	}
	return raw
}
