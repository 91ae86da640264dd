package session

import (
	"context"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// ModelNotFoundError says that there is no such model, or none with
// credentials. Clients match its text.
type ModelNotFoundError struct{ Provider, ID string }

// Error implements error.
func (e *ModelNotFoundError) Error() string {
	return "Model not found: " + e.Provider + "/" + e.ID
}

// Cycled is what cycling to another model gave.
type Cycled struct {
	Model         message.Model
	ThinkingLevel message.ThinkingLevel
	IsScoped      bool // cycling is limited to some models
}

// Model gives the current model; nil when there is none.
func (s *Session) Model() *message.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}

// modelOrNone is the current model, or one without a name.
func (s *Session) modelOrNone() message.Model {
	if m := s.Model(); m != nil {
		return *m
	}
	return message.Model{}
}

// ThinkingLevel gives the effective thinking level.
func (s *Session) ThinkingLevel() message.ThinkingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level()
}

// AvailableModels lists the models with credentials.
func (s *Session) AvailableModels() []message.Model { return s.config.Models.Available() }

// SetModel changes the model of this session, from the next model call on. The
// error is a *ModelNotFoundError.
func (s *Session) SetModel(ctx context.Context, provider, id string) (message.Model, error) {
	model, ok := s.config.Models.Find(provider, id)
	if !ok {
		return message.Model{}, &ModelNotFoundError{provider, id}
	}
	s.selectModel(ctx, model, "", "set")
	return model, nil
}

// CycleModel changes to the next of the scoped models, or of all available
// ones; nil when there is no other.
func (s *Session) CycleModel(ctx context.Context) *Cycled {
	s.mu.Lock()
	choices := s.scoped
	s.mu.Unlock()
	scoped := len(choices) > 0
	if !scoped {
		for _, m := range s.config.Models.Available() {
			choices = append(choices, ScopedModel{Model: m})
		}
	}
	if len(choices) < 2 {
		return nil
	}
	next := choices[0]
	if current := s.Model(); current != nil {
		for i, choice := range choices {
			if choice.Model.Provider == current.Provider && choice.Model.ID == current.ID {
				next = choices[(i+1)%len(choices)]
			}
		}
	}
	s.selectModel(ctx, next.Model, next.Level, "cycle")
	return &Cycled{Model: next.Model, ThinkingLevel: s.ThinkingLevel(), IsScoped: scoped}
}

// selectModel makes a model the current one, and with it a level; empty: the
// one asked for last stays asked for.
func (s *Session) selectModel(ctx context.Context, model message.Model, level message.ThinkingLevel, source string) {
	s.mu.Lock()
	previous, before := s.model, s.level()
	s.model = &model
	if level != "" {
		s.wanted = level
	}
	after, c := s.level(), s.conversation
	s.mu.Unlock()
	s.noteModel(c, model)
	s.changedLevel(ctx, c, before, after)
	if s.config.Hooks.Wanted(event.KindModelSelect) {
		s.config.Hooks.Tell(ctx, &event.ModelSelect{Model: model, PreviousModel: previous, Source: source})
	}
}

// SetThinkingLevel changes the level of this session, clamped to what the
// model has.
func (s *Session) SetThinkingLevel(ctx context.Context, level message.ThinkingLevel) {
	s.mu.Lock()
	before := s.level()
	if s.model == nil || s.model.Reasoning {
		s.wanted = level
	}
	after, c := s.level(), s.conversation
	s.mu.Unlock()
	s.changedLevel(ctx, c, before, after)
}

// CycleThinkingLevel changes to the model's next level; false when it has
// only one.
func (s *Session) CycleThinkingLevel(ctx context.Context) (message.ThinkingLevel, bool) {
	levels := s.ThinkingLevels()
	if len(levels) < 2 {
		return "", false
	}
	next := levels[0]
	current := s.ThinkingLevel()
	for i, level := range levels {
		if level == current {
			next = levels[(i+1)%len(levels)]
		}
	}
	s.SetThinkingLevel(ctx, next)
	return next, true
}

// ThinkingLevels lists the levels of the current model, only off without one.
func (s *Session) ThinkingLevels() []message.ThinkingLevel {
	if model := s.Model(); model != nil {
		return model.Levels()
	}
	return []message.ThinkingLevel{message.ThinkingOff}
}

// level is the effective thinking level. The caller holds mu.
func (s *Session) level() message.ThinkingLevel {
	if s.model == nil {
		return message.ThinkingOff
	}
	return s.model.Clamp(s.wanted)
}

// noteModel and noteLevel write down what is in force from here on. What
// cannot be written is told to clients, and counts all the same.
func (s *Session) noteModel(c *conversation, model message.Model) {
	_, err := c.log.Append(store.ModelChange{Provider: model.Provider, ModelID: model.ID})
	s.reportWrite(c, err)
}

func (s *Session) noteLevel(c *conversation, level message.ThinkingLevel) {
	_, err := c.log.Append(store.ThinkingLevelChange{Level: level})
	s.reportWrite(c, err)
}

// changedLevel writes down a change of the effective level and tells of it;
// where it stayed the same it does nothing.
func (s *Session) changedLevel(ctx context.Context, c *conversation, before, after message.ThinkingLevel) {
	if before == after {
		return
	}
	s.noteLevel(c, after)
	s.emit(ctx, &event.ThinkingLevelChanged{Level: after})
	s.config.Hooks.Tell(ctx, &event.ThinkingLevelSelect{Level: after, PreviousLevel: before})
}

// adopt brings a conversation and the session together: a new one gets model
// and level of the session written down. An old one keeps what it says, also
// where its model cannot be had now: looking at it changes nothing.
func (s *Session) adopt(c *conversation) {
	s.mu.Lock()
	model, level := s.model, s.level()
	s.mu.Unlock()
	was, isNew := c.log.BranchState(c.log.Leaf()), c.count() == 0
	if isNew && !c.log.Persisted() {
		// Where nothing was said yet the session says what it begins with, also
		// behind what a fork took over.
		was = store.BranchState{}
	}
	if isNew && model != nil && (was.Provider != model.Provider || was.ModelID != model.ID) {
		s.noteModel(c, *model)
	}
	if !was.HasThinkingLevel || isNew && was.ThinkingLevel != level {
		s.noteLevel(c, level)
	}
}

// chooseAgain goes on with the model that an extension has brought. A
// conversation in which something was said keeps what it says, as with adopt.
func (s *Session) chooseAgain() {
	if s.config.Choose == nil {
		return
	}
	model, level := s.config.Choose()
	s.mu.Lock()
	if model == nil || s.model != s.config.Model {
		s.mu.Unlock()
		return
	}
	before := s.level()
	s.model = model
	if s.wanted == s.config.Thinking {
		s.wanted = level
	}
	after, c := s.level(), s.conversation
	s.mu.Unlock()
	if c.count() > 0 {
		return
	}
	s.noteModel(c, *model)
	if before != after {
		s.noteLevel(c, after)
	}
}

// restore takes model and level from a conversation that was opened, where
// they can be had.
func (s *Session) restore(c *conversation) {
	was := c.log.BranchState(c.log.Leaf())
	model, ok := s.config.Models.Find(was.Provider, was.ModelID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok {
		s.model = &model
	}
	if was.HasThinkingLevel {
		s.wanted = was.ThinkingLevel
	}
}
