package extensions

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// stopwatch keeps the deadlines of one process's calls. They stand still while
// any dialog of the extension is open: a person may take their time.
type stopwatch struct {
	mu      sync.Mutex
	dialogs int
	running map[*deadline]struct{}
}

// deadline is the time that one call has left.
type deadline struct {
	watch   *stopwatch
	left    time.Duration
	since   time.Time
	timer   *time.Timer // nil: stands still
	expired func()
}

// slowError is the end of a call that took too long.
type slowError struct{ limit time.Duration }

func (e *slowError) Error() string { return fmt.Sprintf("did not answer within %s", e.limit) }

// limit gives a context that ends, with a *slowError as its cause, when the
// call has taken this long; 0: never. stop must be called.
func (w *stopwatch) limit(ctx context.Context, d time.Duration) (limited context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if d <= 0 {
		return ctx, func() { cancel(nil) }
	}
	t := &deadline{watch: w, left: d, expired: func() { cancel(&slowError{d}) }}
	w.mu.Lock()
	if w.running == nil {
		w.running = map[*deadline]struct{}{}
	}
	w.running[t] = struct{}{}
	if w.dialogs == 0 {
		t.start()
	}
	w.mu.Unlock()
	return ctx, func() {
		w.mu.Lock()
		t.pause()
		delete(w.running, t)
		w.mu.Unlock()
		cancel(nil)
	}
}

// dialogOpened stops all deadlines until the function it gives is called.
func (w *stopwatch) dialogOpened() (closed func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dialogs++
	if w.dialogs == 1 {
		for t := range w.running {
			t.pause()
		}
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.dialogs--
		if w.dialogs == 0 {
			for t := range w.running {
				t.start()
			}
		}
	}
}

// start and pause are called with the lock of the stopwatch.
func (t *deadline) start() {
	t.since = time.Now()
	t.timer = time.AfterFunc(t.left, t.expired)
}

func (t *deadline) pause() {
	if t.timer == nil {
		return
	}
	t.timer.Stop()
	t.timer = nil
	t.left -= time.Since(t.since)
}
