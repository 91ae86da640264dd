package session

import (
	"context"
	"slices"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/tool"
)

// run is everything that one prompt began, until it has settled: low-level
// runs, waits before retries, compactions, and what was queued meanwhile.
type run struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when the session is idle again

	// What follows is guarded by Session.mu.
	aborted bool
	// aftermath is what hooks run under once the run was aborted, so that they
	// still learn how it ended; another abort ends it, and begins a new one.
	aftermath    context.Context
	endAftermath context.CancelFunc
	preparing    bool               // hooks have the prompt still, and may refuse it
	later        []func()           // what waits for the end of that
	skipRetry    context.CancelFunc // ends the wait before a retry; nil: there was none yet

	// What follows belongs to the run's goroutine.
	systemPrompt *string // what hooks made of it for this run; nil: as it is

	attempt    int  // retries of the saga that is open; 0: none is
	overflowed bool // the one compact-and-retry of this run was used

	rules    *rule.Watcher // of its answers; nil: no rule watches
	reminder agent.Queued  // of rules that stopped an answer, for the next one to begin with
}

// newRun takes the session's one place for a run. The caller holds mu.
func (s *Session) newRun() *run {
	r := &run{done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(s.life)
	r.aftermath, r.endAftermath = newAftermath(s.life)
	s.run, s.streaming = r, true
	return r
}

// newAftermath is for hooks that a client who has aborted waits for.
func newAftermath(life context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(hook.Hurried(life))
}

// abort stops a run; life is the session's. The caller holds Session.mu.
func (r *run) abort(life context.Context) {
	if r.aborted {
		r.endAftermath()
		r.aftermath, r.endAftermath = newAftermath(life)
	}
	r.aborted = true
	r.cancel()
}

// Abort stops what runs: the run with its dialogs and tools, a wait before a
// retry, a compaction, a change of session that waits for a dialog. It takes
// effect before it returns; the channel is closed when the session is idle,
// which a handler that is part of it must not wait for. Queued messages stay in
// the queue. Prompts that wait for extensions to come up are refused with
// ErrWithdrawn: that may take long, and an abort must not.
func (s *Session) Abort() <-chan struct{} {
	s.mu.Lock()
	withdrawn := s.withdraw()
	s.mu.Unlock()
	for _, a := range withdrawn {
		a.accepted("", ErrWithdrawn)
	}
	return s.AbortInTurn()
}

// AbortInTurn is Abort for those who end the session: no prompt is refused,
// and those that wait for extensions begin and end in their turn.
func (s *Session) AbortInTurn() <-chan struct{} {
	s.mu.Lock()
	nothing := !s.queue.promptsEnter() && s.run == nil && s.compacting == nil && s.changing == nil
	for _, a := range s.queue.entering {
		a.aborted = true
	}
	s.queue.dismissDialogs()
	if s.run != nil {
		s.run.abort(s.life)
	}
	if s.compacting != nil {
		s.compacting.cancel()
	}
	if s.changing != nil {
		s.changing()
	}
	s.mu.Unlock()
	idle := make(chan struct{})
	if nothing {
		close(idle)
		return idle
	}
	s.gate.pass(func() {
		s.mu.Lock()
		r, c := s.run, s.compacting
		s.mu.Unlock()
		s.owned.run(func() {
			defer close(idle)
			if r != nil {
				<-r.done
			}
			if c != nil {
				<-c.done
			}
		})
	})
	return idle
}

// withdraw takes the prompts out of the line that wait for extensions to come
// up. The caller holds mu.
func (s *Session) withdraw() []*admission {
	if s.extensionsUp() {
		return nil
	}
	var list []*admission
	for _, a := range slices.Clone(s.queue.entering) {
		if a.to == nil {
			a.withdrawn = true
			s.queue.leave(a)
			list = append(list, a)
		}
	}
	return list
}

// WaitIdle returns when no run is on, or with the error of ctx. A handler that
// is part of a run would wait for itself: only commands may call it.
func (s *Session) WaitIdle(ctx context.Context) error {
	for {
		s.mu.Lock()
		r := s.run
		s.mu.Unlock()
		if r == nil {
			return nil
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// IsIdle says whether no run is on.
func (s *Session) IsIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.streaming
}

// HasPendingMessages says whether the queue holds anything.
func (s *Session) HasPendingMessages() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.count() > 0
}

// start begins a run whose messages need no preparation. The caller does not
// hold mu.
func (s *Session) start(r *run, messages []agent.Queued) {
	s.owned.run(func() {
		s.waitCompaction()
		s.drive(r, messages)
		s.settle(r)
	})
}

// prepared says that hooks are through with what a run begins with: what
// waited for that goes on.
func (s *Session) prepared(r *run) {
	s.mu.Lock()
	later := r.later
	r.preparing, r.later = false, nil
	s.mu.Unlock()
	for _, f := range later {
		f()
	}
}

// abandon ends a run that did not come to run anything.
func (s *Session) abandon(r *run) {
	s.mu.Lock()
	s.streaming = false
	s.mu.Unlock()
	s.flushHeld()
	s.release(r)
	s.prepared(r)
}

// flushHeld stores what was held back for the run to end.
func (s *Session) flushHeld() {
	c := s.currentConversation()
	if held := c.takeHeld(); len(held) > 0 {
		s.reportWrite(c, c.addAll(held))
	}
}

// release gives the place of a run back.
func (s *Session) release(r *run) {
	s.mu.Lock()
	s.run, s.streaming = nil, false
	r.endAftermath()
	s.mu.Unlock()
	r.cancel()
	close(r.done)
	s.checkShutdown()
}

// drive runs the loop, again and again, until nothing is left to do.
func (s *Session) drive(r *run, messages []agent.Queued) {
	r.rules = s.watchRules()
	for {
		result := agent.Run(r.ctx, s.loopConfig(r), messages)
		messages = nil
		switch s.afterRun(r, result) {
		case again:
			continue
		case reminded:
			messages = []agent.Queued{r.reminder}
			continue
		}
		if messages = s.lastCall(r); messages == nil {
			return
		}
	}
}

// step is what follows a low-level run.
type step int

const (
	finished step = iota // nothing, except what is queued
	again                // the same once more, with what the conversation holds now
	reminded             // the same, with the rules in mind that stopped it
)

// afterRun retries, or compacts, where the way that a low-level run ended
// calls for it.
func (s *Session) afterRun(r *run, result agent.Result) step {
	if stop := stoppedBy(result); stop != nil && r.ctx.Err() == nil {
		return s.remind(r, result.Last, stop)
	}
	if r.ctx.Err() != nil || result.Last.StopReason == message.StopAborted {
		s.endRetries(r, result)
		return finished
	}
	if result.Last.StopReason == message.StopError {
		if provider.ClassOf(result.Err) == provider.Overflow {
			s.endRetries(r, result)
			return s.recoverOverflow(r)
		}
		if s.mayRetry(r, result) {
			return s.waitRetry(r, result)
		}
		s.endRetries(r, result)
		return finished
	}
	s.compactIfNeeded(r)
	return finished
}

// lastCall takes what is queued for a run that has nothing else to do, or else
// declares it settled: from then on nothing joins it, and prompts wait the
// moment that it takes to tell clients. An aborted run leaves the queue alone.
func (s *Session) lastCall(r *run) []agent.Queued {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ctx.Err() == nil {
		if queued := s.takeAny(); queued != nil {
			return queued
		}
	}
	s.streaming = false
	return nil
}

// settle ends a run: what was held back is stored, clients are told, and the
// session is idle.
func (s *Session) settle(r *run) {
	s.flushHeld()
	s.mu.Lock()
	aborted := r.aborted
	s.mu.Unlock()
	s.emit(s.tellContext(r), &event.AgentSettled{Aborted: aborted})
	s.release(r)
}

// afterSettling calls f at once, or, where a run was aborted, or has settled
// and clients are just being told, when that is over: what comes then is not
// meant for the run. f is called with mu held, and gives it back.
func (s *Session) afterSettling(f func()) {
	s.mu.Lock()
	r := s.run
	if r == nil || s.streaming && !r.aborted {
		f()
		return
	}
	s.mu.Unlock()
	s.owned.run(func() {
		<-r.done
		s.afterSettling(f)
	})
}

// afterPreparing is afterSettling for what extensions say, in its turn. What
// they say while hooks have the prompt of a run counts when that is decided: a
// hook that handles a prompt itself, and says something in its place, finds
// the session idle. f is called with mu held, and gives it back; it must not
// wait, and releases the gate, which may be later and on another goroutine.
func (s *Session) afterPreparing(f func(release func())) {
	s.gate.hold(func(release func()) {
		s.afterSettling(func() {
			if s.run != nil && s.run.preparing {
				s.run.later = append(s.run.later, func() { s.afterPreparing(f) })
				s.mu.Unlock()
				release()
				return
			}
			f(release)
		})
	})
}

func (s *Session) loopConfig(r *run) agent.Config {
	return agent.Config{
		Next:  func(ctx context.Context) (agent.Call, error) { return s.nextCall(ctx, r) },
		Model: s.modelOrNone,
		Find:  s.findTool,
		Check: s.checkToolCall,
		Finish: func(_ context.Context, call tool.Call, o agent.Outcome) agent.Outcome {
			return s.finishToolCall(s.tellContext(r), call, o)
		},
		Steering:     s.withReminders(r, s.takeFrom(steering)),
		FollowUp:     s.takeFrom(followUps),
		Interrupted:  s.steeringWaits,
		BetweenTurns: func(context.Context) { s.compactIfNeeded(r) },
		WillRetry:    func(result agent.Result) bool { return s.willGoOn(r, result) },
		Watch:        s.watch(r),
		Emit:         func(e event.Event) { s.emitRun(r, e) },
		Now:          s.config.Now,
	}
}

// emitRun passes on an event of the loop. An answer that ended well closes a
// saga of retries right behind its message_end.
func (s *Session) emitRun(r *run, e event.Event) {
	s.emit(s.tellContext(r), e)
	end, ok := e.(*event.MessageEnd)
	if !ok {
		return
	}
	answer, ok := end.Message.(*message.Assistant)
	if !ok {
		return
	}
	complete := answer.StopReason != message.StopError && answer.StopReason != message.StopAborted
	if r.rules != nil {
		r.rules.End(complete)
	}
	if !complete {
		return
	}
	r.overflowed = false
	s.sawAnswer()
	if r.attempt > 0 {
		s.emit(s.tellContext(r), &event.AutoRetryEnd{Success: true, Attempt: r.attempt})
		r.attempt = 0
	}
}

// tellContext is what hooks run under: the run, so that an abort ends what
// they wait for; or, once it was aborted, its aftermath.
func (s *Session) tellContext(r *run) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ctx.Err() != nil {
		return r.aftermath
	}
	return r.ctx
}
