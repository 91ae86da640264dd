package store

import (
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
)

// Version is the version of the file format that is written.
const Version = 3

// The entry types of the file format. Other words are kept as they are.
const (
	TypeSession             = "session" // the header, never an entry
	TypeMessage             = "message"
	TypeModelChange         = "model_change"
	TypeThinkingLevelChange = "thinking_level_change"
	TypeCompaction          = "compaction"
	TypeBranchSummary       = "branch_summary"
	TypeCustom              = "custom"
	TypeCustomMessage       = "custom_message"
	TypeLabel               = "label"
	TypeSessionInfo         = "session_info"
	TypeContextEdit         = "context_edit" // read, not written: later versions of the format have it
)

// Header is the first line of a session file.
type Header struct {
	Type          string `json:"type"` // always "session"
	Version       int    `json:"version"`
	ID            string `json:"id"`        // a UUID of version 7, unless the caller of Create chose one
	Timestamp     string `json:"timestamp"` // ISO 8601 with milliseconds, UTC
	Cwd           string `json:"cwd"`
	ParentSession string `json:"parentSession,omitempty"` // path of the file it was forked from
}

// Body is what an entry says beside its id, parent and time: one of the types
// below. Field names and order are those of the reference session format.
type Body interface {
	entryType() string
}

// MessageBody is a message of the conversation. Message must not be nil.
type MessageBody struct {
	Message message.Message `json:"message"`
}

// ModelChange says that another model answers from here on.
type ModelChange struct {
	Provider string `json:"provider"`
	ModelID  string `json:"modelId"`
}

// ThinkingLevelChange says how much the model thinks from here on.
type ThinkingLevelChange struct {
	Level message.ThinkingLevel `json:"thinkingLevel"`
}

// Compaction replaces what comes before FirstKeptEntryID on its branch by a
// summary.
type Compaction struct {
	Summary          string `json:"summary"`
	FirstKeptEntryID string `json:"firstKeptEntryId,omitempty"` // an entry on the branch; empty: nothing is kept but RetainedTail
	TokensBefore     int64  `json:"tokensBefore"`
	// RetainedTail holds the kept messages themselves instead of pointing at
	// them, as JSON of an array; nil: FirstKeptEntryID says what is kept.
	RetainedTail json.RawMessage `json:"retainedTail,omitempty"`
	Details      json.RawMessage `json:"details,omitempty"`
	Usage        *message.Usage  `json:"usage,omitempty"` // what the summary cost; nil: nothing
	FromHook     bool            `json:"fromHook"`        // an extension wrote the summary
}

// BranchSummary tells about a branch that was left.
type BranchSummary struct {
	FromID   string          `json:"fromId"`
	Summary  string          `json:"summary"`
	Details  json.RawMessage `json:"details,omitempty"`
	Usage    *message.Usage  `json:"usage,omitempty"`
	FromHook bool            `json:"fromHook"`
}

// Custom is state of an extension; the model never sees it.
type Custom struct {
	CustomType string          `json:"customType"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// CustomMessage is a message of an extension; the model sees its content.
type CustomMessage struct {
	CustomType string          `json:"customType"`
	Content    message.Content `json:"content"`
	Display    bool            `json:"display"`
	Details    json.RawMessage `json:"details,omitempty"`
}

// Label marks an entry, or takes its mark away.
type Label struct {
	TargetID string `json:"targetId"`
	Label    string `json:"label,omitempty"` // empty: the mark is taken away
}

// SessionInfo names the session.
type SessionInfo struct {
	Name string `json:"name"`
}

func (MessageBody) entryType() string         { return TypeMessage }
func (ModelChange) entryType() string         { return TypeModelChange }
func (ThinkingLevelChange) entryType() string { return TypeThinkingLevelChange }
func (Compaction) entryType() string          { return TypeCompaction }
func (BranchSummary) entryType() string       { return TypeBranchSummary }
func (Custom) entryType() string              { return TypeCustom }
func (CustomMessage) entryType() string       { return TypeCustomMessage }
func (Label) entryType() string               { return TypeLabel }
func (SessionInfo) entryType() string         { return TypeSessionInfo }

// encodeEntry makes the line of an entry, without its line feed. parent is ""
// for a root.
func encodeEntry(id, parent, timestamp string, body Body) ([]byte, error) {
	head := struct {
		Type      string  `json:"type"`
		ID        string  `json:"id"`
		ParentID  *string `json:"parentId"`
		Timestamp string  `json:"timestamp"`
	}{Type: body.entryType(), ID: id, Timestamp: timestamp}
	if parent != "" {
		head.ParentID = &parent
	}
	front, err := message.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("encode entry of type %s: %w", body.entryType(), err)
	}
	back, err := message.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode entry of type %s: %w", body.entryType(), err)
	}
	if len(back) > 2 {
		front = append(front[:len(front)-1], ',')
		front = append(front, back[1:]...)
	}
	return front, nil
}
