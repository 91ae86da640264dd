package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/todo"
	"github.com/seed-54e836f5/pi/core/ui"
)

// State is how a session is at one moment.
type State struct {
	Model                 *message.Model // nil: there is none
	ThinkingLevel         message.ThinkingLevel
	IsStreaming           bool // from acceptance to agent_settled
	IsCompacting          bool
	SteeringMode          QueueMode
	FollowUpMode          QueueMode
	InterruptMode         InterruptMode
	SessionFile           string // empty: in memory only
	SessionID             string
	SessionName           string
	AutoCompactionEnabled bool
	MessageCount          int
	PendingMessageCount   int      // length of both queues
	Diagnostics           []string // what was not loaded, and why
}

// State tells how the session is. It never waits for anything that runs.
func (s *Session) State() State {
	s.mu.Lock()
	c := s.conversation
	state := State{
		Model: s.model, ThinkingLevel: s.level(), IsStreaming: s.streaming, IsCompacting: s.compacting != nil && !s.compacting.ending,
		SteeringMode: s.settings.SteeringMode, FollowUpMode: s.settings.FollowUpMode, InterruptMode: s.settings.InterruptMode,
		AutoCompactionEnabled: s.settings.Compaction.Enabled,
		PendingMessageCount:   s.queue.count(),
	}
	s.mu.Unlock()
	state.SessionFile, state.SessionID, state.SessionName = c.log.Path(), c.log.ID(), c.log.Name()
	state.MessageCount = c.count()
	if s.config.Diagnostics != nil {
		state.Diagnostics = s.config.Diagnostics()
	}
	return state
}

// Messages lists the messages of the active branch, in wire form.
func (s *Session) Messages() []json.RawMessage { return s.currentConversation().raw() }

// LastAssistantText gives the text of the newest answer, trimmed; nil when
// there is no answer, or no text in it. One that was aborted before it said
// anything does not count.
func (s *Session) LastAssistantText() *string {
	messages := s.currentConversation().messages()
	for i := len(messages) - 1; i >= 0; i-- {
		answer, ok := messages[i].(*message.Assistant)
		if !ok || answer.StopReason == message.StopAborted && len(answer.Content) == 0 {
			continue
		}
		if text := strings.TrimSpace(message.Text(answer.Content)); text != "" {
			return &text
		}
		return nil
	}
	return nil
}

// ErrEmptyName refuses a session name without a letter. Clients match its
// text.
var ErrEmptyName = errors.New("Session name cannot be empty")

// SetName names the session, in one line and without blanks around it. The
// error is ErrEmptyName, or wraps store.ErrClosed after Close.
func (s *Session) SetName(ctx context.Context, name string) error {
	name = strings.TrimSpace(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(name))
	if name == "" {
		return ErrEmptyName
	}
	if _, err := s.appendEntry(s.currentConversation(), store.SessionInfo{Name: name}); err != nil {
		return fmt.Errorf("name the session: %w", err)
	}
	s.emit(ctx, &event.SessionInfoChanged{Name: name})
	return nil
}

// Todos is the list of tasks. It is the same one as long as s lives, and is
// emptied when another session takes the place of the one it belonged to.
func (s *Session) Todos() *todo.List { return &s.todos }

// Cwd is the folder that tools work in.
func (s *Session) Cwd() string { return s.currentConversation().cwd }

// Shell is how shell commands run in the working folder.
func (s *Session) Shell() Shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.Shell
}

// ID is the session's id.
func (s *Session) ID() string { return s.currentConversation().log.ID() }

// File is the session's file; empty: it is in memory only.
func (s *Session) File() string { return s.currentConversation().log.Path() }

// Mode is rpc, json or print.
func (s *Session) Mode() string { return s.config.Mode }

// UI is how to reach a person.
func (s *Session) UI() ui.UI { return s.config.UI }

// Generation counts the changes of session: what was taken from an older one
// is stale.
func (s *Session) Generation() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

func (s *Session) currentConversation() *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conversation
}

func (s *Session) currentResources() Resources {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resources
}

// Header is the header of the session, as its file has it.
func (s *Session) Header() store.Header { return s.currentConversation().log.Header() }
