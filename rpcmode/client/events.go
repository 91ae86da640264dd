package client

import (
	"iter"
	"slices"
	"sync"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/ui"
)

// Unknown is an event that this version has no type for.
type Unknown struct {
	Type event.Kind
	Raw  []byte // the whole frame
}

// Kind implements event.Event.
func (e *Unknown) Kind() event.Kind { return e.Type }

// LateFailure is a prompt that failed after it was acknowledged, which only
// the xcsh dialect knows, or another failure that no call waits for.
type LateFailure struct{ ID, Command, Message string }

// Kind implements event.Event.
func (*LateFailure) Kind() event.Kind { return "late_failure" }

// BadFrame is a line of the agent's output that makes no sense.
type BadFrame struct{ Line, Reason string }

// Kind implements event.Event.
func (*BadFrame) Kind() event.Kind { return "bad_frame" }

func decodeEvent(kind string, line []byte) (event.Event, error) {
	name := event.Kind(kind)
	switch kind {
	case "auto_compaction_start":
		name = event.KindCompactionStart
	case "auto_compaction_end":
		name = event.KindCompactionEnd
	}
	info, known := event.Lookup(name)
	if !known || !info.Client {
		return &Unknown{Type: name, Raw: append([]byte(nil), line...)}, nil
	}
	return event.DecodeAs(name, line)
}

// frame is what a subscription gets: an event or a notice.
type frame struct {
	event  event.Event
	notice *ui.Notice
}

// Subscription gets everything that comes from its beginning on. What nobody
// takes yet waits in memory.
type Subscription struct {
	client *Client

	mu    sync.Mutex
	some  sync.Cond
	queue []frame
	ended bool
}

// Subscribe begins a subscription. It ends with Close, and with the
// connection.
func (c *Client) Subscribe() *Subscription {
	s := &Subscription{client: c}
	s.some.L = &s.mu
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		s.ended = true
		return s
	}
	c.subscriptions[s] = struct{}{}
	return s
}

// Events gives the events in order, waiting for each, until the subscription
// ends. It is for one loop at a time; a loop that was left can be taken up
// again.
func (s *Subscription) Events() iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		for f := range s.frames() {
			if f.event != nil && !yield(f.event) {
				return
			}
		}
	}
}

// Close ends the subscription; a loop over it ends when it has got what came
// before.
func (s *Subscription) Close() {
	s.client.mu.Lock()
	delete(s.client.subscriptions, s)
	s.client.mu.Unlock()
	s.finish()
}

func (s *Subscription) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.some.Broadcast()
}

func (s *Subscription) frames() iter.Seq[frame] {
	return func(yield func(frame) bool) {
		for {
			f, ok := s.next()
			if !ok || !yield(f) {
				return
			}
		}
	}
}

func (s *Subscription) next() (frame, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.ended {
		s.some.Wait()
	}
	if len(s.queue) == 0 {
		return frame{}, false
	}
	f := s.queue[0]
	s.queue[0] = frame{}
	if s.queue = s.queue[1:]; len(s.queue) == 0 {
		s.queue = nil
	}
	return f, true
}

// holds says whether an event of a kind waits to be taken.
func (s *Subscription) holds(kind event.Kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.queue, func(f frame) bool { return f.event != nil && f.event.Kind() == kind })
}

func (s *Subscription) add(f frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.queue = append(s.queue, f)
		s.some.Signal()
	}
}

func (c *Client) publish(f frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.subscriptions {
		s.add(f)
	}
}

// dispatch calls the functions of the options.
func (c *Client) dispatch(f frame) {
	switch {
	case f.event != nil && c.options.OnEvent != nil:
		c.options.OnEvent(f.event)
	case f.notice != nil && c.options.OnNotice != nil:
		c.options.OnNotice(*f.notice)
	}
}
