package session

import (
	"context"
	"errors"
	"time"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// summaryCaller asks the session's model for summaries, with the same policy
// of retries as runs have, and its own events.
type summaryCaller struct {
	session *Session
	retry   event.SummaryRetryAttempt
	retried bool
}

// Complete implements compact.Caller.
func (c *summaryCaller) Complete(ctx context.Context, request provider.Request) (*message.Assistant, error) {
	for attempt := 1; ; attempt++ {
		answer, err := c.once(ctx, request)
		s := c.session
		s.mu.Lock()
		policy := s.settings.Retry
		s.mu.Unlock()
		if err == nil || ctx.Err() != nil || !worthRepeating(err) || !policy.Enabled || attempt > policy.MaxRetries {
			return answer, err
		}
		c.retried = true
		delay := policy.delay(attempt, err)
		s.emit(s.life, &event.SummaryRetry{Attempt: attempt, MaxAttempts: policy.MaxRetries, DelayMS: delay.Milliseconds(), ErrorMessage: err.Error()})
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		next := c.retry
		s.emit(s.life, &next)
	}
}

// worthRepeating says whether a summary is asked for again after a failure.
// Services that say a request is too long are asked again too, as the
// reference agents do: they count differently from call to call.
func worthRepeating(err error) bool {
	class := provider.ClassOf(err)
	return class == provider.Retryable || class == provider.Overflow
}

// finish tells clients that the tries are over, if there was more than one.
func (c *summaryCaller) finish() {
	if c.retried {
		c.session.emit(c.session.life, &event.SummaryRetryFinished{})
	}
}

func (c *summaryCaller) once(ctx context.Context, request provider.Request) (*message.Assistant, error) {
	s := c.session
	s.mu.Lock()
	model, level := s.model, s.level()
	s.mu.Unlock()
	if model == nil {
		return nil, errors.New(s.config.NoModel)
	}
	connection, err := s.config.Models.Connect(ctx, *model)
	if err != nil {
		return nil, err
	}
	request.Model, request.APIKey, request.Headers, request.Compat = connection.reach(*model), connection.APIKey, connection.Headers, connection.Compat
	if request.Thinking == "" {
		request.Thinking = level
	}
	request.Hooks = s.providerHooks()
	return agent.Complete(ctx, agent.Call{Model: *model, Stream: func(ctx context.Context, sink func(provider.Delta) error) error {
		return connection.Provider.Stream(ctx, request, sink)
	}}, s.config.Now)
}
