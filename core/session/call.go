package session

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// nextCall prepares a model call from what the session is at this moment, so
// that a change of model, tools or messages counts from the next call on.
func (s *Session) nextCall(ctx context.Context, r *run) (agent.Call, error) {
	s.mu.Lock()
	c, model, level := s.conversation, s.model, s.level()
	s.mu.Unlock()
	if model == nil {
		return agent.Call{}, errors.New(s.config.NoModel)
	}
	connection, err := s.config.Models.Connect(ctx, *model)
	if err != nil {
		return agent.Call{}, err
	}
	messages := c.messages()
	if s.config.Hooks.Wanted(event.KindContext) {
		e := &event.Context{Messages: messages}
		hook.Decide[event.ContextResult](ctx, s.config.Hooks, e)
		messages = e.Messages
	}
	system := s.SystemPrompt()
	if r != nil && r.systemPrompt != nil {
		system = *r.systemPrompt
	}
	request := provider.Request{
		Model: connection.reach(*model), APIKey: connection.APIKey, Headers: connection.Headers, Compat: connection.Compat,
		Thinking: level, System: system, Messages: message.ForModel(messages), Tools: s.modelTools(),
		SessionID: c.log.ID(), Hooks: s.providerHooks(),
	}
	return agent.Call{Model: *model, Stream: func(ctx context.Context, sink func(provider.Delta) error) error {
		return connection.Provider.Stream(ctx, request, sink)
	}}, nil
}

// reach is a model with the address that its credentials belong to.
func (c Connection) reach(model message.Model) message.Model {
	if c.BaseURL != "" {
		model.BaseURL = c.BaseURL
	}
	return model
}

// providerHooks lets extensions see and change a request. Where nobody wants
// to, the adapter is spared the work.
func (s *Session) providerHooks() provider.Hooks {
	var hooks provider.Hooks
	chain := s.config.Hooks
	if chain.Wanted(event.KindBeforeProviderHeaders) {
		hooks.BeforeHeaders = func(ctx context.Context, headers map[string]string) map[string]string {
			e := &event.BeforeProviderHeaders{Headers: headers}
			hook.Decide[event.BeforeProviderHeadersResult](ctx, chain, e)
			return e.Headers
		}
	}
	if chain.Wanted(event.KindBeforeProviderRequest) {
		hooks.BeforeRequest = func(ctx context.Context, payload json.RawMessage) json.RawMessage {
			e := &event.BeforeProviderRequest{Payload: payload}
			hook.Decide[event.BeforeProviderRequestResult](ctx, chain, e)
			return e.Payload
		}
	}
	if chain.Wanted(event.KindAfterProviderResponse) {
		hooks.AfterResponse = func(ctx context.Context, status int, headers map[string]string) {
			chain.Tell(ctx, &event.AfterProviderResponse{Status: status, Headers: headers})
		}
	}
	return hooks
}
