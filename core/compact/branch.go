package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/store"
)

// branchTokens is the limit of a branch summary.
const branchTokens = 2048

// ErrEmptyBranch is the error of SummariseBranch when nothing was said on the
// branch that is left.
var ErrEmptyBranch = errors.New("nothing was said on the branch that is left")

// BranchPreparation is the plan of a branch summary.
type BranchPreparation struct {
	// CommonAncestorID is the last entry that both branches share; empty: they
	// share none.
	CommonAncestorID string
	// Entries are those of the branch that is left, oldest first.
	Entries []store.Entry
	// Messages are what the entries said to the model, as much of the end as
	// fits the budget.
	Messages message.List
	FileOps  FileOps
}

// PrepareBranch plans the summary of what is left when the conversation goes on
// from newLeaf instead of oldLeaf; either may be "". budget is about how many
// tokens of the branch are summarised at most, its last message in any case; 0:
// no limit.
func PrepareBranch(log *store.Log, oldLeaf, newLeaf string, budget int64) BranchPreparation {
	old, target := log.Branch(oldLeaf), log.Branch(newLeaf)
	shared := 0
	for shared < len(old) && shared < len(target) && old[shared].ID == target[shared].ID {
		shared++
	}
	p := BranchPreparation{Entries: old[shared:], FileOps: newFileOps()}
	if shared > 0 {
		p.CommonAncestorID = old[shared-1].ID
	}
	left := make(map[string]bool, len(p.Entries))
	for _, e := range p.Entries {
		left[e.ID] = true
	}
	items := slices.DeleteFunc(log.Context(oldLeaf), func(i store.ContextItem) bool { return !left[i.EntryID] })
	var size int64
	for i := len(items) - 1; i >= 0; i-- {
		m := items[i].Message()
		if size += Estimate(m); budget > 0 && size > budget && len(p.Messages) > 0 {
			break
		}
		p.Messages = append(p.Messages, m)
	}
	slices.Reverse(p.Messages)
	p.FileOps.addCalls(p.Messages)
	p.FileOps.addSummaries(log, items)
	return p
}

// BranchOptions are what a caller of SummariseBranch may add.
type BranchOptions struct {
	Instructions string // what to look at most; empty: nothing
	// ReplaceInstructions puts Instructions in the place of our own.
	ReplaceInstructions bool
}

// SummariseBranch asks for the summary of a branch that is left, with a limit
// of its own and without thinking. The same is refused as by Summarise.
func SummariseBranch(ctx context.Context, caller Caller, p BranchPreparation, o BranchOptions) (Summary, error) {
	conversation := Serialize(p.Messages)
	if conversation == "" {
		return Summary{}, ErrEmptyBranch
	}
	instructions := branchInstructions
	focus := strings.TrimSpace(o.Instructions)
	switch {
	case focus == "":
	case o.ReplaceInstructions:
		instructions = focus
	default:
		instructions += focusLine + focus
	}
	s := summariser{ctx: ctx, caller: caller}
	text, err := s.complete(provider.Request{
		System:    systemPrompt,
		Messages:  []message.Message{message.NewUser("<conversation>\n"+conversation+"\n</conversation>\n\n"+instructions, nil, 0)},
		MaxTokens: branchTokens,
		Thinking:  message.ThinkingOff,
	})
	if err != nil {
		return Summary{}, fmt.Errorf("summarise the branch that is left: %w", err)
	}
	return s.done(branchPreamble+text, p.FileOps)
}
