package compact

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

var (
	// ErrTooSmall is the error of Prepare when everything would be kept.
	ErrTooSmall = errors.New("nothing to compact: the whole conversation is within what is kept")
	// ErrAlreadyCompacted is the error of Prepare when nothing was said since
	// the last compaction.
	ErrAlreadyCompacted = errors.New("nothing to compact: nothing was said since the last compaction")
)

// Preparation is the plan of a compaction. Its JSON form is what the hook
// session_before_compact gets.
type Preparation struct {
	// FirstKeptEntryID is the entry that the kept part begins with.
	FirstKeptEntryID string `json:"firstKeptEntryId"`
	// MessagesToSummarize are the whole turns before the kept part, from where
	// the last compaction's kept part began.
	MessagesToSummarize message.List `json:"messagesToSummarize"`
	// TurnPrefixMessages are the beginning of the turn that the kept part
	// begins within; empty unless IsSplitTurn.
	TurnPrefixMessages message.List `json:"turnPrefixMessages"`
	IsSplitTurn        bool         `json:"isSplitTurn"`
	TokensBefore       int64        `json:"tokensBefore"`              // size of the context now
	PreviousSummary    string       `json:"previousSummary,omitempty"` // of the last compaction; empty: there was none
	FileOps            FileOps      `json:"fileOps"`                   // what the summary's file lists are made of
	Settings           Settings     `json:"settings"`
}

// Prepare plans a compaction of the conversation at a leaf.
//
// The kept part is as much of the end as reaches Settings.KeepRecentTokens by
// estimate. It begins with an answer, or with something that was said to the
// model; never between a tool call and its result.
func Prepare(log *store.Log, leafID string, s Settings) (Preparation, error) {
	items := log.Context(leafID)
	if len(items) == 0 {
		return Preparation{}, ErrTooSmall
	}
	p := Preparation{TokensBefore: ContextTokens(items).Tokens, Settings: s}
	if items[0].Role == message.RoleCompactionSummary {
		if !saidSince(items) {
			return Preparation{}, ErrAlreadyCompacted
		}
		if err := p.readPrevious(log, items[0].EntryID); err != nil {
			return Preparation{}, err
		}
		items = items[1:]
	}
	messages := make([]message.Message, len(items))
	for i, item := range items {
		messages[i] = item.Message()
	}
	cut := cutPoint(messages, fixedStart(items), s.KeepRecentTokens)
	if len(message.ForModel(messages[:cut])) == 0 {
		return Preparation{}, ErrTooSmall
	}
	turn := turnStart(messages, cut)
	p.FirstKeptEntryID = items[cut].EntryID
	p.MessagesToSummarize = messages[:turn]
	p.TurnPrefixMessages = messages[turn:cut]
	p.IsSplitTurn = turn < cut
	p.FileOps.addCalls(messages[:cut])
	p.addBranchFiles(log, items[:cut])
	return p, nil
}

// saidSince says whether a context that begins with a compaction holds anything
// that came after it.
func saidSince(items []store.ContextItem) bool {
	for _, item := range items[1:] {
		if !item.Kept {
			return true
		}
	}
	return false
}

// readPrevious takes over the summary and file lists of the last compaction.
func (p *Preparation) readPrevious(log *store.Log, entryID string) error {
	entry, ok := log.Entry(entryID)
	if !ok {
		return fmt.Errorf("previous compaction: %w: %s", store.ErrEntryNotFound, entryID)
	}
	var c store.Compaction
	if err := entry.Decode(&c); err != nil {
		return fmt.Errorf("previous compaction: %w", err)
	}
	p.PreviousSummary = c.Summary
	if c.FromHook {
		return nil // its details are the extension's own
	}
	if details, ok := readDetails(c.Details); ok {
		p.FileOps.addDetails(details)
		// The lists are made anew for the next summary.
		p.PreviousSummary = strings.TrimSuffix(c.Summary, details.blocks())
	}
	return nil
}

func (p *Preparation) addBranchFiles(log *store.Log, items []store.ContextItem) {
	for _, item := range items {
		if item.Role != message.RoleBranchSummary {
			continue
		}
		entry, ok := log.Entry(item.EntryID)
		if !ok {
			continue
		}
		var b store.BranchSummary
		if entry.Decode(&b) != nil || b.FromHook {
			continue
		}
		if details, ok := readDetails(b.Details); ok {
			p.FileOps.addDetails(details)
		}
	}
}

func readDetails(raw json.RawMessage) (Details, bool) {
	var d Details
	return d, len(raw) > 0 && json.Unmarshal(raw, &d) == nil
}

// fixedStart is the first item that the kept part may begin with: messages that
// a compaction carries along have no entries of their own.
func fixedStart(items []store.ContextItem) int {
	i := 0
	for i+1 < len(items) && items[i].EntryID == items[i+1].EntryID {
		i++
	}
	if i > 0 {
		return i + 1
	}
	return 0
}

// cutPoint finds where the kept part begins: at the first allowed place from
// where the rest is still as large as it should be, or before that where there
// is none. It is 0 when everything is kept.
func cutPoint(messages []message.Message, start int, keep int64) int {
	allowed := cutPoints(messages)
	at := len(messages)
	for size := int64(0); at > 0 && size < keep; {
		at--
		size += Estimate(messages[at])
		if at == 0 && size < keep {
			return 0
		}
	}
	for i := max(at, start); i < len(messages); i++ {
		if allowed[i] {
			return i
		}
	}
	for i := min(at, len(messages)-1); i >= start && i > 0; i-- {
		if allowed[i] {
			return i
		}
	}
	return 0
}

// cutPoints says at which messages the kept part may begin.
func cutPoints(messages []message.Message) []bool {
	allowed := make([]bool, len(messages))
	asked := map[string]int{}
	for i, m := range messages {
		switch m := m.(type) {
		case *message.ToolResult:
			// Also what slid between the call and its result stays with them.
			if call, ok := asked[m.ToolCallID]; ok {
				clear(allowed[call+1 : i])
			}
		case *message.Assistant:
			allowed[i] = true
			for _, call := range m.ToolCalls() {
				asked[call.ID] = i
			}
		case *message.Opaque:
		default:
			allowed[i] = true
		}
	}
	return allowed
}

// turnStart gives the beginning of the turn that the message at cut lies
// within, or cut itself when a turn begins there.
func turnStart(messages []message.Message, cut int) int {
	if cut == 0 || beginsTurn(messages[cut]) {
		return cut
	}
	i := cut - 1
	for i >= 0 && !beginsTurn(messages[i]) {
		i--
	}
	if i < 0 {
		return cut // the turn's beginning is part of the previous summary
	}
	for i > 0 && beginsTurn(messages[i-1]) {
		i--
	}
	return i
}

func beginsTurn(m message.Message) bool {
	switch m.(type) {
	case *message.User, *message.BashExecution, *message.Custom, *message.BranchSummary:
		return true
	}
	return false
}
