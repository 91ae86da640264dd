package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

// subscribe adds a handler for each kind of ON.
func subscribe(x *sdk.Extension) {
	for entry := range strings.FieldsSeq(os.Getenv("ON")) {
		kind, what, _ := strings.Cut(entry, "=")
		add, ok := kinds[kind]
		if !ok {
			panic("actor: there is no event " + kind)
		}
		add(x, what)
	}
}

var kinds = map[string]func(x *sdk.Extension, what string){
	sdk.ProjectTrust.Kind():          decides(sdk.ProjectTrust),
	sdk.ResourcesDiscover.Kind():     decides(sdk.ResourcesDiscover),
	sdk.SessionBeforeSwitch.Kind():   decides(sdk.SessionBeforeSwitch),
	sdk.SessionBeforeFork.Kind():     decides(sdk.SessionBeforeFork),
	sdk.SessionBeforeCompact.Kind():  decides(sdk.SessionBeforeCompact),
	sdk.SessionBeforeTree.Kind():     decides(sdk.SessionBeforeTree),
	sdk.Input.Kind():                 decides(sdk.Input),
	sdk.BeforeAgentStart.Kind():      decides(sdk.BeforeAgentStart),
	sdk.ContextMessages.Kind():       decides(sdk.ContextMessages),
	sdk.BeforeProviderHeaders.Kind(): showsHeaders,
	sdk.BeforeProviderRequest.Kind(): decides(sdk.BeforeProviderRequest),
	sdk.ToolCall.Kind():              gates,
	sdk.ToolResult.Kind():            decides(sdk.ToolResult),
	sdk.UserBash.Kind():              decides(sdk.UserBash),
	sdk.MessageEnd.Kind():            decides(sdk.MessageEnd),

	sdk.SessionStart.Kind():          startsSession,
	sdk.SessionInfoChanged.Kind():    observes(sdk.SessionInfoChanged),
	sdk.SessionCompact.Kind():        observes(sdk.SessionCompact),
	sdk.SessionCompactFailed.Kind():  observes(sdk.SessionCompactFailed),
	sdk.SessionTree.Kind():           observes(sdk.SessionTree),
	sdk.SessionShutdown.Kind():       endsSession,
	sdk.AgentStart.Kind():            observes(sdk.AgentStart),
	sdk.AgentEnd.Kind():              observes(sdk.AgentEnd),
	sdk.AgentSettled.Kind():          observes(sdk.AgentSettled),
	sdk.UIPromptStart.Kind():         observes(sdk.UIPromptStart),
	sdk.UIPromptEnd.Kind():           observes(sdk.UIPromptEnd),
	sdk.TurnStart.Kind():             observes(sdk.TurnStart),
	sdk.TurnEnd.Kind():               observes(sdk.TurnEnd),
	sdk.MessageStart.Kind():          observes(sdk.MessageStart),
	sdk.MessageUpdate.Kind():         collects,
	sdk.ToolExecutionStart.Kind():    observes(sdk.ToolExecutionStart),
	sdk.ToolExecutionUpdate.Kind():   observes(sdk.ToolExecutionUpdate),
	sdk.ToolExecutionEnd.Kind():      observes(sdk.ToolExecutionEnd),
	sdk.AfterProviderResponse.Kind(): observes(sdk.AfterProviderResponse),
	sdk.ModelSelect.Kind():           observes(sdk.ModelSelect),
	sdk.ThinkingLevelSelect.Kind():   observes(sdk.ThinkingLevelSelect),
	sdk.RulesTriggered.Kind():        observes(sdk.RulesTriggered),
}

func decides[E, R any](d sdk.Descriptor[func(*sdk.Context, *E) (*R, error)]) func(*sdk.Extension, string) {
	return func(x *sdk.Extension, what string) {
		sdk.On(x, d, func(ctx *sdk.Context, _ *E) (*R, error) { return nil, act(x, ctx, d.Kind(), what) })
	}
}

func observes[E any](d sdk.Descriptor[func(*sdk.Context, *E) error]) func(*sdk.Extension, string) {
	return func(x *sdk.Extension, what string) {
		sdk.On(x, d, func(ctx *sdk.Context, _ *E) error { return act(x, ctx, d.Kind(), what) })
	}
}

// gates checks tool calls: what may begin with block, or open for a handler
// that fails open, or bash for one of that tool alone.
func gates(x *sdk.Extension, what string) {
	var options []sdk.HandlerOption
	if rest, ok := strings.CutPrefix(what, "open-"); ok {
		what, options = rest, append(options, sdk.FailOpen())
	}
	if rest, ok := strings.CutPrefix(what, "bash-"); ok {
		what, options = rest, append(options, sdk.ForTools("bash"))
	}
	sdk.On(x, sdk.ToolCall, func(ctx *sdk.Context, e *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
		if what == "block" {
			return &sdk.ToolCallResult{Block: true, Reason: "actor blocks " + e.ToolName}, nil
		}
		if what == "change" {
			return &sdk.ToolCallResult{Input: sdk.Raw(strings.Replace(string(e.Input), "{", `{"changed":true,`, 1))}, nil
		}
		return nil, act(x, ctx, "tool_call", what)
	}, options...)
}

func startsSession(x *sdk.Extension, what string) {
	sdk.On(x, sdk.SessionStart, func(ctx *sdk.Context, e *sdk.SessionStartEvent) error {
		if what == "note" {
			return ctx.UI.Notify("session starts: "+e.Reason, sdk.Info)
		}
		return act(x, ctx, "session_start", what)
	})
}

// endsSession says something that nobody may read any more and leaves a file
// behind, which is there also when pi was killed.
func endsSession(x *sdk.Extension, what string) {
	sdk.On(x, sdk.SessionShutdown, func(ctx *sdk.Context, e *sdk.SessionShutdownEvent) error {
		if path, ok := strings.CutPrefix(what, "file:"); ok {
			fmt.Println("about to leave", path)
			x.Log().Info("about to leave " + path)
			return os.WriteFile(path, []byte(e.Reason), 0o600)
		}
		return act(x, ctx, "session_shutdown", what)
	})
}

func showsHeaders(x *sdk.Extension, what string) {
	sdk.On(x, sdk.BeforeProviderHeaders, func(ctx *sdk.Context, e *sdk.BeforeProviderHeadersEvent) (*sdk.BeforeProviderHeadersResult, error) {
		if err := act(x, ctx, "before_provider_headers", what); err != nil {
			return nil, err
		}
		var seen []string
		for name, value := range e.Headers {
			seen = append(seen, name+": "+value)
		}
		return &sdk.BeforeProviderHeadersResult{Set: map[string]string{"X-Seen": strings.Join(seen, "; ")}}, nil
	})
}

// collects joins the text of deltas; an awaited event tells how much came.
func collects(x *sdk.Extension, what string) {
	var text strings.Builder
	events := 0
	sdk.On(x, sdk.MessageUpdate, func(ctx *sdk.Context, e *sdk.MessageUpdateEvent) error {
		if what == "wait" {
			<-ctx.Done()
			return nil
		}
		events++
		if e.Update.Delta != nil {
			text.WriteString(*e.Update.Delta)
		}
		return act(x, ctx, "message_update", what)
	})
	sdk.On(x, sdk.MessageEnd, func(ctx *sdk.Context, _ *sdk.MessageEndEvent) (*sdk.MessageEndResult, error) {
		return nil, errors.Join(ctx.UI.Notify("text: "+text.String(), sdk.Info), ctx.UI.Notify(fmt.Sprintf("events: %d", events), sdk.Info))
	})
}
