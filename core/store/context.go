package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-54e836f5/pi/core/message"
)

// ContextItem is one message of the conversation as it stands at a leaf.
type ContextItem struct {
	EntryID string // the entry it comes from; of a retained tail: the compaction
	Role    message.Role
	// Kept says that the message is older than the compaction that the context
	// begins with, and was kept by it.
	Kept bool

	entry *Entry          // nil: raw is all there is
	raw   json.RawMessage // nil: the entry's own
}

// Raw is the message as JSON, ready for the wire. It is made on demand for
// messages that the file does not hold as such (summaries and custom ones).
func (c ContextItem) Raw() json.RawMessage {
	switch {
	case c.raw != nil:
		return c.raw
	case c.entry.Type == TypeMessage:
		return c.entry.messageRaw()
	}
	m, err := c.entry.Message()
	if err == nil {
		var raw []byte
		if raw, err = message.Marshal(m); err == nil {
			return wireSafe(raw)
		}
	}
	raw, _ := message.Marshal(map[string]string{"role": string(c.Role)}) // strings always encode
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
// for again are left out, and those that the token limit cut off before the
// next prompt. It is empty for "" and for an unknown id.
func (l *Log) Context(leafID string) []ContextItem {
	entries, summary, body := l.contextEntries(leafID)
	edits := editsOn(entries)
	items := make([]ContextItem, 0, len(entries))
	if summary >= 0 {
		items = append(items, ContextItem{EntryID: entries[summary].ID, Role: message.RoleCompactionSummary, entry: entries[summary]})
		items = append(items, retainedTail(entries[summary].ID, body)...)
	}
	for i, e := range entries {
		if item, ok := contextItem(e); ok {
			item.Kept = i < summary
			items = edits.apply(items, item)
		}
	}
	return withoutReplaced(items)
}

// contextEntries gives the entries that make the context at a leaf, oldest
// first, with the place of the last compaction among them (-1: there is none)
// and its body. It looks no further back than the context goes: sessions grow
// much longer than their contexts.
func (l *Log) contextEntries(leafID string) (entries []*Entry, summary int, body Compaction) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	at, known := l.byID[leafID]
	if !known {
		return nil, -1, body
	}
	summary = -1
	for ; at >= 0; at = l.parents[at] {
		e := &l.entries[at]
		entries = append(entries, e)
		if summary < 0 && e.Type == TypeCompaction {
			summary = len(entries) - 1
			if e.Decode(&body) != nil || len(body.RetainedTail) > 0 {
				body.FirstKeptEntryID = ""
			}
		}
		if summary >= 0 && (body.FirstKeptEntryID == "" || e.ID == body.FirstKeptEntryID) {
			break
		}
	}
	if summary >= 0 && at < 0 {
		entries = entries[:summary+1] // what it kept is not on this branch
	}
	slices.Reverse(entries)
	if summary >= 0 {
		summary = len(entries) - 1 - summary
	}
	return entries, summary, body
}

func retainedTail(id string, compaction Compaction) []ContextItem {
	if len(compaction.RetainedTail) == 0 {
		return nil
	}
	var raws []json.RawMessage
	if json.Unmarshal(compaction.RetainedTail, &raws) != nil {
		return nil
	}
	var items []ContextItem
	for _, raw := range raws {
		var head struct {
			Role message.Role `json:"role"`
		}
		if json.Unmarshal(raw, &head) == nil && head.Role != "" {
			items = append(items, ContextItem{EntryID: id, Role: head.Role, Kept: true, raw: raw})
		}
	}
	return items
}

func contextItem(e *Entry) (ContextItem, bool) {
	switch e.Type {
	case TypeMessage:
		if e.role == "" {
			return ContextItem{}, false
		}
		return ContextItem{EntryID: e.ID, Role: e.role, entry: e}, true
	case TypeCustomMessage:
		return ContextItem{EntryID: e.ID, Role: message.RoleCustom, entry: e}, true
	case TypeBranchSummary:
		return ContextItem{EntryID: e.ID, Role: message.RoleBranchSummary, entry: e}, true
	}
	// An earlier compaction in the kept part says nothing new: the later summary
	// was made from its summary.
	return ContextItem{}, false
}

// withoutReplaced drops the answers whose place was taken by what follows: by a
// retry, where one failed, and by the next prompt, where the token limit cut
// one off.
func withoutReplaced(items []ContextItem) []ContextItem {
	kept := items[:0]
	for i, item := range items {
		if i+1 == len(items) || !item.isReplacedBy(items[i+1].Role) {
			kept = append(kept, item)
		}
	}
	return kept
}

func (c ContextItem) isReplacedBy(next message.Role) bool {
	if c.entry == nil {
		return false
	}
	switch {
	case c.entry.stop == message.StopError:
		return next == message.RoleAssistant
	case c.entry.stop == message.StopLength && next == message.RoleUser:
		answer, ok := c.Message().(*message.Assistant)
		return ok && answer.IsCutOff()
	}
	return false
}

// contextEdits are the entries of type context_edit on a branch: the last one
// about an entry says what the conversation has in its place. Later versions of
// the reference write them, for attempts that were given up.
type contextEdits map[string]json.RawMessage // by target; null: left out

func editsOn(branch []*Entry) contextEdits {
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
	l.mu.RLock()
	defer l.mu.RUnlock()
	var state BranchState
	at, known := l.byID[leafID]
	for known && at >= 0 && (!state.HasThinkingLevel || state.ModelID == "") {
		state.readBack(l.entries[at])
		at = l.parents[at]
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
