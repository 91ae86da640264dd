package session

import (
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// Deliver says when a message of an extension enters the conversation during
// a run. The values are those of the extension interface.
type Deliver string

// When messages of extensions are delivered.
const (
	DeliverSteer    Deliver = "steer"
	DeliverFollowUp Deliver = "followUp"
	DeliverNextTurn Deliver = "nextTurn" // with the next prompt
)

// SendOptions says what to do with a message of an extension.
type SendOptions struct {
	DeliverAs   Deliver // empty: steer
	TriggerTurn bool    // while idle: have the model answer it
}

// SendMessage puts a message of an extension into the conversation: at once
// while idle, else when its turn comes. It returns without waiting for that.
func (s *Session) SendMessage(m event.CustomMessage, o SendOptions) {
	custom := s.customMessage(m)
	if o.DeliverAs == DeliverNextTurn {
		s.mu.Lock()
		s.queue.nextTurn = append(s.queue.nextTurn, custom)
		s.mu.Unlock()
		return
	}
	s.gate.hold(func(release func()) {
		s.afterSettling(func() {
			defer release()
			s.place(custom, o)
		})
	})
}

func (s *Session) place(custom *message.Custom, o SendOptions) {
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
	case s.streaming:
		to := steering
		if o.DeliverAs == DeliverFollowUp {
			to = followUps
		}
		s.queue.lines[to] = append(s.queue.lines[to], &waiting{value: custom, hidden: true})
		s.mu.Unlock()
	case o.TriggerTurn:
		r := s.newRun()
		s.mu.Unlock()
		s.goOwned(func() {
			s.drive(r, []agent.Queued{{Message: custom}})
			s.settle(r)
		})
	default:
		s.mu.Unlock()
		s.emit(s.life, &event.MessageStart{Message: custom})
		s.emit(s.life, &event.MessageEnd{Message: custom})
	}
}

// SendUserMessage sends a text as if the user had, without commands and
// templates. During a run it needs deliverAs. It returns without waiting;
// what goes wrong later is reported as the error of an extension.
func (s *Session) SendUserMessage(content message.Content, deliverAs Deliver) {
	s.gate.hold(func(release func()) {
		s.afterSettling(func() {
			defer release()
			if err := s.placeUser(content, deliverAs); err != nil {
				s.emit(s.life, &event.ExtensionError{ExtensionPath: "<runtime>", Event: "send_user_message", Error: err.Error()})
			}
		})
	})
}

func (s *Session) placeUser(content message.Content, deliverAs Deliver) error {
	user := &message.User{Content: message.BlockContent(content.Blocks()), Timestamp: s.now()}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	if !s.streaming {
		r := s.newRun()
		s.mu.Unlock()
		s.goOwned(func() { s.runUser(r, user) })
		return nil
	}
	to := steering
	switch deliverAs {
	case DeliverSteer:
	case DeliverFollowUp:
		to = followUps
	default:
		s.mu.Unlock()
		return ErrBusy
	}
	s.queue.lines[to] = append(s.queue.lines[to], &waiting{value: user, text: message.TextOf(user)})
	update := s.queue.update()
	s.mu.Unlock()
	s.emit(s.life, update)
	return nil
}

// runUser is the run that a message of an extension begins in the user's
// name.
func (s *Session) runUser(r *run, user *message.User) {
	s.waitCompaction(r.ctx)
	if err := s.checkModel(r.ctx); err != nil {
		s.release(r)
		s.emit(s.life, &event.ExtensionError{ExtensionPath: "<runtime>", Event: "send_user_message", Error: err.Error()})
		return
	}
	s.currentConversation().dropLast(isCutOff)
	messages := append([]message.Message{user}, s.takeNextTurn()...)
	messages = append(messages, s.beforeAgentStart(r, message.TextOf(user), nil)...)
	s.drive(r, unqueued(messages))
	s.settle(r)
}

// AppendEntry puts state of an extension into the session, which the model
// does not see.
func (s *Session) AppendEntry(customType string, data json.RawMessage) (entry json.RawMessage, err error) {
	if len(data) > 0 && !json.Valid(data) {
		return nil, fmt.Errorf("append entry of type %s: the data is no JSON", customType)
	}
	stored, err := s.currentConversation().log.Append(store.Custom{CustomType: customType, Data: data})
	s.reportWrite(err)
	s.emit(s.life, &event.EntryAppended{Entry: stored.Raw})
	return stored.Raw, nil
}
