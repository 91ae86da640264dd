package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
)

// Behavior says what becomes of a prompt that comes while a run is on. The
// values are the wire's.
type Behavior string

// The behaviors of a prompt during a run.
const (
	BehaviorRefuse   Behavior = ""
	BehaviorSteer    Behavior = "steer"
	BehaviorFollowUp Behavior = "followUp"
)

// Prompt is a text for the model, or a slash command.
type Prompt struct {
	Text     string
	Images   []message.Block
	Behavior Behavior
	Source   string // interactive, rpc, extension
}

// Disposition says what became of an accepted prompt. The values are the
// wire's.
type Disposition string

// What becomes of a prompt.
const (
	Started Disposition = "started" // a run begins
	Queued  Disposition = "queued"  // it waits its turn
	Handled Disposition = "handled" // a command or a hook took it; no run follows
)

// Accepted is told what became of a prompt, exactly once, on any goroutine,
// and before the first event of its run.
type Accepted func(Disposition, error)

// ErrBusy refuses a prompt during a run that does not say what to do then.
// Clients look for the words streaming and streamingBehavior in it.
var ErrBusy = errors.New(`a run is streaming: set streamingBehavior to "steer" or "followUp" to queue the message, or abort first`)

// ErrWithdrawn refuses a prompt that an abort overtook.
var ErrWithdrawn = errors.New("aborted before it began")

// admission is a prompt on its way: from the call of Prompt until it is
// queued, runs, or was refused.
type admission struct {
	prompt   Prompt
	accepted Accepted
	// What follows is guarded by Session.mu.
	to      *lane // of a direct steer or follow-up; nil: it is a prompt
	aborted bool  // an abort came while it waited in line
	// withdrawn: an abort came and did not leave it in line. It was answered.
	withdrawn bool
	cleared   bool // its text was given back while it waited in line
}

// Prompt takes a prompt. It takes effect in the order of calls, and the call
// returns without waiting for anything. accepted gets ErrBusy during a run that
// p.Behavior says nothing about, ErrWithdrawn where an abort came first,
// ErrClosed after Close, and else the error that kept the run from starting.
func (s *Session) Prompt(p Prompt, accepted Accepted) {
	a := &admission{prompt: p, accepted: accepted}
	s.enter(a, s.admitPrompt)
}

// enter lets an admission through the gate, in its turn, and keeps it where
// an abort finds it until then. admit is called with mu held, and gives it
// back.
func (s *Session) enter(a *admission, admit func(*admission)) {
	s.mu.Lock()
	s.queue.entering = append(s.queue.entering, a)
	s.mu.Unlock()
	s.gate.hold(func(release func()) {
		s.afterSettling(func() {
			s.queue.leave(a)
			if a.withdrawn {
				s.mu.Unlock()
			} else {
				admit(a)
			}
			release()
		})
	})
}

// admitPrompt decides, at the prompt's turn, what it is: a command of an
// extension, which runs beside everything else; a message for the queue; or
// the beginning of a run.
func (s *Session) admitPrompt(a *admission) {
	command, arguments, isCommand := s.findCommand(a.prompt.Text)
	switch {
	case s.closed:
		s.mu.Unlock()
		a.accepted("", ErrClosed)
	case isCommand:
		s.commandCalls.begin()
		s.mu.Unlock()
		s.owned.run(func() { s.runCommand(command, arguments, a.accepted) })
	case s.run == nil:
		r := s.newRun()
		r.preparing = true
		if a.aborted {
			r.abort(s.life)
		}
		s.mu.Unlock()
		s.owned.run(func() { s.runPrompt(r, a) })
	case a.prompt.Behavior == BehaviorRefuse:
		s.mu.Unlock()
		a.accepted("", ErrBusy)
	default:
		to := steering
		if a.prompt.Behavior == BehaviorFollowUp {
			to = followUps
		}
		s.enqueue(to, a)
	}
}

// runPrompt is the life of a run that a prompt began, on its own goroutine:
// hooks and expansion, acceptance, the turns, the end. Where the conversation
// is compacted first, that comes behind the acceptance: clients bound the time
// that they wait for it.
func (s *Session) runPrompt(r *run, a *admission) {
	text, images, handled := s.passInput(r.ctx, a.prompt)
	if handled {
		s.abandon(r)
		a.accepted(Handled, nil)
		return
	}
	if err := s.checkModel(r.ctx); err != nil {
		s.abandon(r)
		a.accepted("", err)
		return
	}
	accept := sync.OnceFunc(func() { a.accepted(Started, nil) })
	if s.compactionAhead(r) {
		accept()
		s.waitCompaction()
		s.compactIfNeeded(r)
	}
	text = s.currentResources().Expand(text)
	messages := s.opening(r, message.NewUser(text, images, s.now()), text, images)
	accept()
	s.prepared(r)
	s.drive(r, messages)
	s.settle(r)
}

// opening is what a run begins with: what the user said, what extensions kept
// for the next turn, and what they add now.
func (s *Session) opening(r *run, user *message.User, text string, images []message.Block) []agent.Queued {
	messages := []agent.Queued{{Message: user}}
	for _, m := range s.takeNextTurn() {
		messages = append(messages, agent.Queued{Message: m})
	}
	for _, m := range s.beforeAgentStart(r, text, images) {
		messages = append(messages, agent.Queued{Message: m})
	}
	return messages
}

// passInput lets hooks see and change a text before it is expanded.
func (s *Session) passInput(ctx context.Context, p Prompt) (text string, images []message.Block, handled bool) {
	if !s.config.Hooks.Wanted(event.KindInput) {
		return p.Text, p.Images, false
	}
	in := &event.Input{Text: p.Text, Images: p.Images, Source: p.Source, StreamingBehavior: string(p.Behavior)}
	result := hook.Decide[event.InputResult](ctx, s.config.Hooks, in)
	return in.Text, in.Images, result.Action == "handled"
}

// checkModel refuses a prompt that could not be answered, before it is
// accepted.
func (s *Session) checkModel(ctx context.Context) error {
	s.mu.Lock()
	model := s.model
	s.mu.Unlock()
	if model == nil {
		return errors.New(s.config.NoModel)
	}
	if _, err := s.config.Models.Connect(ctx, *model); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the model %s/%s cannot be used: %w", model.Provider, model.ID, err)
	}
	return nil
}

// beforeAgentStart lets hooks add messages and change the system prompt of
// this run.
func (s *Session) beforeAgentStart(r *run, text string, images []message.Block) []message.Message {
	e := &event.BeforeAgentStart{Prompt: text, Images: images, SystemPrompt: s.SystemPrompt()}
	if !s.config.Hooks.Wanted(e.Kind()) {
		return nil
	}
	e.SystemPromptOptions = s.systemPromptOptions()
	base := e.SystemPrompt
	asked := hook.Decide[hook.BeforeAgentStart](r.ctx, s.config.Hooks, e)
	if e.SystemPrompt != base {
		r.systemPrompt = &e.SystemPrompt
	}
	var messages []message.Message
	for _, m := range asked.Messages {
		if custom := s.customMessage(m, "before_agent_start"); custom != nil {
			messages = append(messages, custom)
		}
	}
	return messages
}

// systemPromptOptions tells extensions what the system prompt was made from.
func (s *Session) systemPromptOptions() event.Raw {
	s.mu.Lock()
	cwd, tools := s.conversation.cwd, s.tools.on()
	s.mu.Unlock()
	options := struct {
		Cwd           string            `json:"cwd"`
		SelectedTools []string          `json:"selectedTools"`
		ToolSnippets  map[string]string `json:"toolSnippets"`
		Guidelines    []string          `json:"promptGuidelines"`
	}{cwd, []string{}, map[string]string{}, []string{}}
	for _, t := range tools {
		spec := t.Spec()
		options.SelectedTools = append(options.SelectedTools, spec.Name)
		if spec.Snippet != "" {
			options.ToolSnippets[spec.Name] = spec.Snippet
		}
		options.Guidelines = append(options.Guidelines, spec.Guidelines...)
	}
	data, err := message.Marshal(options)
	if err != nil {
		panic(err) // texts always encode
	}
	return data
}

// customMessage makes what an extension asked for a message; nil, and reported,
// where it cannot be written down.
func (s *Session) customMessage(m event.CustomMessage, from string) *message.Custom {
	custom := &message.Custom{CustomType: m.CustomType, Content: m.Content, Display: m.Display, Details: m.Details, Timestamp: s.now()}
	if _, err := message.Marshal(custom); err != nil {
		s.reportRuntime(from, fmt.Errorf("the message of type %s cannot be encoded: %w", m.CustomType, err))
		return nil
	}
	return custom
}

// reportRuntime tells of trouble with something that an extension asked for
// without waiting for the outcome.
func (s *Session) reportRuntime(asked string, err error) {
	s.emit(s.life, &event.ExtensionError{ExtensionPath: "<runtime>", Event: asked, Error: err.Error()})
}

// isCommand says whether a text calls a slash command, and splits it.
func isCommand(text string) (name, arguments string, ok bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return "", "", false
	}
	name, arguments, _ = strings.Cut(rest, " ")
	return name, arguments, name != ""
}
