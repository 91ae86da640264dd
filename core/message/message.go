// Package message holds the values a conversation is made of: messages,
// content blocks, usage and models, with the JSON form they have on the wire
// and in session files.
//
// It imports the standard library only. Values are treated as immutable once
// they were handed to somebody else: whoever wants to change a message makes
// a copy first. That is why they may be shared between goroutines freely.
package message

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Role says who or what a message stands for. The values are those of the
// reference session format; other words are kept as they are (see Opaque).
type Role string

// The roles that this package has a type for.
const (
	RoleUser              Role = "user"
	RoleAssistant         Role = "assistant"
	RoleToolResult        Role = "toolResult"
	RoleBashExecution     Role = "bashExecution"
	RoleCustom            Role = "custom"
	RoleBranchSummary     Role = "branchSummary"
	RoleCompactionSummary Role = "compactionSummary"
)

// Message is one entry of a conversation: *User, *Assistant, *ToolResult,
// *BashExecution, *Custom, *BranchSummary, *CompactionSummary or *Opaque.
// Decode makes one from JSON; Marshal writes it.
type Message interface {
	// Role is the message's role, never empty.
	Role() Role
}

// StopReason says why an answer ended. The values are the wire's.
type StopReason string

// The stop reasons of an assistant message. StopPending appears only in the
// message_start event of an answer that has just begun.
const (
	StopStop    StopReason = "stop"
	StopLength  StopReason = "length"
	StopToolUse StopReason = "toolUse"
	StopError   StopReason = "error"
	StopAborted StopReason = "aborted"
	StopPending StopReason = "pending"
)

// User is what a person, a client or an extension said.
type User struct {
	Content   Content `json:"content"`
	Timestamp int64   `json:"timestamp" doc:"milliseconds since 1970"`
	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields `json:"-"`
}

// Assistant is an answer of a model, whole or cut off.
type Assistant struct {
	Content       []Block    `json:"content"`
	API           string     `json:"api" doc:"which API it came over, such as anthropic-messages"`
	Provider      string     `json:"provider"`
	Model         string     `json:"model"`
	Usage         Usage      `json:"usage"`
	StopReason    StopReason `json:"stopReason" doc:"pending until the message ends"`
	Timestamp     int64      `json:"timestamp" doc:"milliseconds since 1970"`
	ResponseID    string     `json:"responseId,omitempty" doc:"the service's own"`
	RawStopReason string     `json:"rawStopReason,omitempty" doc:"the service's own word"`
	ErrorMessage  string     `json:"errorMessage,omitempty" doc:"with stopReason error or aborted"`
	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields `json:"-"`
}

// ToolResult is what a tool call gave. Exactly one follows every tool call of
// an answer that was carried out or refused.
type ToolResult struct {
	ToolCallID string          `json:"toolCallId" doc:"id of the toolCall block"`
	ToolName   string          `json:"toolName"`
	Content    []Block         `json:"content"`
	Details    json.RawMessage `json:"details,omitempty" doc:"what the tool gave beside the content, for clients"`
	Usage      *Usage          `json:"usage,omitempty" doc:"model work done inside the tool"`
	IsError    bool            `json:"isError"`
	Timestamp  int64           `json:"timestamp" doc:"milliseconds since 1970"`
	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields `json:"-"`
}

// BashExecution is the outcome of a bash command that the client ran (the RPC
// command, not the model's tool).
type BashExecution struct {
	Command            string `json:"command"`
	Output             string `json:"output"`
	ExitCode           *int   `json:"exitCode,omitempty" doc:"absent when cancelled"`
	Cancelled          bool   `json:"cancelled"`
	Truncated          bool   `json:"truncated" doc:"output is the end of what was printed"`
	FullOutputPath     string `json:"fullOutputPath,omitempty" doc:"file with all of it, when truncated"`
	Timestamp          int64  `json:"timestamp" doc:"milliseconds since 1970"`
	ExcludeFromContext bool   `json:"excludeFromContext,omitempty" doc:"the model never sees it"`
	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields `json:"-"`
}

// Custom is a message that an extension put into the conversation.
type Custom struct {
	CustomType string          `json:"customType" doc:"chosen by the extension"`
	Content    Content         `json:"content"`
	Display    bool            `json:"display" doc:"clients are meant to show it"`
	Details    json.RawMessage `json:"details,omitempty" doc:"for clients; the model never sees it"`
	Timestamp  int64           `json:"timestamp" doc:"milliseconds since 1970"`
	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields `json:"-"`
}

// BranchSummary tells the model about a branch of the session that was left.
type BranchSummary struct {
	Summary   string `json:"summary"`
	FromID    string `json:"fromId" doc:"entry that the branch hangs at; root: it began there"`
	Timestamp int64  `json:"timestamp" doc:"milliseconds since 1970"`
	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields `json:"-"`
}

// CompactionSummary stands for everything before a compaction's boundary.
type CompactionSummary struct {
	Summary      string `json:"summary"`
	TokensBefore int64  `json:"tokensBefore" doc:"of the context that it took the place of"`
	Timestamp    int64  `json:"timestamp" doc:"milliseconds since 1970"`
	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields `json:"-"`
}

// Opaque is a message of a role that this version does not know. It keeps its
// bytes, is listed and stored, and is never sent to a model.
type Opaque struct {
	Name Role
	Raw  json.RawMessage
}

// Role implements Message.
func (*User) Role() Role { return RoleUser }

// Role implements Message.
func (*Assistant) Role() Role { return RoleAssistant }

// Role implements Message.
func (*ToolResult) Role() Role { return RoleToolResult }

// Role implements Message.
func (*BashExecution) Role() Role { return RoleBashExecution }

// Role implements Message.
func (*Custom) Role() Role { return RoleCustom }

// Role implements Message.
func (*BranchSummary) Role() Role { return RoleBranchSummary }

// Role implements Message.
func (*CompactionSummary) Role() Role { return RoleCompactionSummary }

// Role implements Message.
func (m *Opaque) Role() Role { return m.Name }

// ToolCalls lists the tool call blocks of an answer in source order. The
// result shares the answer's memory.
func (m *Assistant) ToolCalls() []Block {
	var calls []Block
	for _, b := range m.Content {
		if b.Type == BlockToolCall {
			calls = append(calls, b)
		}
	}
	return calls
}

// IsCutOff says whether the token limit ended an answer that calls no tool: the
// next prompt takes its place in the conversation. One that calls tools goes on
// with their results.
func (m *Assistant) IsCutOff() bool {
	return m.StopReason == StopLength && len(m.ToolCalls()) == 0
}

// Text joins the text blocks of content without a separator.
func Text(content []Block) string {
	if len(content) == 1 && content[0].Type == BlockText {
		return content[0].Text
	}
	var out []byte
	for _, b := range content {
		if b.Type == BlockText {
			out = append(out, b.Text...)
		}
	}
	return string(out)
}

// TextOf joins the text blocks of a message; it is empty for one that has
// none, and the summary or output for the kinds that carry plain text.
func TextOf(m Message) string {
	switch m := m.(type) {
	case *User:
		return Text(m.Content.Blocks())
	case *Assistant:
		return Text(m.Content)
	case *ToolResult:
		return Text(m.Content)
	case *Custom:
		return Text(m.Content.Blocks())
	case *BashExecution:
		return m.Output
	case *BranchSummary:
		return m.Summary
	case *CompactionSummary:
		return m.Summary
	}
	return ""
}

// NewUser makes a user message of a text and images, at a time in
// milliseconds since 1970. The text block is always there, also when empty.
func NewUser(text string, images []Block, at int64) *User {
	blocks := append([]Block{TextBlock(text)}, images...)
	return &User{Content: BlockContent(blocks), Timestamp: at}
}

// Decode reads one message from its JSON form. Roles without a type give an
// *Opaque; data that is no object, or has no role, is an error.
func Decode(data []byte) (Message, error) {
	var all Fields
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	var role Role
	if raw, ok := all["role"]; ok {
		if err := json.Unmarshal(raw, &role); err != nil {
			return nil, fmt.Errorf("message: field role: %w", err)
		}
	}
	if role == "" {
		return nil, errors.New("message: field role is missing")
	}
	empty, known := byRole[role]
	if !known {
		return &Opaque{Name: role, Raw: append(json.RawMessage(nil), data...)}, nil
	}
	m, wire, extra := empty()
	var err error
	if *extra, err = fill(wire, data, all, "role"); err != nil {
		return nil, fmt.Errorf("message of role %s: %w", role, err)
	}
	return m, nil
}

// byRole makes an empty message of each role, and gives it once more as what
// is decoded into, with the place for unknown members.
var byRole = map[Role]func() (m Message, wire any, extra *Fields){
	RoleUser:          func() (Message, any, *Fields) { m := new(User); return m, (*userWire)(m), &m.Extra },
	RoleAssistant:     func() (Message, any, *Fields) { m := new(Assistant); return m, (*assistantWire)(m), &m.Extra },
	RoleToolResult:    func() (Message, any, *Fields) { m := new(ToolResult); return m, (*toolResultWire)(m), &m.Extra },
	RoleBashExecution: func() (Message, any, *Fields) { m := new(BashExecution); return m, (*bashExecutionWire)(m), &m.Extra },
	RoleCustom:        func() (Message, any, *Fields) { m := new(Custom); return m, (*customWire)(m), &m.Extra },
	RoleBranchSummary: func() (Message, any, *Fields) { m := new(BranchSummary); return m, (*branchSummaryWire)(m), &m.Extra },
	RoleCompactionSummary: func() (Message, any, *Fields) {
		m := new(CompactionSummary)
		return m, (*compactionSummaryWire)(m), &m.Extra
	},
}

// List is a slice of messages with a JSON codec, for payloads that carry many.
// It encodes as an array, also when nil.
type List []Message

// UnmarshalJSON implements json.Unmarshaler.
func (l *List) UnmarshalJSON(data []byte) error {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return err
	}
	*l = make(List, 0, len(raws))
	for i, raw := range raws {
		m, err := Decode(raw)
		if err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		*l = append(*l, m)
	}
	return nil
}
