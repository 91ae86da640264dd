package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// compactionLimit is how many automatic compactions in a row may leave the
// next answer over the threshold before they are given up: what fills the
// window is then something that a summary cannot replace.
const compactionLimit = 3

// ErrCompactionAborted is the error of a compaction that an abort, or a hook,
// ended.
var ErrCompactionAborted = errors.New("compaction was cancelled")

// compaction is one compaction while it runs. There is never a second one.
type compaction struct {
	ctx    context.Context
	done   chan struct{}      // closed when clients know its end
	cancel context.CancelFunc // what an abort calls; guarded by Session.mu
	ending bool               // its end is just being told; guarded by Session.mu
}

// SetAutoCompaction switches automatic compaction on and off, in this
// session.
func (s *Session) SetAutoCompaction(on bool) {
	s.choose("compaction.enabled", func(set *Settings) { set.Compaction.Enabled = on })
}

// Compact replaces the older part of the conversation by a summary. A run is
// aborted first; prompts that come meanwhile run afterwards. The call takes
// its place in the order of prompts and returns at once; wait gives the
// outcome, and may be called once. The error is ErrCompactionAborted after an
// abort or the end of ctx, wraps compact.ErrTooSmall or
// compact.ErrAlreadyCompacted where there is nothing to do, and is ErrClosed
// after Close; whatever it is, the conversation stays as it was.
func (s *Session) Compact(ctx context.Context, instructions string) (wait func() (*event.CompactionResult, error)) {
	type outcome struct {
		result *event.CompactionResult
		err    error
	}
	done := make(chan outcome, 1)
	s.gate.hold(func(release func()) {
		s.owned.run(func() {
			s.stopRun()
			c, err := s.beginCompaction(ctx)
			release()
			var result *event.CompactionResult
			if err == nil {
				result, err = s.compact(c, event.CompactManual, instructions, false)
			}
			done <- outcome{result, err}
		})
	})
	return func() (*event.CompactionResult, error) {
		o := <-done
		return o.result, o.err
	}
}

func (s *Session) beginCompaction(ctx context.Context) (*compaction, error) {
	c := &compaction{done: make(chan struct{})}
	work, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	c.ctx, c.cancel = work, func() { stop(); cancel() }
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.cancel()
		return nil, ErrClosed
	}
	s.compacting = c
	return c, nil
}

// waitCompaction lets a run begin only when no compaction is on. Who aborts
// the run also aborts that, so its end is near then.
func (s *Session) waitCompaction() {
	s.mu.Lock()
	c := s.compacting
	s.mu.Unlock()
	if c != nil {
		<-c.done
	}
}

// compactionAhead says whether a run must wait for a compaction, one that is
// on or its own, before it can begin.
func (s *Session) compactionAhead(r *run) bool {
	s.mu.Lock()
	on := s.compacting != nil
	s.mu.Unlock()
	return on || s.compactionDue(r)
}

// compactIfNeeded makes a context smaller that has grown over the threshold.
// That is looked at before a prompt, between the turns of a run, and after it.
func (s *Session) compactIfNeeded(r *run) {
	if !s.compactionDue(r) {
		return
	}
	if errors.Is(s.compactAutomatically(r, event.CompactThreshold, false), ErrCompactionAborted) {
		return
	}
	s.mu.Lock()
	s.uselessCompactions++
	last := s.uselessCompactions == compactionLimit
	model, settings := s.model, s.settings.Compaction
	s.mu.Unlock()
	if last {
		s.emit(s.tellContext(r), &event.CompactionEnd{Reason: event.CompactThreshold, ErrorMessage: fmt.Sprintf(
			"%d compactions in a row left the context over %d of %d tokens; automatic compaction pauses until an answer fits. Use a model with a larger window, or fewer tools and context files",
			compactionLimit, model.ContextWindow-settings.ReserveTokens, model.ContextWindow)})
	}
}

func (s *Session) compactionDue(r *run) bool {
	s.mu.Lock()
	model, settings, c := s.model, s.settings.Compaction, s.conversation
	given := s.uselessCompactions >= compactionLimit
	s.mu.Unlock()
	if model == nil || given || r.ctx.Err() != nil || !settings.Enabled {
		return false
	}
	size := compact.ContextTokens(c.log.Context(c.log.Leaf()))
	return compact.ShouldCompact(size.Tokens, model.ContextWindow, settings) && canCompact(c, settings)
}

// canCompact says whether there is anything to summarise. An automatic
// compaction that has nothing to do is not worth a word to clients.
func canCompact(c *conversation, settings compact.Settings) bool {
	_, err := compact.Prepare(c.log, c.log.Leaf(), settings)
	return !errors.Is(err, compact.ErrTooSmall) && !errors.Is(err, compact.ErrAlreadyCompacted)
}

// sawAnswer looks at the context after an answer that ended well: one that
// fits shows that compaction helps.
func (s *Session) sawAnswer() {
	s.mu.Lock()
	c, model, settings, pointless := s.conversation, s.model, s.settings.Compaction, s.uselessCompactions
	s.mu.Unlock()
	if pointless == 0 {
		return
	}
	size := compact.ContextTokens(c.log.Context(c.log.Leaf()))
	if model != nil && compact.ShouldCompact(size.Tokens, model.ContextWindow, settings) {
		return
	}
	s.mu.Lock()
	s.uselessCompactions = 0
	s.mu.Unlock()
}

func (s *Session) compactAutomatically(r *run, reason event.CompactionReason, willRetry bool) error {
	c, err := s.beginCompaction(r.ctx)
	if err != nil {
		return err
	}
	_, err = s.compact(c, reason, "", willRetry)
	return err
}

// recoverOverflow makes room after the service said that the request was too
// large, and has it sent again, once.
func (s *Session) recoverOverflow(r *run) step {
	s.mu.Lock()
	settings, c := s.settings.Compaction, s.conversation
	s.mu.Unlock()
	if !settings.Enabled {
		return finished
	}
	if r.overflowed {
		s.emit(s.tellContext(r), &event.CompactionEnd{Reason: event.CompactOverflow, ErrorMessage: "The request is still too large after a compaction. Shorten the conversation, or use a model with a larger context window"})
		return finished
	}
	if !canCompact(c, settings) {
		return finished // the service's own words say what is wrong
	}
	r.overflowed = true
	if s.compactAutomatically(r, event.CompactOverflow, true) != nil {
		return finished // clients were told why
	}
	c.dropLast(failed)
	return again
}

func failed(m *message.Assistant) bool { return m.StopReason == message.StopError }

// compact carries a compaction out, and tells clients and extensions how it
// went.
func (s *Session) compact(c *compaction, reason event.CompactionReason, instructions string, willRetry bool) (*event.CompactionResult, error) {
	defer func() { c.cancel() }()
	s.emit(s.life, &event.CompactionStart{Reason: reason})
	entry, result, err := s.makeCompaction(c.ctx, reason, instructions, willRetry)
	if err != nil && c.ctx.Err() != nil {
		err = ErrCompactionAborted
	}
	watch := s.endCompaction(c)
	end := &event.CompactionEnd{Reason: reason, Result: result, WillRetry: willRetry && err == nil}
	switch {
	case errors.Is(err, ErrCompactionAborted):
		end.Aborted = true
	case err != nil && reason == event.CompactManual:
		end.ErrorMessage = "Compaction failed: " + err.Error()
	case err != nil:
		end.ErrorMessage = "Automatic compaction failed: " + err.Error()
	}
	// As with all events, extensions know before clients do.
	if err != nil {
		s.config.Hooks.Tell(watch, &event.SessionCompactFailed{Reason: reason, Aborted: end.Aborted, ErrorMessage: end.ErrorMessage})
	} else {
		s.config.Hooks.Tell(watch, &event.SessionCompact{CompactionEntry: entry.Raw, FromExtension: entry.fromHook, Reason: reason, WillRetry: willRetry})
	}
	s.emit(s.life, end)
	s.mu.Lock()
	s.compacting = nil
	s.mu.Unlock()
	close(c.done)
	return result, err
}

// endCompaction says that only telling of a compaction is left, and gives what
// hooks are told under: an abort ends what they wait for, also the one after
// that which ended the compaction.
func (s *Session) endCompaction(c *compaction) (watch context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ending = true
	watch = c.ctx
	if watch.Err() != nil {
		c.cancel()
		watch, c.cancel = context.WithCancel(s.life)
	}
	return watch
}

// madeCompaction is the entry that a compaction became.
type madeCompaction struct {
	Raw      json.RawMessage
	fromHook bool
}

func (s *Session) makeCompaction(ctx context.Context, reason event.CompactionReason, instructions string, willRetry bool) (madeCompaction, *event.CompactionResult, error) {
	s.mu.Lock()
	c, settings, model := s.conversation, s.settings.Compaction, s.model
	s.mu.Unlock()
	if model == nil {
		return madeCompaction{}, nil, errors.New(s.config.NoModel)
	}
	plan, err := compact.Prepare(c.log, c.log.Leaf(), settings)
	if err != nil {
		return madeCompaction{}, nil, err
	}
	body, err := s.askForCompaction(ctx, c, plan, reason, instructions, willRetry)
	if err != nil {
		return madeCompaction{}, nil, err
	}
	if body == nil {
		caller := &summaryCaller{session: s, retry: event.SummaryRetryAttempt{Source: "compaction", Reason: reason}}
		summary, err := compact.Summarise(ctx, caller, plan, compact.Options{Instructions: instructions, ContextWindow: model.ContextWindow})
		caller.finish()
		if err != nil {
			return madeCompaction{}, nil, err
		}
		body = &store.Compaction{
			Summary: summary.Text, FirstKeptEntryID: plan.FirstKeptEntryID, TokensBefore: plan.TokensBefore,
			Details: summary.Details, Usage: &summary.Usage,
		}
	}
	if ctx.Err() != nil {
		return madeCompaction{}, nil, ctx.Err()
	}
	entry, err := s.appendEntry(c, *body)
	if err != nil {
		return madeCompaction{}, nil, fmt.Errorf("note the compaction in the session: %w", err)
	}
	c.reload()
	return madeCompaction{entry.Raw, body.FromHook}, &event.CompactionResult{
		Summary: body.Summary, FirstKeptEntryID: body.FirstKeptEntryID, TokensBefore: body.TokensBefore,
		EstimatedTokensAfter: compact.EstimateItems(c.log.Context(c.log.Leaf())), Usage: body.Usage, Details: body.Details,
	}, nil
}

// askForCompaction lets extensions cancel a compaction or bring a summary of
// their own; nil: nobody did.
func (s *Session) askForCompaction(ctx context.Context, c *conversation, plan compact.Preparation, reason event.CompactionReason, instructions string, willRetry bool) (*store.Compaction, error) {
	if !s.config.Hooks.Wanted(event.KindSessionBeforeCompact) {
		return nil, nil
	}
	preparation, err := message.Marshal(plan)
	if err != nil {
		return nil, fmt.Errorf("describe the compaction for extensions: %w", err)
	}
	e := &event.SessionBeforeCompact{Preparation: preparation, CustomInstructions: instructions, Reason: reason, WillRetry: willRetry}
	for _, entry := range c.log.Branch(c.log.Leaf()) {
		e.BranchEntries = append(e.BranchEntries, entry.Raw)
	}
	result := hook.Decide[event.SessionBeforeCompactResult](ctx, s.config.Hooks, e)
	if result.Cancel {
		return nil, ErrCompactionAborted
	}
	own := result.Compaction
	if own == nil {
		return nil, nil
	}
	body := &store.Compaction{
		Summary: own.Summary, FirstKeptEntryID: own.FirstKeptEntryID, TokensBefore: own.TokensBefore,
		Details: own.Details, Usage: own.Usage, FromHook: true,
	}
	if body.FirstKeptEntryID == "" {
		body.FirstKeptEntryID = plan.FirstKeptEntryID
	}
	if body.TokensBefore == 0 {
		body.TokensBefore = plan.TokensBefore
	}
	if _, ok := c.log.Entry(body.FirstKeptEntryID); !ok {
		return nil, fmt.Errorf("the summary of an extension names firstKeptEntryId %s: %w", body.FirstKeptEntryID, store.ErrEntryNotFound)
	}
	return body, nil
}

// summarizeBranch asks the model about a branch that is left.
func (s *Session) summarizeBranch(ctx context.Context, c *conversation, from, to, instructions string) (*store.BranchSummary, error) {
	model := s.Model()
	if model == nil {
		return nil, errors.New(s.config.NoModel)
	}
	s.mu.Lock()
	reserve := s.settings.BranchReserve
	s.mu.Unlock()
	var budget int64
	if model.ContextWindow > 0 {
		budget = max(1, model.ContextWindow-reserve)
	}
	plan := compact.PrepareBranch(c.log, from, to, budget)
	caller := &summaryCaller{session: s, retry: event.SummaryRetryAttempt{Source: "branchSummary"}}
	summary, err := compact.SummariseBranch(ctx, caller, plan, compact.BranchOptions{Instructions: instructions})
	caller.finish()
	if errors.Is(err, compact.ErrEmptyBranch) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &store.BranchSummary{FromID: branchPoint(to), Summary: summary.Text, Details: summary.Details, Usage: &summary.Usage}, nil
}
