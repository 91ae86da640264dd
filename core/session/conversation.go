package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// conversation is the part of a session that a change of session replaces:
// the file, and the messages of the active branch.
type conversation struct {
	log *store.Log
	cwd string

	mu      sync.Mutex // guards what follows; taken after Session.mu, never before
	context []item
	loads   int                      // how often context was built from the log
	held    []*message.BashExecution // bash results that wait for the run to end
	failing bool                     // the last write failed
	looked  bool                     // whether its file is locked was looked at
}

// item is one message of the active branch. Those that came from the file are
// decoded when somebody needs them.
type item struct {
	entryID string
	role    message.Role
	stored  store.ContextItem
	value   message.Message // nil: not decoded yet
}

func newConversation(log *store.Log, cwd string) *conversation {
	if own := log.Header().Cwd; own != "" {
		cwd = own
	}
	c := &conversation{log: log, cwd: cwd}
	c.reload()
	return c
}

// reload builds the context from the log again, as a fresh load would.
func (c *conversation) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads++
	stored := c.log.Context(c.log.Leaf()) // inside the lock, so that add knows what it must not add again
	c.context = make([]item, len(stored))
	for i, s := range stored {
		c.context[i] = item{entryID: s.EntryID, role: s.Role, stored: s}
	}
}

// add appends a message to the log and the context. The first that is not an
// extension's brings the file into being: what extensions say when a session
// starts is no reason to keep it.
func (c *conversation) add(m message.Message) error {
	c.mu.Lock()
	loads := c.loads
	c.mu.Unlock()
	entry, err := c.log.Append(bodyOf(m))
	c.mu.Lock()
	if c.loads == loads || !c.has(entry.ID) {
		if m.Role() == message.RoleUser {
			c.drop((*message.Assistant).IsCutOff) // as on a fresh load
		}
		c.context = append(c.context, item{entryID: entry.ID, role: m.Role(), value: asStored(m, entry)})
	}
	c.mu.Unlock()
	if err != nil || m.Role() == message.RoleCustom {
		return err
	}
	return c.log.Persist()
}

// asStored is a message as a fresh load gives it: the file has no time for that
// of an extension but the entry's.
func asStored(m message.Message, entry store.Entry) message.Message {
	if m.Role() == message.RoleCustom {
		if stored, err := entry.Message(); err == nil && stored != nil {
			return stored
		}
	}
	return m
}

// foundUnlocked says, once, that the file is there and has no lock.
func (c *conversation) foundUnlocked() bool {
	c.mu.Lock()
	looked := c.looked
	c.mu.Unlock()
	if looked || !c.log.Persisted() {
		return false
	}
	c.mu.Lock()
	looked, c.looked = c.looked, true
	c.mu.Unlock()
	return !looked && !c.log.Locked()
}

// has says whether an entry is in the context. The caller holds mu.
func (c *conversation) has(entryID string) bool {
	for i := len(c.context) - 1; i >= 0; i-- {
		if c.context[i].entryID == entryID {
			return true
		}
	}
	return false
}

func bodyOf(m message.Message) store.Body {
	if custom, ok := m.(*message.Custom); ok {
		return store.CustomMessage{CustomType: custom.CustomType, Content: custom.Content, Display: custom.Display, Details: custom.Details}
	}
	return store.MessageBody{Message: m}
}

// count is how many messages the active branch has.
func (c *conversation) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.context)
}

// messages decodes the active branch.
func (c *conversation) messages() []message.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]message.Message, 0, len(c.context))
	for i := range c.context {
		list = append(list, c.context[i].decode())
	}
	return list
}

func (i *item) decode() message.Message {
	if i.value == nil {
		i.value = i.stored.Message()
	}
	return i.value
}

// raw gives the messages in wire form.
func (c *conversation) raw() []json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]json.RawMessage, 0, len(c.context))
	for i := range c.context {
		if c.context[i].stored.EntryID != "" {
			list = append(list, c.context[i].stored.Raw())
			continue
		}
		data, err := message.Marshal(c.context[i].value)
		if err != nil {
			panic(err) // what does not encode is refused where it comes in
		}
		list = append(list, data)
	}
	return list
}

// dropLast takes the newest message out of the context if it is an answer
// that fits; it stays in the file.
func (c *conversation) dropLast(fits func(*message.Assistant) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(fits)
}

// drop is dropLast for a caller who holds mu.
func (c *conversation) drop(fits func(*message.Assistant) bool) {
	n := len(c.context)
	if n == 0 || c.context[n-1].role != message.RoleAssistant {
		return
	}
	if answer, ok := c.context[n-1].decode().(*message.Assistant); ok && fits(answer) {
		c.context = c.context[:n-1]
	}
}

// hold keeps a bash result back until the run has ended.
func (c *conversation) hold(b *message.BashExecution) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = append(c.held, b)
}

// takeHeld gives the bash results that were held back, in order.
func (c *conversation) takeHeld() []*message.BashExecution {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.held
	c.held = nil
	return held
}

func (c *conversation) addAll(list []*message.BashExecution) error {
	var errs []error
	for _, b := range list {
		errs = append(errs, c.add(b))
	}
	return errors.Join(errs...)
}

// writeTrouble turns the outcome of a write into the event that clients need,
// nil where the state of writing did not change.
func (c *conversation) writeTrouble(err error) event.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.failing
	c.failing = err != nil
	switch {
	case err != nil && !was:
		return &event.StorageError{Path: c.log.Path(), Error: fmt.Sprintf("the session file could not be written; the session goes on in memory: %v", err)}
	case err == nil && was:
		return &event.StorageError{Path: c.log.Path(), Healed: true}
	}
	return nil
}
