package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/store"
)

// subscribers are those who see every client event of the session.
type subscribers struct {
	mu   sync.Mutex
	list []*subscriber
}

type subscriber struct{ receive func(event.Event) }

// Subscribe calls receive with every event that clients see, in the order
// that each goroutine of the session emits them. It may block, and so holds
// up what it is told of; it must not call back into the session and wait.
func (s *Session) Subscribe(receive func(event.Event)) (cancel func()) {
	sub := &subscriber{receive}
	s.subscribers.mu.Lock()
	defer s.subscribers.mu.Unlock()
	s.subscribers.list = append(slices.Clone(s.subscribers.list), sub)
	return func() {
		s.subscribers.mu.Lock()
		defer s.subscribers.mu.Unlock()
		s.subscribers.list = slices.DeleteFunc(slices.Clone(s.subscribers.list), func(other *subscriber) bool { return other == sub })
	}
}

// Emit puts an event into the session's stream, for those who serve clients
// and extensions and have something of their own to tell.
func (s *Session) Emit(e event.Event) { s.emit(s.life, e) }

// emit passes an event on: to hooks, then, where it ends a message, to the
// conversation and its file, then to subscribers. The file comes before the
// subscribers so that a client never saw a message that a crash then loses.
func (s *Session) emit(ctx context.Context, e event.Event) {
	info, ok := event.Lookup(e.Kind())
	if !ok {
		panic("session: event kind without a row in the table: " + string(e.Kind()))
	}
	if clientsFirst[e.Kind()] {
		s.publish(e)
		s.config.Hooks.Tell(ctx, e)
		return
	}
	switch info.Hook {
	case event.Observe:
		s.config.Hooks.Tell(ctx, e)
	case event.Decide:
		hook.Decide[event.MessageEndResult](ctx, s.config.Hooks, e)
	}
	if end, ok := e.(*event.MessageEnd); ok {
		c := s.currentConversation()
		s.reportWrite(c, c.add(end.Message))
	}
	if info.Client {
		s.publish(e)
	}
}

// clientsFirst are the kinds that the reference shows to clients before its
// handlers run.
var clientsFirst = map[event.Kind]bool{event.KindSessionInfoChanged: true}

func (s *Session) publish(e event.Event) {
	s.subscribers.mu.Lock()
	list := s.subscribers.list
	s.subscribers.mu.Unlock()
	for _, sub := range list {
		sub.receive(e)
	}
}

// reportWrite tells clients when a session file could not be written, and
// when it could again.
func (s *Session) reportWrite(c *conversation, err error) {
	if e := c.writeTrouble(err); e != nil {
		s.publish(e)
	}
	s.noteLock(c)
}

// noteLock tells, once for a session file, that other processes are not kept
// from it.
func (s *Session) noteLock(c *conversation) {
	if s.config.Note != nil && c.foundUnlocked() {
		s.config.Note(fmt.Sprintf("session file %s cannot be locked where it is: do not open it in another process as long as this one runs", c.log.Path()))
	}
}

// appendEntry adds an entry to the session. Trouble with the disk is told to
// clients, and the session goes on; any other error means that nothing was
// added.
func (s *Session) appendEntry(c *conversation, body store.Body) (store.Entry, error) {
	entry, err := c.log.Append(body)
	var disk *store.WriteError
	if err != nil && !errors.As(err, &disk) {
		return store.Entry{}, err
	}
	s.reportWrite(c, err)
	return entry, nil
}
