package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// ForkMessage is a user message that a fork can begin before.
type ForkMessage struct {
	EntryID string
	Text    string
}

// ForkMessages lists the user messages of the session that have a text, in the
// order they were added, those of other branches included.
func (s *Session) ForkMessages() []ForkMessage {
	list := []ForkMessage{}
	for _, e := range s.currentConversation().log.Entries() {
		if e.Role() != message.RoleUser {
			continue
		}
		m, err := e.Message()
		if err != nil {
			continue
		}
		if text := message.TextOf(m); text != "" {
			list = append(list, ForkMessage{EntryID: e.ID, Text: text})
		}
	}
	return list
}

// Entries lists the entries behind the one named, or all with nil, in the
// order they were added, and the leaf; nil for an empty session. The error wraps
// store.ErrEntryNotFound.
func (s *Session) Entries(since *string) (entries []json.RawMessage, leafID *string, err error) {
	log := s.currentConversation().log
	list := log.Entries()
	if since != nil {
		if list, err = log.Since(*since); err != nil {
			return nil, nil, err
		}
	}
	entries = make([]json.RawMessage, len(list))
	for i, e := range list {
		entries[i] = e.Raw
	}
	return entries, leafOf(log), nil
}

// Branch lists the entries from the root to the one named, or to the leaf with
// nil, and the leaf; nil for an empty session. The error wraps
// store.ErrEntryNotFound.
func (s *Session) Branch(to *string) (entries []json.RawMessage, leafID *string, err error) {
	log := s.currentConversation().log
	leafID = leafOf(log)
	if to == nil {
		to = leafID
	}
	entries = []json.RawMessage{}
	if to == nil {
		return entries, nil, nil
	}
	list := log.Branch(*to)
	if list == nil {
		return nil, nil, fmt.Errorf("%w: %s", store.ErrEntryNotFound, *to)
	}
	for _, e := range list {
		entries = append(entries, e.Raw)
	}
	return entries, leafID, nil
}

// Tree gives the roots of the session, in memory of the caller's own, and the
// leaf; nil for an empty session. Entries whose parent is missing are roots
// too.
func (s *Session) Tree() (roots []*store.Node, leafID *string) {
	log := s.currentConversation().log
	return log.Tree(), leafOf(log)
}

func leafOf(log *store.Log) *string {
	if leaf := log.Leaf(); leaf != "" {
		return &leaf
	}
	return nil
}

// SetLabel marks an entry; an empty label takes the mark away. The error wraps
// store.ErrEntryNotFound, or store.ErrClosed after Close.
func (s *Session) SetLabel(entryID, label string) error {
	c := s.currentConversation()
	if _, ok := c.log.Entry(entryID); !ok {
		return fmt.Errorf("%w: %s", store.ErrEntryNotFound, entryID)
	}
	if _, err := s.appendEntry(c, store.Label{TargetID: entryID, Label: label}); err != nil {
		return fmt.Errorf("label entry %s: %w", entryID, err)
	}
	return nil
}

// Navigate says where to move the leaf.
type Navigate struct {
	TargetID           string
	Summarize          bool   // tell the model about the branch that is left
	CustomInstructions string // for the summary
	Label              string // mark the new place; empty: no mark
}

// Navigated is what came of it.
type Navigated struct {
	Cancelled    bool            // a hook or an abort did not want it; nothing changed
	EditorText   *string         // text of the user message that was left behind; nil: it was none
	SummaryEntry json.RawMessage // of the branch that was left; nil: none was made
}

// NavigateTree moves the leaf to another entry; to a user message means to
// the place before it, with its text given back. It takes its place in the
// order of prompts, like a change of session; wait gives the outcome, and may be
// called once. The error wraps store.ErrEntryNotFound, or is ErrClosed after
// Close; during a run there is one too.
func (s *Session) NavigateTree(ctx context.Context, n Navigate) (wait func() (Navigated, error)) {
	type outcome struct {
		navigated Navigated
		err       error
	}
	done := make(chan outcome, 1)
	s.gate.hold(func(release func()) {
		s.afterSettling(func() {
			s.mu.Unlock()
			s.owned.run(func() {
				defer release()
				ctx, end := s.beginChange(ctx)
				defer end()
				navigated, err := s.navigate(ctx, n)
				done <- outcome{navigated, err}
			})
		})
	})
	return func() (Navigated, error) {
		o := <-done
		return o.navigated, o.err
	}
}

func (s *Session) navigate(ctx context.Context, n Navigate) (Navigated, error) {
	if s.isClosed() {
		return Navigated{}, ErrClosed
	}
	if !s.IsIdle() {
		return Navigated{}, errors.New("navigate_tree: a run is on: wait for agent_settled, or abort first")
	}
	s.waitCompaction() // it belongs to the branch that is left
	c := s.currentConversation()
	target, ok := c.log.Entry(n.TargetID)
	if !ok {
		return Navigated{}, fmt.Errorf("%w: %s", store.ErrEntryNotFound, n.TargetID)
	}
	leaf, navigated := target.ID, Navigated{}
	if target.Role() == message.RoleUser {
		leaf = parentIn(c.log, target)
		if m, err := target.Message(); err == nil {
			text := message.TextOf(m)
			navigated.EditorText = &text
		}
	}
	old := c.log.Leaf()
	summary, label, cancelled, err := s.branchSummary(ctx, c, old, leaf, n)
	if cancelled || ctx.Err() != nil { // an abort is a no
		return Navigated{Cancelled: true}, nil
	}
	if err != nil {
		return Navigated{}, err
	}
	if err := c.log.SetLeaf(leaf); err != nil {
		return Navigated{}, fmt.Errorf("move to entry %s: %w", leaf, err)
	}
	marked := target.ID
	if summary != nil {
		entry, err := s.appendEntry(c, *summary)
		if err != nil {
			return Navigated{}, fmt.Errorf("note the summary of the branch: %w", err)
		}
		navigated.SummaryEntry = entry.Raw
		marked = entry.ID
	}
	if label != "" {
		if _, err := s.appendEntry(c, store.Label{TargetID: marked, Label: label}); err != nil {
			return Navigated{}, fmt.Errorf("label the place: %w", err)
		}
	}
	c.reload()
	s.restore(c)
	s.tellTree(c, old, navigated.SummaryEntry, summary != nil && summary.FromHook)
	return navigated, nil
}

// branchSummary gets the summary of the branch that is left: an extension's,
// or the model's where one was asked for; nil: none.
func (s *Session) branchSummary(ctx context.Context, c *conversation, from, to string, n Navigate) (summary *store.BranchSummary, label string, cancelled bool, err error) {
	label = n.Label
	if s.config.Hooks.Wanted(event.KindSessionBeforeTree) {
		e, err := treeEvent(c, from, to, n)
		if err != nil {
			return nil, "", false, err
		}
		result := hook.Decide[event.SessionBeforeTreeResult](ctx, s.config.Hooks, e)
		if result.Cancel {
			return nil, "", true, nil
		}
		if result.Label != "" {
			label = result.Label
		}
		if result.CustomInstructions != "" {
			n.CustomInstructions = result.CustomInstructions
		}
		if own := result.Summary; own != nil {
			return &store.BranchSummary{FromID: branchPoint(to), Summary: own.Summary, Details: own.Details, Usage: own.Usage, FromHook: true}, label, false, nil
		}
	}
	if !n.Summarize {
		return nil, label, false, nil
	}
	summary, err = s.summarizeBranch(ctx, c, from, to, n.CustomInstructions)
	return summary, label, false, err
}

func treeEvent(c *conversation, from, to string, n Navigate) (*event.SessionBeforeTree, error) {
	preparation, err := message.Marshal(map[string]any{
		"targetId": n.TargetID, "oldLeafId": optional(from), "commonAncestorId": optional(commonAncestor(c.log, from, to)),
		"userWantsSummary": n.Summarize, "customInstructions": n.CustomInstructions, "replaceInstructions": false, "label": n.Label,
		"entriesToSummarize": left(c.log, from, to),
	})
	if err != nil {
		return nil, fmt.Errorf("describe the move for extensions: %w", err)
	}
	return &event.SessionBeforeTree{Preparation: preparation}, nil
}

// commonAncestor is the last entry that is on both branches; empty: there is
// none.
func commonAncestor(log *store.Log, from, to string) string {
	old, target := log.Branch(from), log.Branch(to)
	last := ""
	for i := 0; i < len(old) && i < len(target) && old[i].ID == target[i].ID; i++ {
		last = old[i].ID
	}
	return last
}

// branchPoint is what a summary names as the place that it hangs at: the entry
// that the branch begins behind.
func branchPoint(leaf string) string { return cmp.Or(leaf, "root") }

// left lists the entries that are on the old branch and not on the new one.
func left(log *store.Log, from, to string) []json.RawMessage {
	stays := map[string]bool{}
	for _, e := range log.Branch(to) {
		stays[e.ID] = true
	}
	raws := []json.RawMessage{}
	for _, e := range log.Branch(from) {
		if !stays[e.ID] {
			raws = append(raws, e.Raw)
		}
	}
	return raws
}

func optional(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

func (s *Session) tellTree(c *conversation, old string, summary json.RawMessage, fromHook bool) {
	if !s.config.Hooks.Wanted(event.KindSessionTree) {
		return
	}
	s.config.Hooks.Tell(s.life, &event.SessionTree{
		NewLeafID: leafOf(c.log), OldLeafID: optional(old), SummaryEntry: summary, FromExtension: fromHook,
	})
}
