package hook

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

func TestEveryDecidedKindHasARule(t *testing.T) {
	decided := map[event.Kind]bool{}
	for _, row := range event.Table() {
		if row.Hook != event.Decide {
			continue
		}
		decided[row.Kind] = true
		if rules[row.Kind].merge == nil {
			t.Errorf("there is no rule for %s", row.Kind)
		}
	}
	for kind := range rules {
		if !decided[kind] {
			t.Errorf("there is a rule for %s, which nobody decides", kind)
		}
	}
}

func TestDecidingAKindWithoutARulePanics(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "agent_start") {
			t.Errorf("panic is %v, want one that names the kind", p)
		}
	}()
	Decide[event.CancelResult](t.Context(), &Chain{}, &event.AgentStart{})
}

// answering is a chain of extensions that give the results, each in its turn.
// After the first they note what they saw.
func answering(results ...any) (*Chain, *[]string) {
	var seen []string
	c := &Chain{Report: func(e event.ExtensionError) { seen = append(seen, "reported "+e.ExtensionPath+": "+e.Error) }}
	var list []Listener
	for i, result := range results {
		list = append(list, &scripted{path: fmt.Sprintf("ext%d", i), handle: func(e event.Event) (any, error) {
			data, err := event.EncodePayload(e)
			if err != nil {
				return nil, err
			}
			seen = append(seen, fmt.Sprintf("ext%d saw %s", i, data))
			if err, failed := result.(error); failed {
				return nil, err
			}
			return result, nil
		}})
	}
	c.Set(list)
	return c, &seen
}

func pointer[T any](v T) *T { return &v }

func blocks(text string) []message.Block { return []message.Block{message.TextBlock(text)} }

// TestMergeRules runs each rule over what several extensions answer. A nil
// result is an extension that has no opinion.
func TestMergeRules(t *testing.T) {
	broken := errors.New("broken")
	user, answer := message.NewUser("u", nil, 1), &message.Assistant{}
	none := (any)(nil)
	for _, c := range []struct {
		name    string
		event   event.Event
		results []any
		want    any         // of Decide
		after   event.Event // nil: as before
		asked   int         // how many extensions were asked
	}{
		{"trust: the first yes or no decides", &event.ProjectTrust{},
			[]any{none, &event.ProjectTrustResult{Decision: "undecided"}, &event.ProjectTrustResult{Decision: "no", Remember: true}, &event.ProjectTrustResult{Decision: "yes"}},
			event.ProjectTrustResult{Decision: "no", Remember: true}, nil, 3},
		{"trust: nobody knows", &event.ProjectTrust{}, []any{none, &event.ProjectTrustResult{Decision: "undecided"}, broken},
			event.ProjectTrustResult{Decision: "undecided"}, nil, 3},
		{"resources: places are joined in load order", &event.ResourcesDiscover{},
			[]any{
				&event.ResourcesDiscoverResult{SkillPaths: []string{"a"}, NamedBy: map[string]string{"a": "one"}}, broken,
				&event.ResourcesDiscoverResult{SkillPaths: []string{"b"}, PromptPaths: []string{"c"}, NamedBy: map[string]string{"b": "two", "c": "two"}},
			},
			event.ResourcesDiscoverResult{
				SkillPaths: []string{"a", "b"}, PromptPaths: []string{"c"}, NamedBy: map[string]string{"a": "one", "b": "two", "c": "two"},
			}, nil, 3},
		{"switch: the first cancel ends the chain", &event.SessionBeforeSwitch{}, []any{&event.CancelResult{}, broken, &event.CancelResult{Cancel: true}, none},
			event.CancelResult{Cancel: true}, nil, 3},
		{"fork: nobody minds", &event.SessionBeforeFork{}, []any{&event.CancelResult{}, none}, event.CancelResult{}, nil, 2},
		{"fork: a cancel", &event.SessionBeforeFork{}, []any{&event.CancelResult{Cancel: true}, none}, event.CancelResult{Cancel: true}, nil, 1},
		{"compact: the last summary wins", &event.SessionBeforeCompact{},
			[]any{&event.SessionBeforeCompactResult{Compaction: &event.CompactionResult{Summary: "1"}}, &event.SessionBeforeCompactResult{Compaction: &event.CompactionResult{Summary: "2"}}, &event.SessionBeforeCompactResult{}, none},
			event.SessionBeforeCompactResult{Compaction: &event.CompactionResult{Summary: "2"}}, nil, 4},
		{"compact: a cancel beats a summary", &event.SessionBeforeCompact{},
			[]any{&event.SessionBeforeCompactResult{Compaction: &event.CompactionResult{Summary: "1"}}, &event.SessionBeforeCompactResult{Cancel: true}, none},
			event.SessionBeforeCompactResult{Compaction: &event.CompactionResult{Summary: "1"}, Cancel: true}, nil, 2},
		{"tree: each part has its last word", &event.SessionBeforeTree{},
			[]any{&event.SessionBeforeTreeResult{Summary: &event.TreeSummary{Summary: "1"}, Label: "l"}, &event.SessionBeforeTreeResult{CustomInstructions: "i"}, &event.SessionBeforeTreeResult{Label: "m"}},
			event.SessionBeforeTreeResult{Summary: &event.TreeSummary{Summary: "1"}, CustomInstructions: "i", Label: "m"}, nil, 3},
		{"tree: a cancel", &event.SessionBeforeTree{}, []any{&event.SessionBeforeTreeResult{Cancel: true}, none}, event.SessionBeforeTreeResult{Cancel: true}, nil, 1},
		{"input: transforms chain", &event.Input{Text: "a", Images: blocks("i")},
			[]any{&event.InputResult{Action: "transform", Text: "b"}, &event.InputResult{Action: "continue", Text: "ignored"}, &event.InputResult{Action: "transform", Text: "c", Images: blocks("j")}},
			event.InputResult{Action: "transform", Text: "c", Images: blocks("j")}, &event.Input{Text: "c", Images: blocks("j")}, 3},
		{"input: images can be taken away", &event.Input{Images: blocks("i")}, []any{&event.InputResult{Action: "transform", Images: []message.Block{}}},
			event.InputResult{Action: "transform", Images: []message.Block{}}, &event.Input{Images: []message.Block{}}, 1},
		{"input: handled ends the chain", &event.Input{Text: "a"}, []any{broken, &event.InputResult{Action: "handled"}, none},
			event.InputResult{Action: "handled"}, nil, 2},
		{"start: messages are collected, the prompt chains", &event.BeforeAgentStart{SystemPrompt: "s"},
			[]any{&event.BeforeAgentStartResult{Message: &event.CustomMessage{CustomType: "1"}, SystemPrompt: pointer("t")}, none, &event.BeforeAgentStartResult{Message: &event.CustomMessage{CustomType: "2"}}, &event.BeforeAgentStartResult{SystemPrompt: pointer("")}},
			BeforeAgentStart{Messages: []event.CustomMessage{{CustomType: "1"}, {CustomType: "2"}}}, &event.BeforeAgentStart{SystemPrompt: ""}, 4},
		{"context: messages chain", &event.Context{Messages: message.List{user}}, []any{&event.ContextResult{}, &event.ContextResult{Messages: &message.List{user, user}}, none},
			event.ContextResult{}, &event.Context{Messages: message.List{user, user}}, 3},
		{"context: all can be taken away", &event.Context{Messages: message.List{user}}, []any{&event.ContextResult{Messages: &message.List{}}},
			event.ContextResult{}, &event.Context{Messages: message.List{}}, 1},
		{"headers: set and delete, whatever their case", &event.BeforeProviderHeaders{Headers: map[string]string{"X-A": "1", "X-B": "2", "X-C": "3"}},
			[]any{&event.BeforeProviderHeadersResult{Set: map[string]string{"x-a": "4", "x-d": "5"}}, &event.BeforeProviderHeadersResult{Delete: []string{"x-b", "X-D"}}},
			event.BeforeProviderHeadersResult{}, &event.BeforeProviderHeaders{Headers: map[string]string{"x-a": "4", "X-C": "3"}}, 2},
		{"headers: where there were none", &event.BeforeProviderHeaders{}, []any{&event.BeforeProviderHeadersResult{Set: map[string]string{"a": "b"}}},
			event.BeforeProviderHeadersResult{}, &event.BeforeProviderHeaders{Headers: map[string]string{"a": "b"}}, 1},
		{"request: the payload chains", &event.BeforeProviderRequest{Payload: event.Raw(`1`)}, []any{&event.BeforeProviderRequestResult{Payload: event.Raw(`2`)}, &event.BeforeProviderRequestResult{}, broken},
			event.BeforeProviderRequestResult{}, &event.BeforeProviderRequest{Payload: event.Raw(`2`)}, 3},
		{"tool call: input chains", &event.ToolCall{Input: event.Raw(`1`)}, []any{&event.ToolCallResult{Input: event.Raw(`2`)}, none, &event.ToolCallResult{Reason: "ignored"}},
			event.ToolCallResult{Input: event.Raw(`2`)}, &event.ToolCall{Input: event.Raw(`2`)}, 3},
		{"tool call: the first block ends the chain", &event.ToolCall{Input: event.Raw(`1`)}, []any{&event.ToolCallResult{Block: true, Reason: "r", Terminate: true}, &event.ToolCallResult{Input: event.Raw(`2`)}},
			event.ToolCallResult{Block: true, Reason: "r", Terminate: true}, nil, 1},
		{"tool call: a failure blocks", &event.ToolCall{Input: event.Raw(`1`)}, []any{none, broken, none},
			event.ToolCallResult{Block: true, Reason: "broken"}, nil, 2},
		{"tool call: unless it fails open", &event.ToolCall{Input: event.Raw(`1`)}, []any{fmt.Errorf("%w: lost", ErrFailOpen), &event.ToolCallResult{Input: event.Raw(`2`)}},
			event.ToolCallResult{Input: event.Raw(`2`)}, &event.ToolCall{Input: event.Raw(`2`)}, 2},
		{"tool result: each part chains", &event.ToolResult{Content: blocks("a"), Details: event.Raw(`1`)},
			[]any{&event.ToolResultPatch{IsError: pointer(true)}, broken, &event.ToolResultPatch{Content: pointer(blocks("b"))}, &event.ToolResultPatch{Details: event.Raw(`2`)}, &event.ToolResultPatch{}},
			event.ToolResultPatch{}, &event.ToolResult{Content: blocks("b"), Details: event.Raw(`2`), IsError: true}, 5},
		{"bash: the first result ends the chain", &event.UserBash{}, []any{&event.UserBashResult{}, &event.UserBashResult{Result: &event.BashResult{Output: "o"}}, none},
			event.UserBashResult{Result: &event.BashResult{Output: "o"}}, nil, 2},
		{"message: a replacement chains", &event.MessageEnd{Message: user}, []any{&event.MessageEndResult{Message: message.NewUser("v", nil, 2)}, &event.MessageEndResult{}, none},
			event.MessageEndResult{}, &event.MessageEnd{Message: message.NewUser("v", nil, 2)}, 3},
		{"message: another role is not taken", &event.MessageEnd{Message: user}, []any{&event.MessageEndResult{Message: answer}},
			event.MessageEndResult{}, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			chain, seen := answering(c.results...)
			before, err := event.EncodePayload(c.event)
			if err != nil {
				t.Fatal(err)
			}
			got := decide(t, chain, c.event)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("decided %+v, want %+v", got, c.want)
			}
			asked := 0
			for _, line := range *seen {
				if strings.Contains(line, " saw ") {
					asked++
				}
			}
			if asked != c.asked {
				t.Errorf("%d extensions were asked, want %d: %q", asked, c.asked, *seen)
			}
			if c.after != nil {
				if !reflect.DeepEqual(c.event, c.after) {
					t.Errorf("the event is %+v afterwards, want %+v", c.event, c.after)
				}
			} else if after, err := event.EncodePayload(c.event); err != nil || string(after) != string(before) {
				t.Errorf("the event is %s afterwards (%v), want %s", after, err, before)
			}
		})
	}
}

// decide calls Decide with the result type that belongs to the event.
func decide(t *testing.T, c *Chain, e event.Event) any {
	ctx := t.Context()
	switch e.(type) {
	case *event.ProjectTrust:
		return Decide[event.ProjectTrustResult](ctx, c, e)
	case *event.ResourcesDiscover:
		return Decide[event.ResourcesDiscoverResult](ctx, c, e)
	case *event.SessionBeforeSwitch, *event.SessionBeforeFork:
		return Decide[event.CancelResult](ctx, c, e)
	case *event.SessionBeforeCompact:
		return Decide[event.SessionBeforeCompactResult](ctx, c, e)
	case *event.SessionBeforeTree:
		return Decide[event.SessionBeforeTreeResult](ctx, c, e)
	case *event.Input:
		return Decide[event.InputResult](ctx, c, e)
	case *event.BeforeAgentStart:
		return Decide[BeforeAgentStart](ctx, c, e)
	case *event.Context:
		return Decide[event.ContextResult](ctx, c, e)
	case *event.BeforeProviderHeaders:
		return Decide[event.BeforeProviderHeadersResult](ctx, c, e)
	case *event.BeforeProviderRequest:
		return Decide[event.BeforeProviderRequestResult](ctx, c, e)
	case *event.ToolCall:
		return Decide[event.ToolCallResult](ctx, c, e)
	case *event.ToolResult:
		return Decide[event.ToolResultPatch](ctx, c, e)
	case *event.UserBash:
		return Decide[event.UserBashResult](ctx, c, e)
	case *event.MessageEnd:
		return Decide[event.MessageEndResult](ctx, c, e)
	}
	t.Fatalf("no result type for %s", e.Kind())
	return nil
}

// An event's maps may be shared with whoever made it.
func TestHeadersOfTheCallerStay(t *testing.T) {
	mine := map[string]string{"a": "1"}
	chain, _ := answering(&event.BeforeProviderHeadersResult{Set: map[string]string{"b": "2"}, Delete: []string{"a"}})
	e := &event.BeforeProviderHeaders{Headers: mine}
	Decide[event.BeforeProviderHeadersResult](t.Context(), chain, e)
	if len(mine) != 1 || mine["a"] != "1" {
		t.Errorf("the caller's headers became %v", mine)
	}
}
