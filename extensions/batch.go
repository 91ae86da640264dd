package extensions

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Limits of what waits for an extension that does not keep up.
const (
	// coalesceFrom is the number of events, since somebody last waited for the
	// extension, from which on those that wait are joined: deltas of one text
	// into one, and of tool updates, which say all so far, the last.
	coalesceFrom = 128
	// floodPause is how long a message of a flood waits for more to go with it,
	// unless somebody waits for the extension.
	floodPause = 5 * time.Millisecond
	// maxBacklog is the number of events, and maxBacklogBytes the size of
	// their deltas, beyond which the oldest are dropped.
	maxBacklog      = 4096
	maxBacklogBytes = 4 << 20
	// maxBatch is how many events one message carries.
	maxBatch = 1024
)

// batch holds the events that come in floods until the extension takes them.
// Adding never waits; one goroutine sends, a message at a time, so that what
// piles up meanwhile goes with the next one.
type batch struct {
	i *instance

	mu      sync.Mutex
	waiting []event.Event
	joined  *event.MessageUpdate // the last that waits, if its delta is in text still; nil: it is not
	text    []byte
	since   int // events since somebody waited
	bytes   int
	dropped uint64        // since the last message
	sending bool          // a message is on its way
	flushed chan struct{} // closed when nothing waits any more; nil: nobody wants to know
	wake    chan struct{} // holds one token when there is something to send
	hurry   chan struct{} // holds one token when somebody waits
	stats   batchStats
	told    map[event.Kind]time.Time // when a failure of a kind was last reported
	slow    bool
}

// batchStats counts what became of the events.
type batchStats struct {
	sent, coalesced, dropped uint64
}

func newBatch(i *instance) *batch {
	return &batch{i: i, wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), told: map[event.Kind]time.Time{}}
}

// add puts an event in line. It is called from the run and never waits.
func (b *batch) add(e event.Event) {
	b.mu.Lock()
	becameSlow := false
	b.since++
	if b.since <= coalesceFrom || len(b.waiting) == 0 || !b.coalesce(e) {
		b.seal()
		b.waiting = append(b.waiting, e)
		b.bytes += deltaSize(e)
		for len(b.waiting) > maxBacklog || b.bytes > maxBacklogBytes {
			b.bytes -= deltaSize(b.waiting[0])
			b.waiting = b.waiting[1:]
			b.dropped++
			b.stats.dropped++
			becameSlow, b.slow = becameSlow || !b.slow, true
		}
	}
	b.mu.Unlock()
	signal(b.wake)
	if becameSlow {
		b.i.x.host.report(b.i.x.source.path, string(e.Kind()), fmt.Errorf(
			"extension %s does not keep up with %s: events are left out", b.i.x.displayName(), e.Kind()))
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// coalesce joins an event to one that waits, if that loses nothing. The caller
// holds mu, as with what follows.
func (b *batch) coalesce(e event.Event) bool {
	switch e := e.(type) {
	case *event.MessageUpdate:
		last, ok := b.waiting[len(b.waiting)-1].(*event.MessageUpdate)
		if !ok || !isDelta(last.Update) || last.Update.Type != e.Update.Type || last.Update.ContentIndex != e.Update.ContentIndex || e.Update.Delta == nil {
			return false
		}
		if b.joined == nil {
			own := *last
			b.joined, b.text = &own, append(b.text[:0], *last.Update.Delta...)
			b.waiting[len(b.waiting)-1] = b.joined
		}
		b.text = append(b.text, *e.Update.Delta...)
		if e.Usage != nil {
			b.joined.Usage = e.Usage
		}
		b.bytes += len(*e.Update.Delta)
	case *event.ToolExecutionUpdate:
		for n := len(b.waiting) - 1; n >= 0; n-- {
			if last, ok := b.waiting[n].(*event.ToolExecutionUpdate); ok && last.ToolCallID == e.ToolCallID {
				b.bytes += deltaSize(e) - deltaSize(last)
				b.waiting[n] = e
				b.stats.coalesced++
				return true
			}
		}
		return false
	default:
		return false
	}
	b.stats.coalesced++
	return true
}

// seal ends the joining of deltas to the last that waits.
func (b *batch) seal() {
	if b.joined == nil {
		return
	}
	text := string(b.text)
	b.joined.Update.Delta = &text
	b.joined = nil
}

func isDelta(u event.AssistantUpdate) bool {
	return u.Delta != nil && (u.Type == event.TextDelta || u.Type == event.ThinkingDelta || u.Type == event.ToolCallDelta)
}

func deltaSize(e event.Event) int {
	switch e := e.(type) {
	case *event.MessageUpdate:
		if e.Update.Delta != nil {
			return len(*e.Update.Delta)
		}
	case *event.ToolExecutionUpdate:
		return len(e.PartialResult)
	}
	return 0
}

// drain waits until the extension has handled all that was added before.
func (b *batch) drain(ctx context.Context) error {
	b.mu.Lock()
	b.since = 0
	if len(b.waiting) == 0 && !b.sending {
		b.mu.Unlock()
		return nil
	}
	if b.flushed == nil {
		b.flushed = make(chan struct{})
	}
	flushed := b.flushed
	b.mu.Unlock()
	signal(b.hurry)
	select {
	case <-flushed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// send is the one goroutine that delivers; it ends with the process.
func (b *batch) send() {
	for {
		select {
		case <-b.wake:
		case <-b.i.life.Done():
			return
		}
		for {
			events, dropped := b.take()
			if len(events) == 0 {
				break
			}
			b.deliver(events, dropped)
			b.pause()
		}
	}
}

// pause lets more come together in a flood: a message for each handful would
// cost the run more than its deltas do.
func (b *batch) pause() {
	b.mu.Lock()
	flood := b.since > coalesceFrom && b.flushed == nil
	b.mu.Unlock()
	if !flood {
		return
	}
	enough := time.NewTimer(floodPause)
	defer enough.Stop()
	select {
	case <-enough.C:
	case <-b.hurry:
	case <-b.i.life.Done():
	}
}

// take gives the next events to send; none when all is sent.
func (b *batch) take() (events []event.Event, dropped uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seal()
	n := min(len(b.waiting), maxBatch)
	events, b.waiting = b.waiting[:n:n], b.waiting[n:]
	for _, e := range events {
		b.bytes -= deltaSize(e)
	}
	dropped, b.dropped = b.dropped, 0
	b.stats.sent += uint64(n)
	b.sending = n > 0
	if n == 0 {
		b.waiting = nil
		if b.flushed != nil {
			close(b.flushed)
			b.flushed = nil
		}
	}
	return events, dropped
}

func (b *batch) deliver(events []event.Event, dropped uint64) {
	req := &pb.HandleBatchRequest{Dropped: dropped}
	for _, e := range events {
		payload, err := b.i.x.host.encode(e)
		if err != nil {
			b.fail(e.Kind(), err)
			continue
		}
		req.Events = append(req.Events, &pb.Event{Kind: string(e.Kind()), Payload: payload})
	}
	kind := events[0].Kind()
	c, callContext, end := b.i.begin(context.Background(), b.i.x.deadlineOfKind(kind, b.i.deadline(kind)), false)
	defer end()
	req.Context = callContext
	started := time.Now()
	resp, err := b.i.client.HandleBatch(c.ctx, req)
	b.i.x.latency.add(kind, time.Since(started))
	if err != nil {
		b.fail(kind, b.i.callError(c.ctx, "the handler of "+string(kind), err))
		return
	}
	for _, f := range resp.GetFailures() {
		b.fail(event.Kind(f.GetKind()), failureError(f.GetFailure()))
	}
}

// fail reports a failure, but not that of every delta of an answer.
func (b *batch) fail(kind event.Kind, err error) {
	const often = time.Second
	if b.i.life.Err() != nil {
		return // the death is reported
	}
	b.mu.Lock()
	again := time.Since(b.told[kind]) < often
	if !again {
		b.told[kind] = time.Now()
	}
	b.mu.Unlock()
	if again {
		b.i.x.log.Warn(err.Error(), "event", string(kind))
		return
	}
	b.i.x.host.report(b.i.x.source.path, string(kind), err)
}

// state is for get_extensions.
func (b *batch) state() (stats batchStats, slow bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats, b.slow || len(b.waiting) > coalesceFrom || b.bytes > maxBacklogBytes/16
}
