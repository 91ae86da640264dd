package session

import (
	"context"
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
	custom := s.customMessage(m, "send_message")
	if custom == nil {
		return
	}
	if o.DeliverAs == DeliverNextTurn {
		s.mu.Lock()
		s.queue.nextTurn = append(s.queue.nextTurn, custom)
		s.mu.Unlock()
		return
	}
	s.afterPreparing(func(release func()) { s.place(custom, o, release) })
}

// place is called with mu held, and gives it back. While idle it keeps the gate
// until the message is in the conversation.
func (s *Session) place(custom *message.Custom, o SendOptions, release func()) {
	switch {
	case s.closed:
		s.mu.Unlock()
		release()
	case s.streaming:
		to := steering
		if o.DeliverAs == DeliverFollowUp {
			to = followUps
		}
		s.queue.lines[to] = append(s.queue.lines[to], &waiting{value: custom, hidden: true})
		s.mu.Unlock()
		release()
	case o.TriggerTurn:
		r := s.newRun()
		s.mu.Unlock()
		s.start(r, []agent.Queued{{Message: custom}})
		release()
	default:
		s.mu.Unlock()
		s.owned.run(func() {
			defer release()
			s.stage(func(ctx context.Context) {
				s.emit(ctx, &event.MessageStart{Message: custom})
				s.emit(ctx, &event.MessageEnd{Message: custom})
			})
		})
	}
}

// SendUserMessage sends a text as if the user had, without commands and
// templates. During a run it needs deliverAs. It returns without waiting;
// what goes wrong later is reported as the error of an extension.
func (s *Session) SendUserMessage(content message.Content, deliverAs Deliver) {
	user := &message.User{Content: message.BlockContent(content.Blocks()), Timestamp: s.now()}
	if _, err := message.Marshal(user); err != nil {
		s.reportRuntime("send_user_message", fmt.Errorf("the message cannot be encoded: %w", err))
		return
	}
	s.afterPreparing(func(release func()) {
		err := s.placeUser(user, deliverAs)
		if err == nil {
			release()
			return
		}
		s.owned.run(func() {
			defer release()
			s.reportRuntime("send_user_message", err)
		})
	})
}

// placeUser is called with mu held, and gives it back.
func (s *Session) placeUser(user *message.User, deliverAs Deliver) error {
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	if !s.streaming {
		r := s.newRun()
		r.preparing = true
		s.mu.Unlock()
		s.owned.run(func() { s.runUser(r, user) })
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
	s.mu.Unlock()
	s.tellQueue(nil)
	return nil
}

// runUser is the run that a message of an extension begins in the user's
// name.
func (s *Session) runUser(r *run, user *message.User) {
	s.waitCompaction()
	if err := s.checkModel(r.ctx); err != nil {
		s.abandon(r)
		s.reportRuntime("send_user_message", err)
		return
	}
	s.compactIfNeeded(r)
	messages := s.opening(r, user, message.TextOf(user), nil)
	s.prepared(r)
	s.drive(r, messages)
	s.settle(r)
}

// AppendEntry puts state of an extension into the session, which the model
// does not see; nil data is none. It gives the entry as it is on file. Data
// that is no JSON is an error; after Close the error wraps store.ErrClosed.
func (s *Session) AppendEntry(customType string, data json.RawMessage) (entry json.RawMessage, err error) {
	if len(data) > 0 && !json.Valid(data) {
		return nil, fmt.Errorf("append entry of type %s: the data is no JSON", customType)
	}
	stored, err := s.appendEntry(s.currentConversation(), store.Custom{CustomType: customType, Data: data})
	if err != nil {
		return nil, fmt.Errorf("append entry of type %s: %w", customType, err)
	}
	s.emit(s.life, &event.EntryAppended{Entry: stored.Raw})
	return stored.Raw, nil
}
