package extensions

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// outlet is a log handler that never makes its callers wait. Many clients do
// not read our standard error: writing there stops when the pipe is full, and
// an extension that prints a lot must not stop pi with it. What does not fit
// into the queue is counted, and the count is logged as soon as there is room.
type outlet struct {
	next  slog.Handler
	queue *recordQueue
}

// recordQueue is shared by all handlers that were derived from one.
type recordQueue struct {
	own slog.Handler // for what the queue itself has to say

	mu      sync.Mutex
	writing bool // the goroutine that writes was started
	records []queued
	bytes   int
	dropped int
	closed  bool
	wake    chan struct{} // holds one token when there is something to write
	done    chan struct{}
}

type queued struct {
	handler slog.Handler
	record  slog.Record
}

// Limits of the queue, and how long close waits for it.
const (
	maxQueuedRecords = 4096
	maxQueuedBytes   = 4 << 20
	flushTime        = 100 * time.Millisecond
)

func newOutlet(next slog.Handler) *outlet {
	q := &recordQueue{own: next, wake: make(chan struct{}, 1), done: make(chan struct{})}
	return &outlet{next: next, queue: q}
}

// Enabled implements slog.Handler.
func (o *outlet) Enabled(ctx context.Context, level slog.Level) bool {
	return o.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (o *outlet) Handle(_ context.Context, r slog.Record) error {
	o.queue.add(queued{o.next, r.Clone()})
	return nil
}

// WithAttrs implements slog.Handler.
func (o *outlet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &outlet{next: o.next.WithAttrs(attrs), queue: o.queue}
}

// WithGroup implements slog.Handler.
func (o *outlet) WithGroup(name string) slog.Handler {
	return &outlet{next: o.next.WithGroup(name), queue: o.queue}
}

// close writes what is queued, if that is possible in a moment. Later records
// are not written. A write that hangs is left behind: it ends when somebody
// reads, or with the process.
func (o *outlet) close() {
	o.queue.mu.Lock()
	o.queue.closed = true
	writing := o.queue.writing
	o.queue.mu.Unlock()
	if !writing {
		return
	}
	o.queue.signal()
	select {
	case <-o.queue.done:
	case <-time.After(flushTime):
	}
}

func (q *recordQueue) add(r queued) {
	q.mu.Lock()
	size := len(r.record.Message)
	if q.closed || len(q.records) >= maxQueuedRecords || q.bytes+size > maxQueuedBytes {
		q.dropped++
	} else {
		q.records = append(q.records, r)
		q.bytes += size
		if !q.writing {
			q.writing = true
			go q.write()
		}
	}
	q.mu.Unlock()
	q.signal()
}

func (q *recordQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// write is the one goroutine that writes, from the first record to close.
func (q *recordQueue) write() {
	defer close(q.done)
	for range q.wake {
		for {
			records, dropped, closed := q.take()
			for _, r := range records {
				_ = r.handler.Handle(context.Background(), r.record) // there is no other place to say it
			}
			if dropped > 0 {
				_ = q.own.Handle(context.Background(), slog.NewRecord(time.Now(), slog.LevelWarn,
					fmt.Sprintf("%d lines of the log were left out: they came faster than they could be written", dropped), 0))
			}
			if len(records) == 0 {
				if closed {
					return
				}
				break
			}
		}
	}
}

func (q *recordQueue) take() (records []queued, dropped int, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	records, dropped = q.records, q.dropped
	q.records, q.bytes, q.dropped = nil, 0, 0
	return records, dropped, q.closed
}
