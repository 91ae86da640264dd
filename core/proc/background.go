package proc

import (
	"io"
	"sync"
	"time"
)

// Background owns what commands left running behind them: servers started with
// an ampersand, say. It reads and drops what they write, so that they do not
// die of a closed pipe, and ends them when it is closed.
//
// The zero value is ready. Its methods may be called from any goroutine.
// Processes whose output goes elsewhere are none of its business: who detaches
// a process so means it to stay.
type Background struct {
	mu     sync.Mutex
	closed bool
	left   map[*child]struct{}
	owned  sync.WaitGroup
}

// Close asks all the process groups to end, kills what is left after the grace
// (0: DefaultGrace), and waits for its goroutines. What commands leave behind
// from then on is closed at once. Close may be called twice; nil is fine.
func (b *Background) Close(grace time.Duration) {
	if b == nil {
		return
	}
	if grace <= 0 {
		grace = DefaultGrace
	}
	b.mu.Lock()
	b.closed = true
	var ending []*child
	for c := range b.left {
		ending = append(ending, c)
	}
	b.mu.Unlock()

	var all sync.WaitGroup
	for _, c := range ending {
		all.Go(func() {
			c.end(grace)
			interruptRead(c.out) // a process that left the group may still hold it
		})
	}
	all.Wait()
	b.owned.Wait()
}

// adopt takes over a command whose shell has ended. It is false where nobody
// is there to take it.
func (b *Background) adopt(c *child) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	if b.left == nil {
		b.left = map[*child]struct{}{}
	}
	if c.out.SetReadDeadline(time.Time{}) != nil {
		return false // it was closed to end reading
	}
	b.left[c] = struct{}{}
	b.owned.Go(func() {
		_, _ = io.Copy(io.Discard, c.out) // until the last holder is gone, or Close
		c.letGo()
		b.mu.Lock()
		delete(b.left, c)
		b.mu.Unlock()
	})
	return true
}
