// Package exchange is what the adapters have in common below their vendor's
// SDK: it carries one request to a service, with the session's hooks, and
// gives the answer as a stream of events with the idle deadline and the error
// classes of core/provider.
//
// An adapter hands Client to its SDK, which builds and signs the request, and
// never sees the answer: Read does.
//
// It imports the standard library, core/provider and core/provider/internal/sse
// only.
package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/sse"
)

// Service says how one API differs from others at this level.
type Service struct {
	// Headers are the adapter's own, beside those the SDK sets.
	Headers map[string]string
	// Describe words a response that is no success: its status and body.
	Describe func(status int, body []byte) string
	// Classify sorts one; nil: provider.Classify. The time is how long the
	// body asks to wait; 0: it does not.
	Classify func(status int, body []byte) (provider.Class, time.Duration)
}

// Exchange is one request and its answer, for one goroutine.
type Exchange struct {
	options provider.Options
	request provider.Request
	service Service
	secrets []string

	parent context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   *time.Timer // runs while we wait for the service; nil: not yet

	body    io.ReadCloser // of the answer; nil until there is one
	failure *provider.Error
}

// errIdle is the cause of the end of a context when the service was silent.
var errIdle = errors.New("idle")

// errDrained is the cause when the end of an answer that is complete does
// not come.
var errDrained = errors.New("drained")

// Open prepares an exchange. It sends nothing. Close ends it.
func Open(ctx context.Context, options provider.Options, request provider.Request, service Service) *Exchange {
	x := &Exchange{options: options, request: request, service: service, parent: ctx}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	x.secrets = secretsOf(request)
	return x
}

// Context is the context of the request. It ends with Open's, with Close and
// when the service is silent for too long.
func (x *Exchange) Context() context.Context { return x.ctx }

// Client is what the SDK sends the one request with. It follows no
// redirections, which would carry the key to another host: to the SDK, such an
// answer is an error of the connection.
func (x *Exchange) Client() *http.Client { return &http.Client{Transport: (*roundTripper)(x)} }

// Close ends the exchange and frees the connection.
func (x *Exchange) Close() {
	x.stopClock()
	x.cancel(context.Canceled)
	if x.body != nil {
		// What could be lost here was read already, or is not wanted.
		_ = x.body.Close()
	}
}

// Sent says how sending went, once the SDK is done with it; err is what the
// SDK said. nil: Read may be called.
func (x *Exchange) Sent(err error) error {
	switch {
	case x.failure != nil:
		return x.failure
	case x.body != nil:
		// The SDK met an empty body in place of the answer.
		return nil
	case x.ctx.Err() != nil:
		return x.interrupted(x.ctx.Err())
	case err == nil:
		return provider.Errorf(provider.Invalid, "the request was not sent")
	}
	return &provider.Error{Class: provider.Invalid, Message: x.scrub("the request could not be made: " + err.Error()), Err: err}
}

// Handler takes the events of an answer.
type Handler interface {
	// Event takes one. done: the answer is complete. An error ends the
	// exchange and is what Read returns. data is valid during the call only.
	Event(name string, data []byte) (done bool, err error)
	// End is called when the stream ends and no event was done. nil: the
	// answer is complete all the same.
	End() error
}

// Read gives the answer's events to h, from the calling goroutine, until it
// is complete. Its errors are those of h, and *provider.Error for what goes
// wrong on the way.
func (x *Exchange) Read(h Handler) error {
	events := sse.NewReader((*source)(x))
	if err := x.expectStream(events); err != nil {
		return err
	}
	for {
		event, err := events.Next()
		if x.ctx.Err() != nil {
			return x.interrupted(x.ctx.Err())
		}
		switch {
		case errors.Is(err, io.EOF):
			return h.End()
		case errors.Is(err, sse.ErrTooLong):
			return &provider.Error{Class: provider.Invalid, Message: err.Error(), Err: err}
		case err != nil:
			return x.interrupted(err)
		}
		done, err := h.Event(event.Name, event.Data)
		if err != nil {
			return err
		}
		if done {
			x.drain(events)
			return nil
		}
	}
}

// expectStream turns down a success that is no stream: an error in JSON, or
// the page of a server that is no model service.
func (x *Exchange) expectStream(events *sse.Reader) error {
	first, err := events.Peek()
	if err != nil || (first != '{' && first != '[' && first != '<') {
		return nil // an error of the source comes again
	}
	body, err := events.Rest(longestBody)
	if err != nil {
		return x.interrupted(err)
	}
	return x.rejected(http.StatusOK, nil, body)
}

// drainTime bounds the wait for the end of an answer that is complete. At the
// end the connection can be used again; it mostly comes with the last event.
const drainTime = 100 * time.Millisecond

func (x *Exchange) drain(events *sse.Reader) {
	timer := time.AfterFunc(drainTime, func() { x.cancel(errDrained) })
	defer timer.Stop()
	_, _ = events.Rest(64 << 10) // nothing in there counts any more
}

// source reads the answer's body, with the clock running during each read and
// not between them, when it is the sink that takes its time.
type source Exchange

func (s *source) Read(p []byte) (int, error) {
	x := (*Exchange)(s)
	x.startClock()
	defer x.stopClock()
	return x.body.Read(p)
}

func (x *Exchange) startClock() {
	switch {
	case x.options.IdleTimeout <= 0:
	case x.idle == nil:
		x.idle = time.AfterFunc(x.options.IdleTimeout, func() { x.cancel(errIdle) })
	default:
		x.idle.Reset(x.options.IdleTimeout)
	}
}

func (x *Exchange) stopClock() {
	if x.idle != nil {
		x.idle.Stop()
	}
}
