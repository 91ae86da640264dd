package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// listener is an extension's place in the chain. An extension with several
// handlers of one kind that is decided has several places, one for each, so
// that the chain merges what they return as it does between extensions.
type listener struct {
	x     *extension
	layer int
}

// listeners gives as many as the kind with the most handlers needs.
func (x *extension) listeners() []hook.Listener {
	x.mu.Lock()
	defer x.mu.Unlock()
	layers := 0
	if x.reg != nil {
		for _, handlers := range x.reg.handlers {
			layers = max(layers, len(handlers))
		}
	}
	if len(x.guards()) > 0 {
		layers = max(layers, 1)
	}
	list := make([]hook.Listener, layers)
	for n := range list {
		list[n] = &listener{x, n}
	}
	return list
}

// Path implements hook.Listener.
func (l *listener) Path() string { return l.x.source.path }

// Wants implements hook.Listener.
func (l *listener) Wants(kind event.Kind) bool {
	l.x.mu.Lock()
	defer l.x.mu.Unlock()
	if kind == event.KindToolCall && l.layer == 0 && len(l.x.guards()) > 0 {
		return true
	}
	if kind == event.KindProjectTrust && l.x.source.info.Scope == "project" {
		return false // it has no say in what other projects may
	}
	_, ok := l.handler(kind)
	return ok
}

// handler gives the handler of this place, under the lock of the extension.
// Kinds that are only told have one place for all their handlers.
func (l *listener) handler(kind event.Kind) (handler, bool) {
	if l.x.reg == nil {
		return handler{}, false
	}
	handlers := l.x.reg.handlers[kind]
	if l.layer >= len(handlers) {
		return handler{}, false
	}
	info, _ := event.Lookup(kind)
	return handlers[l.layer], info.Hook == event.Decide || l.layer == 0
}

// Handle implements hook.Listener.
func (l *listener) Handle(ctx context.Context, e event.Event) (any, error) {
	info, _ := event.Lookup(e.Kind())
	l.x.mu.Lock()
	i := l.x.current
	h, registered := l.handler(e.Kind())
	l.x.mu.Unlock()
	if i == nil {
		return nil, l.whileDown(e, h, registered)
	}
	if !registered || !concerns(h, e) || isQuit(e) {
		return nil, nil // of pi's end the tracker has told all
	}
	if info.Batched {
		i.batch.add(e)
		return nil, nil
	}
	result, err := i.handle(ctx, e, h, l.layer)
	if err != nil && e.Kind() == event.KindToolCall {
		return nil, gateError(err, h.failOpen)
	}
	return result, err
}

// concerns says whether a handler that is limited to tools is meant.
func concerns(h handler, e event.Event) bool {
	switch e := e.(type) {
	case *event.ToolCall:
		return h.minds(e.ToolName)
	case *event.ToolResult:
		return h.minds(e.ToolName)
	}
	return true
}

// whileDown closes the gate for the tools that the extension guards. All other
// events pass it by: its death was reported.
func (l *listener) whileDown(e event.Event, h handler, registered bool) error {
	call, ok := e.(*event.ToolCall)
	if !ok || l.x.source.manifest != nil && l.x.source.manifest.FailOpen {
		return nil
	}
	l.x.mu.Lock()
	defer l.x.mu.Unlock()
	guarded := registered && !h.failOpen && h.minds(call.ToolName)
	if l.layer == 0 {
		guards := l.x.guards()
		guarded = guarded || slices.Contains(guards, "*") || slices.Contains(guards, call.ToolName)
	}
	if !guarded {
		return nil
	}
	reason := l.x.lastError
	if reason == "" {
		reason = "it is not up yet"
	}
	return fmt.Errorf("the tool %s was not run: the extension %s checks its calls and is down (%s)", call.ToolName, l.x.nameLocked(), reason)
}

// guards are the tools that the manifest closes while the extension is down.
func (x *extension) guards() []string {
	if x.source.manifest == nil {
		return nil
	}
	return x.source.manifest.Guards
}

// openGate is the error of a gate that was registered to fail open.
type openGate struct{ error }

func (e openGate) Is(target error) bool { return target == hook.ErrFailOpen }

func (e openGate) Unwrap() error { return e.error }

func gateError(err error, failOpen bool) error {
	if failOpen {
		return openGate{err}
	}
	return err
}

// handle has the extension handle one event, after all that it was sent
// before, and decodes what it decided.
func (i *instance) handle(ctx context.Context, e event.Event, h handler, which int) (any, error) {
	payload, err := i.x.host.encode(e)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Kind(), err)
	}
	c, callContext, end := i.begin(ctx, i.x.deadlineOf(ctx, e, h.deadline), false)
	defer end()
	what := "the handler of " + string(e.Kind())
	if err := i.batch.drain(c.ctx); err != nil {
		return nil, i.callError(c.ctx, what+" could not be called, because the one of the events before", err)
	}
	started := time.Now()
	resp, err := i.client.Handle(c.ctx, &pb.HandleRequest{
		Context: callContext, Kind: string(e.Kind()), Payload: payload, Handler: uint32(which),
	})
	i.x.latency.add(e.Kind(), time.Since(started))
	if err != nil {
		return nil, i.callError(c.ctx, what, err)
	}
	if err := failureError(resp.GetFailure()); err != nil {
		return nil, err
	}
	result, err := decodeResult(e, resp.GetResult())
	if more, ok := result.(*event.ResourcesDiscoverResult); ok {
		i.x.sign(more)
	}
	return result, err
}

// sign says who named the places of resources.
func (x *extension) sign(r *event.ResourcesDiscoverResult) {
	r.NamedBy = map[string]string{}
	for _, path := range slices.Concat(r.SkillPaths, r.PromptPaths) {
		r.NamedBy[path] = x.displayName()
	}
}

func decodeResult(e event.Event, encoded []byte) (any, error) {
	info, _ := event.Lookup(e.Kind())
	if len(encoded) == 0 || info.NewResult == nil {
		return nil, nil
	}
	result := info.NewResult()
	if err := json.Unmarshal(encoded, result); err != nil {
		return nil, fmt.Errorf("the result of the handler of %s: %w", e.Kind(), err)
	}
	return result, nil
}

// deadline is that of the first handler of a kind; 0: it has none of its own.
func (i *instance) deadline(kind event.Kind) time.Duration {
	if handlers := i.reg.handlers[kind]; len(handlers) > 0 {
		return handlers[0].deadline
	}
	return 0
}

// failureError is the error of a handler: its own words, and for a panic that
// it was one.
func failureError(f *pb.Failure) error {
	if f == nil {
		return nil
	}
	if f.GetReason() == pb.Failure_REASON_PANIC {
		return fmt.Errorf("panic: %s", f.GetMessage())
	}
	return errors.New(f.GetMessage())
}
