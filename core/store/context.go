package store

import (
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
)

// ContextItem is one message of the conversation as it stands at a leaf.
type ContextItem struct {
	EntryID string // the entry it comes from; of a retained tail: the compaction
	Role    message.Role
	// Kept says that the message is older than the compaction that the context
	// begins with, and was kept by it.
	Kept  bool
	entry Entry
	raw     json.RawMessage // nil: made from the entry on demand
}

// Raw is the message as JSON, ready for the wire. It is made on demand for
// messages that the file does not hold as such (summaries and custom ones).
func (c ContextItem) Raw() json.RawMessage {
	if c.raw != nil {
		return c.raw
	}
	m, err := c.entry.Message()
	if err == nil {
		var raw []byte
		if raw, err = message.Marshal(m); err == nil {
			return raw
		}
	}
	raw, _ := message.Marshal(map[string]string{"role": string(c.Role)})
	return raw
}

// Message decodes the message. It is never nil: what does not decode becomes a
// *message.Opaque, so that one odd line does not end a conversation.
func (c ContextItem) Message() message.Message {
	var (
		m   message.Message
		err error
	)
	if c.raw != nil {
		m, err = message.Decode(c.raw)
	} else {
		m, err = c.entry.Message()
	}
	if err != nil || m == nil {
		return &message.Opaque{Name: c.Role, Raw: c.Raw()}
	}
	return m
}

// Context lists the messages of the conversation at a leaf, oldest first: what
// get_messages shows and the model sees. After a compaction that is its
// summary, what it kept, and what followed. Answers that failed and were asked
// for again are left out. It is empty for "" and for an unknown id.
func (l *Log) Context(leafID string) []ContextItem {
	branch := l.Branch(leafID)
	edits := editsOn(branch)
	summary, start := lastCompaction(branch)
	var items []ContextItem
	if summary >= 0 {
		items = append(items, ContextItem{EntryID: branch[summary].ID, Role: message.RoleCompactionSummary, entry: branch[summary]})
		items = append(items, retainedTail(branch[summary])...)
	} else {
		items = make([]ContextItem, 0, len(branch))
	}
	for i := start; i < len(branch); i++ {
		if item, ok := contextItem(branch[i]); ok && i != summary {
			item.Kept = i < summary
			items = edits.apply(items, item)
		}
	}
	return withoutRetried(items)
}

// lastCompaction finds the last compaction of a branch, -1 if there is none,
// and the first entry that counts beside it.
func lastCompaction(branch []Entry) (at, firstKept int) {
	for at = len(branch) - 1; at >= 0; at-- {
		if branch[at].Type != TypeCompaction {
			continue
		}
		var b Compaction
		if branch[at].Decode(&b) != nil || len(b.RetainedTail) > 0 || b.FirstKeptEntryID == "" {
			return at, at + 1
		}
		for i := at - 1; i >= 0; i-- {
			if branch[i].ID == b.FirstKeptEntryID {
				return at, i
			}
		}
		return at, at + 1
	}
	return -1, 0
}

func retainedTail(compaction Entry) []ContextItem {
	var b Compaction
	if compaction.Decode(&b) != nil || len(b.RetainedTail) == 0 {
		return nil
	}
	var raws []json.RawMessage
	if json.Unmarshal(b.RetainedTail, &raws) != nil {
		return nil
	}
	var items []ContextItem
	for _, raw := range raws {
		var head struct {
			Role message.Role `json:"role"`
		}
		if json.Unmarshal(raw, &head) == nil && head.Role != "" {
			items = append(items, ContextItem{EntryID: compaction.ID, Role: head.Role, Kept: true, raw: raw})
		}
	}
	return items
}

func contextItem(e Entry) (ContextItem, bool) {
	switch e.Type {
	case TypeMessage:
		if e.role == "" {
			return ContextItem{}, false
		}
		return ContextItem{EntryID: e.ID, Role: e.role, entry: e, raw: e.messageRaw()}, true
	case TypeCustomMessage:
		return ContextItem{EntryID: e.ID, Role: message.RoleCustom, entry: e}, true
	case TypeBranchSummary:
		return ContextItem{EntryID: e.ID, Role: message.RoleBranchSummary, entry: e}, true
	}
	// An earlier compaction in the kept part says nothing new: the later summary
	// was made from its summary.
	return ContextItem{}, false
}

// withoutRetried drops failed answers that are followed by another answer: a
// retry took their place.
func withoutRetried(items []ContextItem) []ContextItem {
	kept := items[:0]
	for i, item := range items {
		retried := item.entry.stop == message.StopError && i+1 < len(items) && items[i+1].Role == message.RoleAssistant
		if !retried {
			kept = append(kept, item)
		}
	}
	return kept
}

// contextEdits are the entries of type context_edit on a branch: the last one
// about an entry says what the conversation has in its place. Later versions of
// the reference write them, for attempts that were given up.
type contextEdits map[string]json.RawMessage // by target; null: left out

func editsOn(branch []Entry) contextEdits {
	var edits contextEdits
	for _, e := range branch {
		if e.Type != TypeContextEdit {
			continue
		}
		var b struct {
			TargetID    string          `json:"targetId"`
			Replacement json.RawMessage `json:"replacement"`
		}
		if e.Decode(&b) != nil || b.TargetID == "" {
			continue
		}
		if edits == nil {
			edits = contextEdits{}
		}
		edits[b.TargetID] = b.Replacement
	}
	return edits
}

func (c contextEdits) apply(items []ContextItem, item ContextItem) []ContextItem {
	replacement, edited := c[item.EntryID]
	if !edited {
		return append(items, item)
	}
	if len(replacement) == 0 || string(replacement) == "null" {
		return items
	}
	if raw, err := withContent(item, replacement); err == nil {
		item.raw = raw
	}
	return append(items, item)
}

// withContent gives the item's message with other content. Answers and tool
// results have blocks only, so a string becomes one text block there.
func withContent(item ContextItem, content json.RawMessage) (json.RawMessage, error) {
	var c message.Content
	if err := json.Unmarshal(content, &c); err != nil {
		return nil, fmt.Errorf("replacement of entry %s: %w", item.EntryID, err)
	}
	switch m := item.Message().(type) {
	case *message.User:
		m.Content = c
		return message.Marshal(m)
	case *message.Custom:
		m.Content = c
		return message.Marshal(m)
	case *message.Assistant:
		m.Content = c.Blocks()
		return message.Marshal(m)
	case *message.ToolResult:
		m.Content = c.Blocks()
		return message.Marshal(m)
	}
	return item.Raw(), nil
}

// BranchState is what a branch says about who answers on it.
type BranchState struct {
	// Provider and ModelID are those of the last model change or the last
	// answer, whichever came later; empty: the branch has neither.
	Provider, ModelID string
	// ThinkingLevel is the level last set, if HasThinkingLevel.
	ThinkingLevel    message.ThinkingLevel
	HasThinkingLevel bool
}

// BranchState reads the model and thinking level that are in force at a leaf.
func (l *Log) BranchState(leafID string) BranchState {
	var state BranchState
	branch := l.Branch(leafID)
	for i := len(branch) - 1; i >= 0; i-- {
		if state.HasThinkingLevel && state.ModelID != "" {
			break
		}
		state.readBack(branch[i])
	}
	return state
}

// readBack takes what an entry says about things that no later entry spoke of.
func (b *BranchState) readBack(e Entry) {
	switch {
	case e.Type == TypeThinkingLevelChange && !b.HasThinkingLevel:
		var change ThinkingLevelChange
		if e.Decode(&change) == nil && change.Level != "" {
			b.ThinkingLevel, b.HasThinkingLevel = change.Level, true
		}
	case e.Type == TypeModelChange && b.ModelID == "":
		var change ModelChange
		if e.Decode(&change) == nil {
			b.Provider, b.ModelID = change.Provider, change.ModelID
		}
	case e.role == message.RoleAssistant && b.ModelID == "":
		var answer struct {
			Provider string `json:"provider"`
			Model    string `json:"model"`
		}
		if json.Unmarshal(e.messageRaw(), &answer) == nil {
			b.Provider, b.ModelID = answer.Provider, answer.Model
		}
	}
}
