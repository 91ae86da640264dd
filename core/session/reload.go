package session

import (
	"context"
	"fmt"

	"github.com/seed-54e836f5/pi/core/event"
)

// Reload brings settings, extensions, templates, skills, rules and context files
// to what is on disk now. The call returns at once; wait returns when the session
// was idle and the extensions are up again, and may be called once. The error is
// ErrClosed after Close.
func (s *Session) Reload(ctx context.Context) (wait func() error) {
	done := make(chan error, 1)
	s.reloadInTurn(ctx, done)
	return func() error { return <-done }
}

// reloadInTurn does not keep the gate while a run is on: what is queued for
// the run comes through it.
func (s *Session) reloadInTurn(ctx context.Context, done chan<- error) {
	s.gate.hold(func(release func()) {
		s.mu.Lock()
		busy := s.run != nil
		s.mu.Unlock()
		s.owned.run(func() {
			if !busy {
				defer release()
				done <- s.reload(ctx)
				return
			}
			release()
			if err := s.WaitIdle(ctx); err != nil {
				done <- fmt.Errorf("reload: wait for the run to end: %w", err)
				return
			}
			s.reloadInTurn(ctx, done)
		})
	})
}

func (s *Session) reload(ctx context.Context) error {
	if s.isClosed() {
		return ErrClosed
	}
	var err error
	if s.config.Extensions != nil {
		s.stage(func(ctx context.Context) { s.config.Hooks.Tell(ctx, &event.SessionShutdown{Reason: "reload"}) })
		ctx, end := s.beginChange(ctx)
		err = s.config.Extensions.Reload(ctx)
		end()
	}
	s.mu.Lock()
	s.generation++
	s.mu.Unlock()
	s.enterFolder()
	s.announceStart(event.SessionStart{Reason: "reload"})
	return err
}
