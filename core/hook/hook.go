// Package hook passes events to extensions: in load order, one after the
// other, with one table that says for each kind how results are merged and
// what a failure means.
//
// It imports the standard library, core/event and core/message only.
package hook

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/seed-54e836f5/pi/core/event"
)

// Listener is one extension as the chain sees it. Its methods are called from
// any goroutine, several at once where several events happen at once.
type Listener interface {
	// Path names the extension in errors, e.g. the path it was loaded from.
	Path() string
	// Wants says whether the extension has a handler for the kind.
	Wants(kind event.Kind) bool
	// Handle delivers one event. For kinds that are decided, result is nil or
	// a value as the table of kinds makes it; for observed kinds it is nil.
	// A batched kind may return before the extension has seen the event, but
	// then every later Handle of this listener delivers it first.
	Handle(ctx context.Context, e event.Event) (result any, err error)
}

// ErrFailOpen marks an error of a tool_call handler that was registered to
// fail open: the call goes on. Listeners wrap it.
var ErrFailOpen = errors.New("handler fails open")

// Chain holds the listeners in load order. The zero value is an empty chain.
// All methods may be called from any goroutine.
type Chain struct {
	// Report receives the errors of handlers. It is set before the first
	// event and may be called from any goroutine. Nil: errors are dropped,
	// which only tests should want.
	Report func(event.ExtensionError)

	mu        sync.Mutex
	listeners []Listener
}

// Set replaces all listeners, as start and reload do. Events being delivered
// go on with the list they began with.
func (c *Chain) Set(listeners []Listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = slices.Clone(listeners)
}

// Wanted says whether any listener has a handler for the kind, so that
// callers may save the work of making an event.
func (c *Chain) Wanted(kind event.Kind) bool {
	for _, l := range c.snapshot() {
		if l.Wants(kind) {
			return true
		}
	}
	return false
}

// Tell delivers an observed event to all who want it, in load order, and
// returns when they have handled it (batched kinds: when it is on its way).
func (c *Chain) Tell(ctx context.Context, e event.Event) {
	for _, l := range c.snapshot() {
		if !l.Wants(e.Kind()) {
			continue
		}
		if _, err := l.Handle(ctx, e); err != nil {
			c.report(ctx, l, e.Kind(), err)
		}
	}
}

// Decide delivers an event to all who want it, in load order, and merges what
// they return into acc by the rule of the kind. Chained values are changed in
// e itself, so that a later handler, and the caller, see them. A handler that
// fails is reported and passed over, except where the rule says that a
// failure decides.
func Decide[R any](ctx context.Context, c *Chain, e event.Event) R {
	var acc R
	rule, ok := rules[e.Kind()]
	if !ok {
		panic("hook: no rule for " + string(e.Kind()))
	}
	for _, l := range c.snapshot() {
		if !l.Wants(e.Kind()) {
			continue
		}
		result, err := l.Handle(ctx, e)
		if err != nil {
			if rule.failed != nil && rule.failed(e, &acc, err) {
				return acc
			}
			c.report(ctx, l, e.Kind(), err)
			continue
		}
		if result != nil && rule.merge(e, &acc, result) {
			return acc
		}
	}
	return acc
}

func (c *Chain) report(ctx context.Context, l Listener, kind event.Kind, err error) {
	if c.Report == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	c.Report(event.ExtensionError{ExtensionPath: l.Path(), Event: string(kind), Error: err.Error()})
}

func (c *Chain) snapshot() []Listener {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listeners
}
