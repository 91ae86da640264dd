package session

import (
	"context"
	"slices"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

// QueueMode says how many queued messages a turn takes. The values are the
// wire's.
type QueueMode string

// The queue modes.
const (
	All        QueueMode = "all"
	OneAtATime QueueMode = "one-at-a-time"
)

// InterruptMode says whether steering may cut off a batch of tool calls. The
// values are the wire's.
type InterruptMode string

// The interrupt modes.
const (
	Immediate InterruptMode = "immediate"
	Wait      InterruptMode = "wait"
)

// Steer queues a message that is delivered before the next model call. It
// takes effect in the order of calls; while idle it waits for the next
// prompt. accepted gets a *CommandNotQueuedError for a command of an extension,
// and ErrClosed after Close.
func (s *Session) Steer(p Prompt, accepted Accepted) { s.queueDirectly(steering, p, accepted) }

// FollowUp queues a message that is delivered when nothing else is left
// to do. Otherwise it is like Steer.
func (s *Session) FollowUp(p Prompt, accepted Accepted) { s.queueDirectly(followUps, p, accepted) }

func (s *Session) queueDirectly(to lane, p Prompt, accepted Accepted) {
	if p.Behavior == BehaviorRefuse {
		p.Behavior = behaviors[to]
	}
	s.enter(&admission{prompt: p, accepted: accepted, to: &to}, func(a *admission) {
		command, _, isCommand := s.findCommand(p.Text)
		switch {
		case isCommand:
			s.mu.Unlock()
			accepted("", &CommandNotQueuedError{Name: command.Name})
		case a.cleared:
			s.mu.Unlock()
			accepted(Queued, nil)
		default:
			s.enqueue(to, a)
		}
	})
}

// behaviors are the lanes in the words of the wire.
var behaviors = [lanes]Behavior{steering: BehaviorSteer, followUps: BehaviorFollowUp}

// CommandNotQueuedError refuses an extension's command in steer and
// follow_up.
type CommandNotQueuedError struct{ Name string }

// Error implements error.
func (e *CommandNotQueuedError) Error() string {
	return "the extension command /" + e.Name + " cannot be queued: send it with prompt, which runs it at once"
}

// enqueue puts an admitted message in line. With input hooks in the way that
// takes a while; lines keep the order in which messages came all the same. It
// is called with mu held, so that the run which the message was sent to does
// not settle before it is in line, and gives it back.
func (s *Session) enqueue(to lane, a *admission) {
	if s.closed {
		s.mu.Unlock()
		a.accepted("", ErrClosed)
		return
	}
	w := &waiting{text: a.prompt.Text, inHook: true}
	s.queue.lines[to] = append(s.queue.lines[to], w)
	during := s.running()
	before := s.queue.tail
	hooked := s.config.Hooks.Wanted(event.KindInput)
	if !hooked && before == nil {
		s.mu.Unlock()
		s.fill(s.life, w, a, during)
		return
	}
	through := make(chan struct{})
	s.queue.tail = through
	ctx, dismiss := context.WithCancel(s.life)
	w.dismiss = dismiss
	s.mu.Unlock()
	s.owned.run(func() {
		defer dismiss()
		if before != nil {
			<-before
		}
		s.fill(ctx, w, a, during)
		s.mu.Lock()
		if s.queue.tail == through {
			s.queue.tail = nil
		}
		s.mu.Unlock()
		close(through)
	})
}

// fill lets hooks see a queued message, expands it, and makes it deliverable.
func (s *Session) fill(ctx context.Context, w *waiting, a *admission, during *run) {
	text, images, handled := s.passInput(ctx, a.prompt)
	if !handled {
		text = s.currentResources().Expand(text)
	}
	s.mu.Lock()
	switch {
	case w.gone:
		s.mu.Unlock()
		a.accepted(Queued, nil)
		return
	case handled:
		s.queue.remove(w)
		s.mu.Unlock()
		a.accepted(Handled, nil)
		return
	}
	w.text, w.value, w.inHook, w.dismiss = text, message.NewUser(text, images, s.now()), false, nil
	s.mu.Unlock()
	s.tellQueue(func() { a.accepted(Queued, nil) })
	if during != nil {
		s.deliverLate(during)
	}
}

// deliverLate begins a run for what was sent to a run that settled before the
// message was ready.
func (s *Session) deliverLate(during *run) {
	s.gate.hold(func(release func()) {
		s.afterSettling(func() {
			defer release()
			if s.run != nil || s.closed || during.aborted || !s.queue.deliverable() {
				s.mu.Unlock()
				return
			}
			r := s.newRun()
			queued := s.takeAny()
			s.mu.Unlock()
			s.start(r, queued)
		})
	})
}

// tellQueue tells clients what waits, and calls then, if not nil, right behind
// that. Whoever changes the queue at the same time comes before or after it,
// so that the last that clients hear is how the queue is. It does not wait.
func (s *Session) tellQueue(then func()) {
	s.telling.pass(func() {
		s.mu.Lock()
		update := s.queue.update()
		s.mu.Unlock()
		s.emit(s.life, update)
		if then != nil {
			then()
		}
	})
}

// tellQueueNow is tellQueue for those that go on when clients have been told.
func (s *Session) tellQueueNow() {
	told := make(chan struct{})
	s.tellQueue(func() { close(told) })
	<-told
}

// ClearQueue takes everything out of the queue, except messages of extensions,
// and gives the texts back. It waits until subscribers know.
func (s *Session) ClearQueue() (steeringTexts, followUpTexts []string) {
	s.mu.Lock()
	texts := [lanes][]string{{}, {}}
	for l := range lanes {
		for _, w := range s.queue.lines[l] {
			if !w.hidden {
				texts[l] = append(texts[l], w.text)
				w.gone = true
			}
		}
		s.queue.lines[l] = slices.DeleteFunc(s.queue.lines[l], func(w *waiting) bool { return w.gone })
	}
	for _, a := range s.queue.entering {
		if a.to != nil && !a.cleared {
			texts[*a.to] = append(texts[*a.to], a.prompt.Text)
			a.cleared = true
		}
	}
	s.mu.Unlock()
	s.tellQueueNow()
	return texts[steering], texts[followUps]
}

// SetSteeringMode says how many steering messages a turn takes, in this
// session.
func (s *Session) SetSteeringMode(m QueueMode) {
	s.choose("steeringMode", func(set *Settings) { set.SteeringMode = m })
}

// SetFollowUpMode says how many follow-ups a turn takes, in this session.
func (s *Session) SetFollowUpMode(m QueueMode) {
	s.choose("followUpMode", func(set *Settings) { set.FollowUpMode = m })
}

// SetInterruptMode says whether steering cuts off a batch of tool calls, in
// this session.
func (s *Session) SetInterruptMode(m InterruptMode) {
	s.choose("interruptMode", func(set *Settings) { set.InterruptMode = m })
}

// takeFrom is how the loop takes messages off a line.
func (s *Session) takeFrom(l lane) func(taken int) (agent.Queued, bool) {
	return func(taken int) (agent.Queued, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.take(l, taken)
	}
}

// take takes a message off a line, if the line's mode allows one more. The
// caller holds mu.
func (s *Session) take(l lane, taken int) (agent.Queued, bool) {
	mode := s.settings.SteeringMode
	if l == followUps {
		mode = s.settings.FollowUpMode
	}
	if taken > 0 && mode != All {
		return agent.Queued{}, false
	}
	w := s.queue.take(l)
	if w == nil {
		return agent.Queued{}, false
	}
	return agent.Queued{Message: w.value, Announce: func() { s.announce(l, w) }}, true
}

// takeAny takes what a run goes on with that no prompt began: steering, or
// else follow-ups; nil when there is nothing. The caller holds mu.
func (s *Session) takeAny() []agent.Queued {
	for l := range lanes {
		var taken []agent.Queued
		for q, ok := s.take(l, 0); ok; q, ok = s.take(l, len(taken)) {
			taken = append(taken, q)
		}
		if taken != nil {
			return taken
		}
	}
	return nil
}

// announce tells clients that a message left the queue.
func (s *Session) announce(l lane, w *waiting) {
	s.mu.Lock()
	s.queue.leaving[l] = slices.DeleteFunc(s.queue.leaving[l], func(other *waiting) bool { return other == w })
	s.mu.Unlock()
	if !w.hidden {
		s.tellQueueNow()
	}
}

func (s *Session) steeringWaits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings.InterruptMode != Immediate {
		return false
	}
	return slices.ContainsFunc(s.queue.lines[steering], func(w *waiting) bool { return !w.inHook })
}

func (s *Session) takeNextTurn() []message.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.queue.nextTurn
	s.queue.nextTurn = nil
	return messages
}

// running is the run that a message sent now is for; nil: none. The caller
// holds mu.
func (s *Session) running() *run {
	if s.streaming {
		return s.run
	}
	return nil
}
