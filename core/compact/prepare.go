package compact

import (
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
	TokensBefore       int64        `json:"tokensBefore"`    // size of the context now
	PreviousSummary    string       `json:"previousSummary"` // of the last compaction; empty: there was none
	FileOps            FileOps      `json:"fileOps"`         // what the summary's file lists are made of
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
	p := Preparation{TokensBefore: ContextTokens(items).Tokens, FileOps: newFileOps(), Settings: s}
	start := 0
	if items[0].Role == message.RoleCompactionSummary {
		if !saidSince(items) {
			return Preparation{}, ErrAlreadyCompacted
		}
		if err := p.readPrevious(log, items[0].EntryID); err != nil {
			return Preparation{}, err
		}
		start = carried(items)
		items = items[1:]
	}
	messages := make([]message.Message, len(items))
	for i, item := range items {
		messages[i] = item.Message()
	}
	allowed := cutPoints(messages)
	cut := cutPoint(messages, allowed, start, s.KeepRecentTokens)
	if len(message.ForModel(messages[:cut])) == 0 {
		return Preparation{}, ErrTooSmall
	}
	turn := turnStart(messages, allowed, cut)
	p.FirstKeptEntryID = items[cut].EntryID
	p.MessagesToSummarize = messages[:turn]
	p.TurnPrefixMessages = messages[turn:cut]
	p.IsSplitTurn = turn < cut
	p.FileOps.addCalls(messages[:cut])
	p.FileOps.addSummaries(log, items[:cut])
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
	if details, ok := readDetails(c.Details, c.FromHook); ok {
		p.FileOps.addDetails(details)
		// The lists are made anew for the next summary.
		p.PreviousSummary = strings.TrimSuffix(c.Summary, details.blocks())
	}
	return nil
}

// carried counts the messages that a compaction carries along itself: they have
// no entries of their own that the kept part could begin with.
func carried(items []store.ContextItem) int {
	n := 0
	for n+1 < len(items) && items[n+1].EntryID == items[0].EntryID {
		n++
	}
	return n
}

// cutPoint finds where the kept part begins: at the first allowed place behind
// which it is as small as it should be, or before that where there is none. It
// does not begin before start, and is 0 when everything is kept.
func cutPoint(messages []message.Message, allowed []bool, start int, keep int64) int {
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
func turnStart(messages []message.Message, allowed []bool, cut int) int {
	begins := func(i int) bool { return allowed[i] && opensTurn(messages[i]) }
	if cut == 0 || begins(cut) {
		return cut
	}
	i := cut - 1
	for i >= 0 && !begins(i) {
		i--
	}
	if i < 0 {
		return cut // the turn's beginning is part of the previous summary
	}
	for i > 0 && begins(i-1) {
		i--
	}
	return i
}

func opensTurn(m message.Message) bool {
	switch m.(type) {
	case *message.User, *message.BashExecution, *message.Custom, *message.BranchSummary:
		return true
	}
	return false
}
