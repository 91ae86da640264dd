package session

import (
	"context"
	"math"
	"time"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/provider"
)

// mayRetry says whether a low-level run that ended like this is tried again.
func (s *Session) mayRetry(r *run, result agent.Result) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !r.aborted && r.ctx.Err() == nil && s.settings.Retry.Enabled && r.attempt < s.settings.Retry.MaxRetries &&
		provider.ClassOf(result.Err) == provider.Retryable
}

// waitRetry takes the failed answer out of the context and waits. An abort of
// the wait ends the saga.
func (s *Session) waitRetry(r *run, result agent.Result) step {
	r.attempt++
	s.mu.Lock()
	policy := s.settings.Retry
	delay := policy.delay(r.attempt, result.Err)
	ctx, skip := context.WithCancel(r.ctx)
	r.skipRetry = skip
	s.mu.Unlock()
	defer skip()
	s.currentConversation().dropLast(failed)
	s.emit(s.tellContext(r), &event.AutoRetryStart{
		Attempt: r.attempt, MaxAttempts: policy.MaxRetries, DelayMS: delay.Milliseconds(), ErrorMessage: result.Last.ErrorMessage,
	})
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return again
	case <-ctx.Done():
	}
	s.emit(s.tellContext(r), &event.AutoRetryEnd{Attempt: r.attempt, FinalError: RetryCancelled})
	r.attempt = 0
	s.mu.Lock()
	r.abort(s.life)
	s.mu.Unlock()
	return finished
}

// RetryCancelled is the final error of a saga of retries that an abort ended.
const RetryCancelled = "Retry cancelled"

// endRetries closes a saga that did not end well.
func (s *Session) endRetries(r *run, result agent.Result) {
	if r.attempt == 0 {
		return
	}
	reason := result.Last.ErrorMessage
	if r.ctx.Err() != nil {
		reason = RetryCancelled
	}
	s.emit(s.tellContext(r), &event.AutoRetryEnd{Attempt: r.attempt, FinalError: reason})
	r.attempt = 0
}

// AbortRetry ends the wait before a retry and lets the run settle; without
// one it does nothing.
func (s *Session) AbortRetry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil && s.run.skipRetry != nil {
		s.run.skipRetry()
	}
}

// SetAutoRetry switches automatic retries on and off, in this session.
func (s *Session) SetAutoRetry(on bool) {
	s.choose("retry.enabled", func(set *Settings) { set.Retry.Enabled = on })
}

// delay is how long to wait before an attempt, counted from 1. To try again
// before the time that the service asks for would only fail again; how long
// that may be at most was decided where the request was made.
func (p Retry) delay(attempt int, err error) time.Duration {
	longest := p.MaxDelay
	if longest <= 0 {
		longest = math.MaxInt64
	}
	wait := max(0, p.BaseDelay)
	for i := 1; i < attempt && wait < longest; i++ {
		wait = min(wait, longest/2) * 2
	}
	return max(min(wait, longest), provider.RetryAfter(err))
}
