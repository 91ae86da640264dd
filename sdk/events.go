package sdk

import (
	"fmt"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

// The events, and what handlers of those that are decided give back. A nil
// result means that the handler has nothing to say.
type (
	ProjectTrustEvent           = event.ProjectTrust
	ProjectTrustResult          = event.ProjectTrustResult
	ResourcesDiscoverEvent      = event.ResourcesDiscover
	ResourcesDiscoverResult     = event.ResourcesDiscoverResult
	SessionBeforeSwitchEvent    = event.SessionBeforeSwitch
	SessionBeforeForkEvent      = event.SessionBeforeFork
	CancelResult                = event.CancelResult
	SessionBeforeCompactEvent   = event.SessionBeforeCompact
	SessionBeforeCompactResult  = event.SessionBeforeCompactResult
	SessionBeforeTreeEvent      = event.SessionBeforeTree
	SessionBeforeTreeResult     = event.SessionBeforeTreeResult
	InputEvent                  = event.Input
	InputResult                 = event.InputResult
	BeforeAgentStartEvent       = event.BeforeAgentStart
	BeforeAgentStartResult      = event.BeforeAgentStartResult
	ContextEvent                = event.Context
	ContextResult               = event.ContextResult
	BeforeProviderHeadersEvent  = event.BeforeProviderHeaders
	BeforeProviderHeadersResult = event.BeforeProviderHeadersResult
	BeforeProviderRequestEvent  = event.BeforeProviderRequest
	BeforeProviderRequestResult = event.BeforeProviderRequestResult
	ToolCallEvent               = event.ToolCall
	ToolCallResult              = event.ToolCallResult
	ToolResultEvent             = event.ToolResult
	ToolResultPatch             = event.ToolResultPatch
	UserBashEvent               = event.UserBash
	UserBashResult              = event.UserBashResult
	MessageEndEvent             = event.MessageEnd
	MessageEndResult            = event.MessageEndResult
)

// The events that are only told.
type (
	SessionStartEvent          = event.SessionStart
	SessionInfoChangedEvent    = event.SessionInfoChanged
	SessionCompactEvent        = event.SessionCompact
	SessionCompactFailedEvent  = event.SessionCompactFailed
	SessionTreeEvent           = event.SessionTree
	SessionShutdownEvent       = event.SessionShutdown
	AgentStartEvent            = event.AgentStart
	AgentEndEvent              = event.AgentEnd
	AgentSettledEvent          = event.AgentSettled
	UIPromptStartEvent         = event.UIPromptStart
	UIPromptEndEvent           = event.UIPromptEnd
	TurnStartEvent             = event.TurnStart
	TurnEndEvent               = event.TurnEnd
	MessageStartEvent          = event.MessageStart
	MessageUpdateEvent         = event.MessageUpdate
	ToolExecutionStartEvent    = event.ToolExecutionStart
	ToolExecutionUpdateEvent   = event.ToolExecutionUpdate
	ToolExecutionEndEvent      = event.ToolExecutionEnd
	AfterProviderResponseEvent = event.AfterProviderResponse
	ModelSelectEvent           = event.ModelSelect
	ThinkingLevelSelectEvent   = event.ThinkingLevelSelect
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
// batches, a little later than they happen but never after what follows them.
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
