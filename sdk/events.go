package sdk

import (
	"fmt"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

// The events, and what handlers of those that are decided give back. A nil
// result means that the handler has nothing to say.
type (
	// ProjectTrustEvent asks whether the project's own files may be used.
	ProjectTrustEvent = event.ProjectTrust
	// ProjectTrustResult answers ProjectTrustEvent; the first yes or no decides.
	ProjectTrustResult = event.ProjectTrustResult
	// ResourcesDiscoverEvent asks for more places of skills and prompt templates.
	ResourcesDiscoverEvent = event.ResourcesDiscover
	// ResourcesDiscoverResult names such places; those of all extensions are joined.
	ResourcesDiscoverResult = event.ResourcesDiscoverResult
	// SessionBeforeSwitchEvent comes before another session takes this one's place.
	SessionBeforeSwitchEvent = event.SessionBeforeSwitch
	// SessionBeforeForkEvent comes before a fork or clone.
	SessionBeforeForkEvent = event.SessionBeforeFork
	// CancelResult vetoes a change of session; the first veto decides.
	CancelResult = event.CancelResult
	// SessionBeforeCompactEvent comes before a compaction.
	SessionBeforeCompactEvent = event.SessionBeforeCompact
	// SessionBeforeCompactResult vetoes a compaction, or brings the summary.
	SessionBeforeCompactResult = event.SessionBeforeCompactResult
	// SessionBeforeTreeEvent comes before the leaf moves to another entry.
	SessionBeforeTreeEvent = event.SessionBeforeTree
	// SessionBeforeTreeResult vetoes the move, or brings the summary of what is left.
	SessionBeforeTreeResult = event.SessionBeforeTreeResult
	// InputEvent comes with each text before it is expanded, and run or queued.
	InputEvent = event.Input
	// InputResult lets a text pass, changes it, or takes it over.
	InputResult = event.InputResult
	// BeforeAgentStartEvent comes when a prompt is about to run.
	BeforeAgentStartEvent = event.BeforeAgentStart
	// BeforeAgentStartResult adds a message to the prompt, or changes the system prompt of its run.
	BeforeAgentStartResult = event.BeforeAgentStartResult
	// ContextEvent comes before each model call with the messages it will see.
	ContextEvent = event.Context
	// ContextResult changes those messages, for that call only.
	ContextResult = event.ContextResult
	// BeforeProviderHeadersEvent comes before each model call with its headers; keys are hidden.
	BeforeProviderHeadersEvent = event.BeforeProviderHeaders
	// BeforeProviderHeadersResult sets and deletes headers.
	BeforeProviderHeadersResult = event.BeforeProviderHeadersResult
	// BeforeProviderRequestEvent comes with the request body of each model call.
	BeforeProviderRequestEvent = event.BeforeProviderRequest
	// BeforeProviderRequestResult replaces that body.
	BeforeProviderRequestResult = event.BeforeProviderRequestResult
	// ToolCallEvent comes before a tool runs.
	ToolCallEvent = event.ToolCall
	// ToolCallResult blocks a tool call, or changes its input.
	ToolCallResult = event.ToolCallResult
	// ToolResultEvent comes when a tool has run.
	ToolResultEvent = event.ToolResult
	// ToolResultPatch changes what the model is told of it.
	ToolResultPatch = event.ToolResultPatch
	// UserBashEvent comes before a bash command of the user's runs.
	UserBashEvent = event.UserBash
	// UserBashResult takes the place of running it.
	UserBashResult = event.UserBashResult
	// MessageEndEvent carries a message in its final form.
	MessageEndEvent = event.MessageEnd
	// MessageEndResult replaces it by another of the same role.
	MessageEndResult = event.MessageEndResult
)

// The events that are only told.
type (
	// SessionStartEvent says that a session is live: the place to read state back.
	SessionStartEvent = event.SessionStart
	// SessionInfoChangedEvent says that the session has another name.
	SessionInfoChangedEvent = event.SessionInfoChanged
	// SessionCompactEvent says that a compaction was stored.
	SessionCompactEvent = event.SessionCompact
	// SessionCompactFailedEvent says that a compaction came to nothing.
	SessionCompactFailedEvent = event.SessionCompactFailed
	// SessionTreeEvent says that the leaf has moved.
	SessionTreeEvent = event.SessionTree
	// SessionShutdownEvent says that the session, or pi, is about to end.
	SessionShutdownEvent = event.SessionShutdown
	// AgentStartEvent begins a run.
	AgentStartEvent = event.AgentStart
	// AgentEndEvent ends a run; a retry or a queued message may follow.
	AgentEndEvent = event.AgentEnd
	// AgentSettledEvent ends all that a prompt began.
	AgentSettledEvent = event.AgentSettled
	// UIPromptStartEvent says that a dialog is shown.
	UIPromptStartEvent = event.UIPromptStart
	// UIPromptEndEvent says that a dialog is over.
	UIPromptEndEvent = event.UIPromptEnd
	// TurnStartEvent begins a turn: one answer and its tool calls.
	TurnStartEvent = event.TurnStart
	// TurnEndEvent ends a turn.
	TurnEndEvent = event.TurnEnd
	// MessageStartEvent shows a message that has begun.
	MessageStartEvent = event.MessageStart
	// MessageUpdateEvent is one step of an answer.
	MessageUpdateEvent = event.MessageUpdate
	// ToolExecutionStartEvent announces a tool call.
	ToolExecutionStartEvent = event.ToolExecutionStart
	// ToolExecutionUpdateEvent shows a tool's result so far.
	ToolExecutionUpdateEvent = event.ToolExecutionUpdate
	// ToolExecutionEndEvent ends a tool call.
	ToolExecutionEndEvent = event.ToolExecutionEnd
	// AfterProviderResponseEvent says what a model service answered first.
	AfterProviderResponseEvent = event.AfterProviderResponse
	// ModelSelectEvent says that the model has changed.
	ModelSelectEvent = event.ModelSelect
	// ThinkingLevelSelectEvent says that the thinking level has changed.
	ThinkingLevelSelectEvent = event.ThinkingLevelSelect
	// RulesTriggeredEvent says that rules match what the model writes.
	RulesTriggeredEvent = event.RulesTriggered
)

// Descriptor names a kind of event and fixes the type of its handlers, so that
// On accepts no other. The descriptors are the variables of this package.
type Descriptor[H any] struct {
	kind event.Kind
	wrap func(H) handlerFunc
}

// Kind is the name of the event on the wire, such as tool_call.
func (d Descriptor[H]) Kind() string { return string(d.kind) }

// handlerFunc is a handler of any kind. payload is the event in wire form; the
// result, if any, is in wire form too.
type handlerFunc func(ctx *Context, payload []byte) (result []byte, err error)

// Events that are decided: pi waits for each handler, in the order in which
// extensions were loaded, and acts on what they return.
var (
	ProjectTrust          = decided[ProjectTrustEvent, ProjectTrustResult](event.KindProjectTrust)
	ResourcesDiscover     = decided[ResourcesDiscoverEvent, ResourcesDiscoverResult](event.KindResourcesDiscover)
	SessionBeforeSwitch   = decided[SessionBeforeSwitchEvent, CancelResult](event.KindSessionBeforeSwitch)
	SessionBeforeFork     = decided[SessionBeforeForkEvent, CancelResult](event.KindSessionBeforeFork)
	SessionBeforeCompact  = decided[SessionBeforeCompactEvent, SessionBeforeCompactResult](event.KindSessionBeforeCompact)
	SessionBeforeTree     = decided[SessionBeforeTreeEvent, SessionBeforeTreeResult](event.KindSessionBeforeTree)
	Input                 = decided[InputEvent, InputResult](event.KindInput)
	BeforeAgentStart      = decided[BeforeAgentStartEvent, BeforeAgentStartResult](event.KindBeforeAgentStart)
	ContextMessages       = decided[ContextEvent, ContextResult](event.KindContext)
	BeforeProviderHeaders = decided[BeforeProviderHeadersEvent, BeforeProviderHeadersResult](event.KindBeforeProviderHeaders)
	BeforeProviderRequest = decided[BeforeProviderRequestEvent, BeforeProviderRequestResult](event.KindBeforeProviderRequest)
	ToolCall              = decided[ToolCallEvent, ToolCallResult](event.KindToolCall)
	ToolResult            = decided[ToolResultEvent, ToolResultPatch](event.KindToolResult)
	UserBash              = decided[UserBashEvent, UserBashResult](event.KindUserBash)
	MessageEnd            = decided[MessageEndEvent, MessageEndResult](event.KindMessageEnd)
)

// Events that are only told. MessageUpdate and ToolExecutionUpdate come in
// batches, a little later than they happen but never after what follows them;
// in a flood several deltas of one text come as one.
var (
	SessionStart          = told[SessionStartEvent](event.KindSessionStart)
	SessionInfoChanged    = told[SessionInfoChangedEvent](event.KindSessionInfoChanged)
	SessionCompact        = told[SessionCompactEvent](event.KindSessionCompact)
	SessionCompactFailed  = told[SessionCompactFailedEvent](event.KindSessionCompactFailed)
	SessionTree           = told[SessionTreeEvent](event.KindSessionTree)
	SessionShutdown       = told[SessionShutdownEvent](event.KindSessionShutdown)
	AgentStart            = told[AgentStartEvent](event.KindAgentStart)
	AgentEnd              = told[AgentEndEvent](event.KindAgentEnd)
	AgentSettled          = told[AgentSettledEvent](event.KindAgentSettled)
	UIPromptStart         = told[UIPromptStartEvent](event.KindUIPromptStart)
	UIPromptEnd           = told[UIPromptEndEvent](event.KindUIPromptEnd)
	TurnStart             = told[TurnStartEvent](event.KindTurnStart)
	TurnEnd               = told[TurnEndEvent](event.KindTurnEnd)
	MessageStart          = told[MessageStartEvent](event.KindMessageStart)
	MessageUpdate         = told[MessageUpdateEvent](event.KindMessageUpdate)
	ToolExecutionStart    = told[ToolExecutionStartEvent](event.KindToolExecutionStart)
	ToolExecutionUpdate   = told[ToolExecutionUpdateEvent](event.KindToolExecutionUpdate)
	ToolExecutionEnd      = told[ToolExecutionEndEvent](event.KindToolExecutionEnd)
	AfterProviderResponse = told[AfterProviderResponseEvent](event.KindAfterProviderResponse)
	ModelSelect           = told[ModelSelectEvent](event.KindModelSelect)
	ThinkingLevelSelect   = told[ThinkingLevelSelectEvent](event.KindThinkingLevelSelect)
	RulesTriggered        = told[RulesTriggeredEvent](event.KindRulesTriggered)
)

func decided[E, R any](kind event.Kind) Descriptor[func(*Context, *E) (*R, error)] {
	return Descriptor[func(*Context, *E) (*R, error)]{kind: kind, wrap: func(handle func(*Context, *E) (*R, error)) handlerFunc {
		return func(ctx *Context, payload []byte) ([]byte, error) {
			e, err := decodeEvent[E](kind, payload)
			if err != nil {
				return nil, err
			}
			result, err := handle(ctx, e)
			if err != nil || result == nil {
				return nil, err
			}
			return message.Marshal(result)
		}
	}}
}

func told[E any](kind event.Kind) Descriptor[func(*Context, *E) error] {
	return Descriptor[func(*Context, *E) error]{kind: kind, wrap: func(handle func(*Context, *E) error) handlerFunc {
		return func(ctx *Context, payload []byte) ([]byte, error) {
			e, err := decodeEvent[E](kind, payload)
			if err != nil {
				return nil, err
			}
			return nil, handle(ctx, e)
		}
	}}
}

func decodeEvent[E any](kind event.Kind, payload []byte) (*E, error) {
	decoded, err := event.DecodePayload(kind, payload)
	if err != nil {
		return nil, err
	}
	e, ok := any(decoded).(*E)
	if !ok {
		return nil, fmt.Errorf("event %s has type %T", kind, decoded)
	}
	return e, nil
}
