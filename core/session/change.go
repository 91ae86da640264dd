package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// Changed is what a change of session came to.
type Changed struct {
	Cancelled bool   // a hook did not want it; nothing changed
	Text      string // fork: the text of the message that the new session ends before
}

// change is one kind of change, as replace carries it out.
type change struct {
	reason string // as session_start has it: new, resume, fork
	// before is the event that may cancel it.
	before event.Event
	// open makes the log of the new session. Its error leaves all as it was.
	open func(from *conversation) (*store.Log, error)
	// restores says that the new session brings its own model and level.
	restores bool
	// setup is what the new session holds before extensions hear of it.
	setup []store.Body
}

// NewSession begins a session with the model and level of this one, and with
// what setup gives it: messages, and entries of extensions; none: it is empty.
// parent is noted in its header; empty: none. The call takes its place in the
// order of prompts and returns at once; wait gives the outcome, and may be
// called once. Handlers of a session_before event may cancel it, and so does an
// abort while they are asked. With an error, ErrClosed after Close, everything
// is as it was. What was taken from the session before is stale then, see
// Generation.
func (s *Session) NewSession(ctx context.Context, parent string, setup ...store.Body) (wait func() (Changed, error)) {
	return s.change(ctx, func(*conversation) (change, Changed, error) {
		return change{
			reason: "new", before: &event.SessionBeforeSwitch{Reason: "new"}, setup: setup,
			open: func(from *conversation) (*store.Log, error) {
				return s.createLog(store.CreateOptions{Dir: s.folderBeside(from), Cwd: from.cwd, ParentSession: parent})
			},
		}, Changed{}, nil
	})
}

// SwitchSession opens a session file in place of this session, which may be
// its own. What cannot be opened is an error, and this session stays. Otherwise
// it is like NewSession.
func (s *Session) SwitchSession(ctx context.Context, path string) (wait func() (Changed, error)) {
	return s.change(ctx, func(from *conversation) (change, Changed, error) {
		path = absolute(from.cwd, path)
		return change{
			reason: "resume", before: &event.SessionBeforeSwitch{Reason: "resume", TargetSessionFile: path}, restores: true,
			open: func(from *conversation) (*store.Log, error) { return openLog(from, path) },
		}, Changed{}, nil
	})
}

// Fork makes a session of the path to an entry and goes there: with position
// before, to what came before a user message, whose text is given back; with
// position at, to the entry itself. Otherwise it is like NewSession.
func (s *Session) Fork(ctx context.Context, entryID, position string) (wait func() (Changed, error)) {
	return s.change(ctx, func(from *conversation) (change, Changed, error) {
		entry, ok := from.log.Entry(entryID)
		if !ok {
			return change{}, Changed{}, fmt.Errorf("fork: %w: %s", store.ErrEntryNotFound, entryID)
		}
		leaf, text := entry.ID, ""
		if position == "before" {
			m, err := entry.Message()
			user, ok := m.(*message.User)
			if err != nil || !ok {
				return change{}, Changed{}, fmt.Errorf("fork: entry %s is no user message: choose one of get_fork_messages", entryID)
			}
			leaf, text = parentIn(from.log, entry), message.TextOf(user)
		}
		return s.forkTo(func(*conversation) string { return leaf }, entryID, position), Changed{Text: text}, nil
	})
}

// parentIn is the parent of an entry, as a leaf; empty: it has none, or none
// that is there.
func parentIn(log *store.Log, e store.Entry) string {
	if _, known := log.Entry(e.ParentID); !known {
		return ""
	}
	return e.ParentID
}

// Clone makes a session of the whole path to the current leaf and goes there.
// Otherwise it is like NewSession.
func (s *Session) Clone(ctx context.Context) (wait func() (Changed, error)) {
	return s.change(ctx, func(from *conversation) (change, Changed, error) {
		if from.log.Path() != "" && !from.log.Persisted() {
			return change{}, Changed{}, errors.New("there is nothing to clone yet: send a message first")
		}
		// The end of a run that is on is part of what is cloned.
		return s.forkTo(func(from *conversation) string { return from.log.Leaf() }, from.log.Leaf(), "at"), Changed{}, nil
	})
}

// forkTo is a change to a copy of the path to a leaf, which is asked for when
// nothing runs any more.
func (s *Session) forkTo(leaf func(from *conversation) string, entryID, position string) change {
	return change{
		reason: "fork", before: &event.SessionBeforeFork{EntryID: entryID, Position: position}, restores: true,
		open: func(from *conversation) (*store.Log, error) {
			log, err := from.log.Fork(store.ForkOptions{LeafID: leaf(from), Dir: s.folderBeside(from)})
			if err != nil || !holdsMessages(log) {
				return log, err
			}
			// What it took over must be there for who opens the file that clients
			// are told of, also where nothing more is said.
			if err := log.Persist(); err != nil {
				return nil, errors.Join(err, log.Close())
			}
			return log, nil
		},
	}
}

// holdsMessages says whether anything was said in a session, other than by
// extensions; compare conversation.add.
func holdsMessages(log *store.Log) bool {
	return slices.ContainsFunc(log.Context(log.Leaf()), func(item store.ContextItem) bool { return item.Role != message.RoleCustom })
}

// folderBeside is where the file of a session goes that follows another one:
// beside it. What follows one in memory stays in memory.
func (s *Session) folderBeside(from *conversation) string {
	if path := from.log.Path(); path != "" {
		return filepath.Dir(path)
	}
	return ""
}

func (s *Session) createLog(o store.CreateOptions) (*store.Log, error) {
	if o.Dir == "" {
		return store.InMemory(o), nil
	}
	return store.Create(o)
}

func openLog(from *conversation, path string) (*store.Log, error) {
	if from.log.Persisted() && sameFile(path, from.log.Path()) {
		return from.log, nil // nobody else can have written to it
	}
	log, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	if cwd := log.Header().Cwd; cwd != "" {
		if _, err := os.Stat(cwd); err != nil {
			return nil, errors.Join(fmt.Errorf("the working folder of session %s cannot be used: %w", path, err), log.Close())
		}
	}
	return log, nil
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func absolute(cwd, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cwd, path)
}

// change lets plan say what to do when the change's turn has come, and does
// it. Everything behind it in line waits until it is over.
func (s *Session) change(ctx context.Context, plan func(*conversation) (change, Changed, error)) (wait func() (Changed, error)) {
	type outcome struct {
		changed Changed
		err     error
	}
	done := make(chan outcome, 1)
	s.gate.hold(func(release func()) {
		s.owned.run(func() {
			defer release()
			ctx, end := s.beginChange(ctx)
			defer end()
			what, changed, err := plan(s.currentConversation())
			if err == nil {
				changed.Cancelled, err = s.replace(ctx, what)
			}
			done <- outcome{changed, err}
		})
	})
	return func() (Changed, error) {
		o := <-done
		return o.changed, o.err
	}
}

// beginChange makes a context that an abort ends. It is for whoever holds the
// gate, so there is one at a time.
func (s *Session) beginChange(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	s.mu.Lock()
	outer := s.changing
	s.changing = cancel
	s.mu.Unlock()
	return ctx, func() {
		s.mu.Lock()
		s.changing = outer
		s.mu.Unlock()
		stop()
		cancel()
	}
}

// replace puts another conversation in the place of the current one: hooks
// may cancel; then what runs is aborted; then the new one is opened, so that a
// failure leaves the old one; then extensions see the old one end and the new
// one start, once each.
func (s *Session) replace(ctx context.Context, what change) (cancelled bool, err error) {
	if s.isClosed() {
		return false, ErrClosed
	}
	cancel := hook.Decide[event.CancelResult](ctx, s.config.Hooks, what.before).Cancel
	if cancel || ctx.Err() != nil { // an abort is a no to what the hooks were asked
		return true, nil
	}
	s.stopRun()
	s.stopBash()
	old := s.currentConversation()
	log, err := what.open(old)
	if err != nil {
		return false, err
	}
	s.stage(func(ctx context.Context) {
		s.config.Hooks.Tell(ctx, &event.SessionShutdown{Reason: what.reason, TargetSessionFile: log.Path()})
	})
	next := newConversation(log, old.cwd)
	s.swap(next, what)
	if next.cwd != old.cwd {
		s.changeFolder(next.cwd)
		if what.restores {
			s.restore(next) // the extensions of the folder may have brought its model
		}
	}
	previous := old.log.Path()
	if log != old.log {
		if err := old.log.Close(); err != nil {
			s.emit(s.life, &event.StorageError{Path: previous, Error: fmt.Sprintf("close the session that was left: %v", err)})
		}
	}
	s.announceStart(event.SessionStart{Reason: what.reason, PreviousSessionFile: previous})
	return false, nil
}

// swap makes another conversation the current one. What was queued for the old
// one is given up.
func (s *Session) swap(next *conversation, what change) {
	s.mu.Lock()
	for len(s.bashes) > 0 { // one has begun since they were stopped
		s.mu.Unlock()
		s.stopBash()
		s.mu.Lock()
	}
	s.conversation = next
	s.generation++
	dropped := s.queue.count() > 0
	hidden := s.queue.reset()
	s.todos.Set(nil)
	s.uselessCompactions = 0
	s.mu.Unlock()
	if what.restores {
		s.restore(next)
	}
	s.adopt(next)
	s.setUp(next, what.setup)
	if dropped {
		s.tellQueueNow()
	}
	s.reportDropped(hidden)
}

// setUp puts into a new session what it is to begin with.
func (s *Session) setUp(c *conversation, setup []store.Body) {
	for _, body := range setup {
		_, err := c.log.Append(body)
		if _, said := body.(store.MessageBody); said && err == nil {
			err = c.log.Persist()
		}
		s.reportWrite(c, err)
	}
	if len(setup) > 0 {
		c.reload()
	}
}

// reportDropped tells of messages that extensions had queued for a session
// which is not there any more.
func (s *Session) reportDropped(hidden []message.Message) {
	for _, m := range hidden {
		if custom, ok := m.(*message.Custom); ok {
			s.reportRuntime("send_message", fmt.Errorf(
				"the message of type %s was dropped: the session changed before its turn came; send it again from session_start", custom.CustomType))
		}
	}
}

func (s *Session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// stopRun aborts the run and the compaction, if there are any, and waits for
// their end.
func (s *Session) stopRun() {
	s.mu.Lock()
	r, c := s.run, s.compacting
	if r != nil {
		r.abort(s.life)
	}
	if c != nil {
		c.cancel()
	}
	s.mu.Unlock()
	if r != nil {
		<-r.done
	}
	if c != nil {
		<-c.done
	}
}

// stage is for whoever holds the gate and does what cannot be undone: an abort
// ends what hooks wait for in it, and the rest goes on.
func (s *Session) stage(f func(ctx context.Context)) {
	ctx, end := s.beginChange(s.life)
	defer end()
	f(ctx)
}

// announceStart tells extensions of the session that is live now, and lets
// them name more resources.
func (s *Session) announceStart(start event.SessionStart) {
	s.stage(func(ctx context.Context) { s.config.Hooks.Tell(ctx, &start) })
	var more event.ResourcesDiscoverResult
	s.stage(func(ctx context.Context) {
		more = hook.Decide[event.ResourcesDiscoverResult](ctx, s.config.Hooks, &event.ResourcesDiscover{Cwd: s.Cwd(), Reason: start.Reason})
	})
	s.stage(func(ctx context.Context) {
		resources := s.config.Resources.Load(ctx, s.Cwd(), more)
		s.mu.Lock()
		s.resources = resources
		s.mu.Unlock()
	})
}
