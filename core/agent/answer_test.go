package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

func TestPlainText(t *testing.T) {
	r := newRig(scripted.Answer{Parts: []scripted.Part{scripted.Say("hel", "lo")}})
	result := agent.Run(t.Context(), r.Config, prompt("hi"))
	wantLines(t, r.Lines(),
		"agent_start",
		"turn_start",
		"message_start user: hi",
		"message_end user: hi",
		"message_start assistant pending",
		"message_update text_start",
		"message_update text_delta hel",
		"message_update text_delta lo",
		"message_update text_end hello",
		"message_end assistant stop: hello",
		"turn_end 0",
		"agent_end 2",
	)
	if result.Err != nil || len(result.Messages) != 2 || result.Last != result.Messages[1] {
		t.Errorf("the result is %+v", result)
	}
	wire, err := message.Marshal(result.Last)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"role":"assistant","content":[{"type":"text","text":"hello"}],"api":"mock-api","provider":"mock","model":"m1",` +
		`"usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"cost":{"input":9,"output":0,"cacheRead":0,"cacheWrite":0,"total":9}},` +
		`"stopReason":"stop","timestamp":1000,"responseId":"response","rawStopReason":"raw_stop"}`
	if string(wire) != want {
		t.Errorf("the answer is\n%s\nwant\n%s", wire, want)
	}
}

func TestThinkingAndCallsInOneAnswer(t *testing.T) {
	r := newRig(scripted.Answer{Stop: message.StopStop, Parts: []scripted.Part{
		scripted.Think("h", "m"), scripted.Say("so"), scripted.Call("c1", "touch", `{"a"`, `:1}`),
	}})
	r.tools = []*scripted.Tool{{Name: "touch"}}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	got := r.Lines()[4:16]
	wantLines(t, got,
		"message_start assistant pending",
		"message_update thinking_start",
		"message_update thinking_delta h",
		"message_update thinking_delta m",
		"message_update thinking_end hm",
		"message_update text_start",
		"message_update text_delta so",
		"message_update text_end so",
		"message_update toolcall_start",
		`message_update toolcall_delta {"a"`,
		"message_update toolcall_delta :1}",
		"message_update toolcall_end",
	)
	var starts, ends []event.AssistantUpdate
	for _, e := range r.Events() {
		if u, ok := e.(*event.MessageUpdate); ok {
			switch u.Update.Type {
			case event.ToolCallStart:
				starts = append(starts, u.Update)
			case event.ToolCallEnd:
				ends = append(ends, u.Update)
			}
		}
	}
	if len(starts) != 1 || starts[0].ID != "c1" || starts[0].ToolName != "touch" || starts[0].ContentIndex != 2 {
		t.Errorf("the call starts with %+v", starts)
	}
	if len(ends) != 1 || ends[0].ToolCall == nil || ends[0].ToolCall.ID != "c1" || string(ends[0].ToolCall.Arguments) != `{"a":1}` {
		t.Errorf("the call ends with %+v", ends)
	}
	answer := r.conversation[1].(*message.Assistant)
	if b := answer.Content[0]; b.Thinking != "hm" || b.ThinkingSignature != "signed" {
		t.Errorf("the thinking is %+v", b)
	}
	if r.Count("tool_execution_start") != 1 {
		t.Error("a call in an answer with another stop reason was not run")
	}
}

func TestAnswerWithoutContent(t *testing.T) {
	r := newRig(scripted.Answer{})
	agent.Run(t.Context(), r.Config, prompt("hi"))
	wantLines(t, r.Lines()[4:], "message_start assistant stop", "message_end assistant stop", "turn_end 0", "agent_end 2")
}

func TestUpdatesTellUsageWhenItChanged(t *testing.T) {
	usage := func(in int64) *message.Usage { return &message.Usage{Input: in} }
	deltas := []provider.Delta{
		{Kind: provider.Begin, Usage: usage(5)},
		{Kind: provider.TextStart}, {Kind: provider.TextDelta, Text: "a"},
		{Kind: provider.UsageSoFar, Usage: usage(5)}, {Kind: provider.TextDelta, Text: "b"},
		{Kind: provider.UsageSoFar, Usage: usage(6)}, {Kind: provider.TextDelta, Text: "c"},
		{Kind: provider.TextEnd},
		{Kind: provider.Finish, StopReason: message.StopStop, Usage: usage(7)},
	}
	r := newRig()
	r.Next = func(context.Context) (agent.Call, error) { return streaming(deltas...), nil }
	result := agent.Run(t.Context(), r.Config, prompt("hi"))
	var told []string
	for _, e := range r.Events() {
		if u, ok := e.(*event.MessageUpdate); ok && u.Usage != nil {
			told = append(told, fmt.Sprintf("%s %d", u.Update.Type, u.Usage.Input))
		}
	}
	wantLines(t, told, "text_start 5", "text_delta 6")
	if result.Last.Usage.Input != 7 {
		t.Errorf("the answer has usage %+v", result.Last.Usage)
	}
}

// streaming is a call that streams the deltas, whatever they are.
func streaming(deltas ...provider.Delta) agent.Call {
	return agent.Call{Model: testModel, Stream: func(_ context.Context, sink func(provider.Delta) error) error {
		for _, d := range deltas {
			if err := sink(d); err != nil {
				return err
			}
		}
		return nil
	}}
}

func TestPartialIsTheMessageSoFar(t *testing.T) {
	r := newRig(scripted.Answer{Parts: []scripted.Part{scripted.Say("a", "b"), scripted.Call("c", "x", `{"k`, `":1}`)}, Stop: message.StopError, Refusal: "no"})
	var partials []*message.Assistant
	var first [][]byte
	r.Emit = func(e event.Event) {
		if u, ok := e.(*event.MessageUpdate); ok {
			p := u.Partial()
			data, err := message.Marshal(p.Content)
			if err != nil {
				t.Error(err)
			}
			partials, first = append(partials, p), append(first, data)
		}
	}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	for i, want := range []string{
		`[{"type":"text","text":""}]`, `[{"type":"text","text":"a"}]`, `[{"type":"text","text":"ab"}]`, `[{"type":"text","text":"ab"}]`,
		`[{"type":"text","text":"ab"},{"type":"toolCall","id":"c","name":"x","arguments":{}}]`,
		`[{"type":"text","text":"ab"},{"type":"toolCall","id":"c","name":"x","arguments":{}}]`,
	} {
		if string(first[i]) != want {
			t.Errorf("partial %d is %s, want %s", i, first[i], want)
		}
		if later, err := message.Marshal(partials[i].Content); err != nil || string(later) != want {
			t.Errorf("partial %d changed to %s later (%v)", i, later, err)
		}
		if partials[i].StopReason != message.StopPending {
			t.Errorf("partial %d has stop reason %s", i, partials[i].StopReason)
		}
	}
}

func TestFailures(t *testing.T) {
	overloaded := &provider.Error{Class: provider.Retryable, Message: "529 overloaded"}
	for _, c := range []struct {
		name string
		call func() (agent.Call, error)
		want []string // from the answer on
		err  error    // of the result; nil: none
	}{
		{"before the first byte", func() (agent.Call, error) {
			return agent.Call{Model: testModel, Stream: func(context.Context, func(provider.Delta) error) error { return overloaded }}, nil
		}, []string{"message_start assistant error (529 overloaded)", "message_end assistant error (529 overloaded)", "turn_end 0", "agent_end 2"}, overloaded},
		{"in the middle", func() (agent.Call, error) {
			m := scripted.NewModel(scripted.Answer{Parts: []scripted.Part{scripted.Say("par")}, Err: overloaded})
			return agent.Call{Model: testModel, Stream: func(ctx context.Context, sink func(provider.Delta) error) error {
				return m.Stream(ctx, provider.Request{}, sink)
			}}, nil
		}, []string{
			"message_start assistant pending", "message_update text_start", "message_update text_delta par",
			"message_end assistant error (529 overloaded): par", "turn_end 0", "agent_end 2",
		}, overloaded},
		{"while it is prepared", func() (agent.Call, error) { return agent.Call{}, overloaded },
			[]string{"message_start assistant error (529 overloaded)", "message_end assistant error (529 overloaded)", "turn_end 0", "agent_end 2"}, overloaded},
		{"after its end", func() (agent.Call, error) {
			return agent.Call{Model: testModel, Stream: func(_ context.Context, sink func(provider.Delta) error) error {
				return errors.Join(sink(provider.Delta{Kind: provider.Finish, StopReason: message.StopStop, RawStopReason: "end"}), overloaded)
			}}, nil
		}, []string{"message_start assistant error (529 overloaded)", "message_end assistant error (529 overloaded)", "turn_end 0", "agent_end 2"}, overloaded},
		{"refused", func() (agent.Call, error) {
			return streaming(provider.Delta{Kind: provider.Finish, StopReason: message.StopError, ErrorMessage: "not this"}), nil
		}, []string{"message_start assistant error (not this)", "message_end assistant error (not this)", "turn_end 0", "agent_end 2"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig()
			r.Next = func(context.Context) (agent.Call, error) { return c.call() }
			r.Model = func() message.Model { return testModel }
			r.steering = []agent.Queued{} // nothing is queued
			result := agent.Run(t.Context(), r.Config, prompt("hi"))
			wantLines(t, r.Lines()[4:], c.want...)
			if (c.err == nil) != (result.Err == nil) || c.err != nil && !errors.Is(result.Err, c.err) {
				t.Errorf("the result has error %v, want %v", result.Err, c.err)
			}
			if result.Last.RawStopReason != "" || result.Last.Model != "m1" || result.Last.Provider != "mock" || result.Last.API != "mock-api" {
				t.Errorf("the answer is %+v", result.Last)
			}
		})
	}
}

// An adapter with a bug must not bring down the process, nor be believed.
func TestAdaptersThatBreakTheirContract(t *testing.T) {
	for name, deltas := range map[string][]provider.Delta{
		"no end":               {{Kind: provider.TextStart}, {Kind: provider.TextEnd}},
		"nothing at all":       nil,
		"a gap":                {{Kind: provider.TextStart, Index: 1}},
		"twice the same block": {{Kind: provider.TextStart}, {Kind: provider.TextStart}},
		"a delta for nothing":  {{Kind: provider.TextDelta}},
		"another type":         {{Kind: provider.TextStart}, {Kind: provider.ThinkingDelta}},
		"a negative index":     {{Kind: provider.TextDelta, Index: -1}},
		"an unknown kind":      {{Kind: provider.DeltaKind(99)}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			r.Next = func(context.Context) (agent.Call, error) { return streaming(deltas...), nil }
			result := agent.Run(t.Context(), r.Config, prompt("hi"))
			if result.Err == nil || result.Last.StopReason != message.StopError || result.Last.ErrorMessage == "" {
				t.Errorf("the result is %+v with %+v", result, result.Last)
			}
			if again := name == "no end" || name == "nothing at all"; (provider.ClassOf(result.Err) == provider.Retryable) != again {
				t.Errorf("the error is of class %s", provider.ClassOf(result.Err))
			}
		})
	}
}

func TestAbort(t *testing.T) {
	const aborted = "(" + agent.AbortedMessage + ")"
	for _, c := range []struct {
		name   string
		answer scripted.Answer
		after  time.Duration
		want   []string // from the answer on
	}{
		{"before it began", scripted.Text("never"), 0,
			[]string{"message_start assistant aborted " + aborted, "message_end assistant aborted " + aborted, "turn_end 0", "agent_end 2"}},
		{"before the first byte", scripted.Answer{Delay: time.Hour}, time.Second,
			[]string{"message_start assistant aborted " + aborted, "message_end assistant aborted " + aborted, "turn_end 0", "agent_end 2"}},
		{"in the middle", scripted.Answer{Parts: []scripted.Part{scripted.Say("a", "b")}, Pace: time.Second}, 3500 * time.Millisecond,
			[]string{"message_start assistant pending", "message_update text_start", "message_update text_delta a",
				"message_end assistant aborted " + aborted + ": a", "turn_end 0", "agent_end 2"}},
		{"within a call", scripted.Answer{Parts: []scripted.Part{scripted.Call("c", "touch", `{"a`)}, Hang: true}, time.Second,
			[]string{"message_start assistant pending", "message_update toolcall_start", `message_update toolcall_delta {"a`,
				"message_end assistant aborted c " + aborted, "turn_end 0", "agent_end 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(c.answer)
				r.tools = []*scripted.Tool{{Name: "touch"}}
				r.steering, r.followUps = []agent.Queued{r.queued("s")}, []agent.Queued{r.queued("f")}
				r.Steering = func(taken int) (agent.Queued, bool) {
					if r.Count("message_end assistant") == 0 {
						return agent.Queued{}, false // it came during the answer
					}
					return r.take(&r.steering, taken)
				}
				ctx, cancel := context.WithTimeout(t.Context(), c.after)
				defer cancel()
				result := agent.Run(ctx, r.Config, prompt("hi"))
				wantLines(t, r.Lines()[4:], c.want...)
				if result.Err == nil || result.Last.StopReason != message.StopAborted {
					t.Errorf("the result is %+v", result)
				}
				if len(r.steering) != 1 || len(r.followUps) != 1 {
					t.Errorf("the queues were touched: %d, %d", len(r.steering), len(r.followUps))
				}
			})
		})
	}
}

// Some adapters notice the end of the context in words of their own.
func TestAnyErrorAfterAnAbortIsTheAbort(t *testing.T) {
	for name, err := range map[string]error{
		"class":         &provider.Error{Class: provider.Aborted, Message: "gone"},
		"bare":          context.Canceled,
		"wrapped":       fmt.Errorf("dial: %w", context.Canceled),
		"something odd": errors.New("use of closed connection"),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			r := newRig()
			r.Next = func(context.Context) (agent.Call, error) {
				return agent.Call{Stream: func(context.Context, func(provider.Delta) error) error {
					cancel()
					return err
				}}, nil
			}
			result := agent.Run(ctx, r.Config, prompt("hi"))
			if result.Last.StopReason != message.StopAborted || result.Last.ErrorMessage != agent.AbortedMessage {
				t.Errorf("the answer is %s", scripted.Message(result.Last))
			}
		})
	}
}

func TestSinkReplacesMessages(t *testing.T) {
	r := newRig(scripted.Calls(scripted.Call("c1", "touch", `{}`)), scripted.Text("end"))
	r.tools = []*scripted.Tool{{Name: "touch"}, {Name: "other"}}
	r.Emit = func(e event.Event) {
		if end, ok := e.(*event.MessageEnd); ok {
			switch m := end.Message.(type) {
			case *message.User:
				end.Message = say("replaced")
			case *message.Assistant:
				if len(m.ToolCalls()) > 0 {
					other := *m
					other.Content = []message.Block{{Type: message.BlockToolCall, ID: "c2", Name: "other", Arguments: json.RawMessage(`{}`)}}
					end.Message = &other
				}
			case *message.ToolResult:
				other := *m
				other.Content = []message.Block{message.TextBlock("patched")}
				end.Message = &other
			}
		}
		r.emit(e)
	}
	result := agent.Run(t.Context(), r.Config, prompt("hi"))
	want := []string{"user: replaced", "assistant toolUse c2", "toolResult c2: patched", "assistant stop: end"}
	wantLines(t, scripted.Messages(result.Messages), want...)
	wantLines(t, scripted.Messages(r.conversation), want...)
	wantLines(t, scripted.Messages(r.model.Requests()[1].Messages), want[:3]...)
	if r.Count("tool_execution_start c2 other") != 1 {
		t.Error("the loop did not go on with the replacement")
	}
}

func TestWillRetryIsToldInAgentEnd(t *testing.T) {
	for _, retry := range []bool{false, true} {
		r := newRig(scripted.Fail(provider.Retryable, "busy"))
		var asked agent.Result
		r.WillRetry = func(result agent.Result) bool { asked = result; return retry }
		result := agent.Run(t.Context(), r.Config, prompt("hi"))
		end := r.Events()[len(r.Events())-1].(*event.AgentEnd)
		if end.WillRetry != retry {
			t.Errorf("agent_end says %v, want %v", end.WillRetry, retry)
		}
		if asked.Last != result.Last || !errors.Is(asked.Err, result.Err) {
			t.Errorf("was asked about %+v, want %+v", asked, result)
		}
	}
}

// A retry and what follows an overflow begin without a prompt.
func TestRunWithoutPrompts(t *testing.T) {
	r := newRig(scripted.Text("once more"))
	r.conversation = []message.Message{say("before")}
	agent.Run(t.Context(), r.Config, nil)
	wantLines(t, r.Lines(quiet...), "agent_start", "turn_start", "message_end assistant stop: once more", "turn_end 0", "agent_end 1")
	wantLines(t, scripted.Messages(r.model.Requests()[0].Messages), "user: before")
}

func TestTurnsAreCounted(t *testing.T) {
	r := newRig(scripted.Calls(scripted.Call("c", "touch")), scripted.Text("end"))
	r.tools = []*scripted.Tool{{Name: "touch"}}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	var turns []string
	for _, e := range r.Events() {
		switch e := e.(type) {
		case *event.TurnStart:
			turns = append(turns, fmt.Sprintf("start %d at %d", e.TurnIndex, e.Timestamp))
		case *event.TurnEnd:
			turns = append(turns, fmt.Sprintf("end %d of %s", e.TurnIndex, scripted.Message(e.Message)))
		}
	}
	wantLines(t, turns, "start 0 at 1000", "end 0 of assistant toolUse c", "start 1 at 1000", "end 1 of assistant stop: end")
}

func TestComplete(t *testing.T) {
	call := func(a scripted.Answer) agent.Call {
		m := scripted.NewModel(a)
		return agent.Call{Model: testModel, Stream: func(ctx context.Context, sink func(provider.Delta) error) error {
			return m.Stream(ctx, provider.Request{}, sink)
		}}
	}
	now := func() time.Time { return time.UnixMilli(5) }
	got, err := agent.Complete(t.Context(), call(scripted.Text("sum")), now)
	if err != nil || scripted.Message(got) != "assistant stop: sum" || got.Timestamp != 5 || got.Usage.Cost.Total != 9 {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = agent.Complete(t.Context(), call(scripted.Answer{Parts: []scripted.Part{scripted.Say("part")}, Err: errors.New("cut")}), now)
	if got != nil || err == nil || err.Error() != "cut" {
		t.Errorf("a failed call gave %+v, %v", got, err)
	}
	got, err = agent.Complete(t.Context(), call(scripted.Answer{Stop: message.StopError, Refusal: "no"}), now)
	if err != nil || got.StopReason != message.StopError || got.ErrorMessage != "no" {
		t.Errorf("a refusal gave %+v, %v", got, err)
	}
}

func TestArguments(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                    {`{}`, ""},
		" \n":                 {`{}`, ""},
		`{"a":1}`:             {`{"a":1}`, ""},
		`[1]`:                 {`[1]`, ""},
		`{"command": "echo p`: {`{}`, `{"command": "echo p`},
		`{"a":<}`:             {`{}`, `{"a":<}`},
		"{\"a\":\"\xff\"}":    {"{\"a\":\"\uFFFD\"}", ""},
	} {
		if stored, unparsed := agent.Arguments(text); string(stored) != want[0] || unparsed != want[1] {
			t.Errorf("%q gives %s and %q, want %q", text, stored, unparsed, want)
		}
	}
}

func TestAWatcherStopsAnAnswer(t *testing.T) {
	enough := errors.New("that is enough")
	r := newRig(scripted.Answer{Parts: []scripted.Part{scripted.Say("a", "b", "c"), scripted.Call("c1", "touch")}}, scripted.Text("again"))
	r.tools = []*scripted.Tool{{Name: "touch"}}
	r.Watch = func(e *event.MessageUpdate) error {
		if e.Update.Delta != nil && *e.Update.Delta == "b" {
			return enough
		}
		return nil
	}
	result := agent.Run(t.Context(), r.Config, prompt("hi"))
	wantLines(t, r.Lines()[4:],
		"message_start assistant pending",
		"message_update text_start",
		"message_update text_delta a",
		"message_update text_delta b",
		"message_end assistant aborted (that is enough): ab",
		"turn_end 0",
		"agent_end 2",
	)
	if !errors.Is(result.Err, enough) {
		t.Errorf("the run ends with %v", result.Err)
	}
}
