package hook

import (
	"errors"
	"maps"
	"strings"

	"github.com/seed-54e836f5/pi/core/event"
)

// rule says what becomes of the results of one kind. acc is a pointer to the
// result type of the kind; merge and failed return true to end the chain.
type rule struct {
	merge  func(e event.Event, acc, result any) bool
	failed func(e event.Event, acc any, err error) bool // nil: report and go on
}

var rules = map[event.Kind]rule{
	event.KindProjectTrust:          {merge: firstDecision},
	event.KindResourcesDiscover:     {merge: joinPaths},
	event.KindSessionBeforeSwitch:   {merge: firstCancel},
	event.KindSessionBeforeFork:     {merge: firstCancel},
	event.KindSessionBeforeCompact:  {merge: cancelOrCompaction},
	event.KindSessionBeforeTree:     {merge: cancelOrTreeSummary},
	event.KindInput:                 {merge: transformOrHandle},
	event.KindBeforeAgentStart:      {merge: collectMessages},
	event.KindContext:               {merge: chainContext},
	event.KindBeforeProviderHeaders: {merge: chainHeaders},
	event.KindBeforeProviderRequest: {merge: chainPayload},
	event.KindToolCall:              {merge: blockOrChange, failed: blockOnFailure},
	event.KindToolResult:            {merge: chainToolResult},
	event.KindUserBash:              {merge: firstBashResult},
	event.KindMessageEnd:            {merge: chainMessage},
}

// BeforeAgentStart is what all handlers of before_agent_start asked for
// together. The chained system prompt stands in the event.
type BeforeAgentStart struct {
	Messages []event.CustomMessage
}

func firstDecision(_ event.Event, acc, result any) bool {
	r := result.(*event.ProjectTrustResult)
	*acc.(*event.ProjectTrustResult) = *r
	return r.Decision == "yes" || r.Decision == "no"
}

func joinPaths(_ event.Event, acc, result any) bool {
	a, r := acc.(*event.ResourcesDiscoverResult), result.(*event.ResourcesDiscoverResult)
	a.SkillPaths = append(a.SkillPaths, r.SkillPaths...)
	a.PromptPaths = append(a.PromptPaths, r.PromptPaths...)
	for path, name := range r.NamedBy {
		if a.NamedBy == nil {
			a.NamedBy = map[string]string{}
		}
		a.NamedBy[path] = name
	}
	return false
}

func firstCancel(_ event.Event, acc, result any) bool {
	r := result.(*event.CancelResult)
	*acc.(*event.CancelResult) = *r
	return r.Cancel
}

func cancelOrCompaction(_ event.Event, acc, result any) bool {
	a, r := acc.(*event.SessionBeforeCompactResult), result.(*event.SessionBeforeCompactResult)
	if r.Compaction != nil {
		a.Compaction = r.Compaction
	}
	a.Cancel = r.Cancel
	return r.Cancel
}

func cancelOrTreeSummary(_ event.Event, acc, result any) bool {
	a, r := acc.(*event.SessionBeforeTreeResult), result.(*event.SessionBeforeTreeResult)
	if r.Summary != nil {
		a.Summary = r.Summary
	}
	if r.CustomInstructions != "" {
		a.CustomInstructions = r.CustomInstructions
	}
	if r.Label != "" {
		a.Label = r.Label
	}
	a.Cancel = r.Cancel
	return r.Cancel
}

func transformOrHandle(e event.Event, acc, result any) bool {
	in, r := e.(*event.Input), result.(*event.InputResult)
	*acc.(*event.InputResult) = *r
	if r.Action == "transform" {
		in.Text = r.Text
		if r.Images != nil {
			in.Images = r.Images
		}
	}
	return r.Action == "handled"
}

func collectMessages(e event.Event, acc, result any) bool {
	in, a, r := e.(*event.BeforeAgentStart), acc.(*BeforeAgentStart), result.(*event.BeforeAgentStartResult)
	if r.Message != nil {
		a.Messages = append(a.Messages, *r.Message)
	}
	if r.SystemPrompt != nil {
		in.SystemPrompt = *r.SystemPrompt
	}
	return false
}

func chainContext(e event.Event, _, result any) bool {
	if r := result.(*event.ContextResult); r.Messages != nil {
		e.(*event.Context).Messages = *r.Messages
	}
	return false
}

func chainHeaders(e event.Event, _, result any) bool {
	in, r := e.(*event.BeforeProviderHeaders), result.(*event.BeforeProviderHeadersResult)
	headers := maps.Clone(in.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	for name, value := range r.Set {
		dropHeader(headers, name)
		headers[name] = value
	}
	for _, name := range r.Delete {
		dropHeader(headers, name)
	}
	in.Headers = headers
	return false
}

// dropHeader takes a header out, however its name is written.
func dropHeader(headers map[string]string, name string) {
	maps.DeleteFunc(headers, func(other, _ string) bool { return strings.EqualFold(other, name) })
}

func chainPayload(e event.Event, _, result any) bool {
	if r := result.(*event.BeforeProviderRequestResult); r.Payload != nil {
		e.(*event.BeforeProviderRequest).Payload = r.Payload
	}
	return false
}

func blockOrChange(e event.Event, acc, result any) bool {
	r := result.(*event.ToolCallResult)
	if r.Block {
		*acc.(*event.ToolCallResult) = *r
		return true
	}
	if r.Input != nil {
		e.(*event.ToolCall).Input = r.Input
		acc.(*event.ToolCallResult).Input = r.Input
	}
	return false
}

// blockOnFailure closes the gate: a call that nobody could check does not
// run.
func blockOnFailure(_ event.Event, acc any, err error) bool {
	if errors.Is(err, ErrFailOpen) {
		return false
	}
	*acc.(*event.ToolCallResult) = event.ToolCallResult{Block: true, Reason: err.Error()}
	return true
}

func chainToolResult(e event.Event, acc, result any) bool {
	in, r := e.(*event.ToolResult), result.(*event.ToolResultPatch)
	if r.Content != nil {
		in.Content = *r.Content
	}
	if r.Details != nil {
		in.Details = r.Details
	}
	if r.IsError != nil {
		in.IsError = *r.IsError
	}
	return false
}

func firstBashResult(_ event.Event, acc, result any) bool {
	r := result.(*event.UserBashResult)
	*acc.(*event.UserBashResult) = *r
	return r.Result != nil
}

func chainMessage(e event.Event, _, result any) bool {
	in, r := e.(*event.MessageEnd), result.(*event.MessageEndResult)
	if r.Message != nil && r.Message.Role() == in.Message.Role() {
		in.Message = r.Message
	}
	return false
}
