package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/agent"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
)

// run is what the Do of a scripted tool looks like.
type run = func(ctx context.Context, call tool.Call, update func(tool.Result)) (tool.Result, error)

// lasting gives a tool that takes a while and says its call's id.
func lasting(d time.Duration) run {
	return func(ctx context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
		select {
		case <-time.After(d):
			return tool.TextResult("result of " + call.ID), nil
		case <-ctx.Done():
			return tool.TextResult("partly " + call.ID), errors.New("stopped")
		}
	}
}

func TestToolsRunAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(scripted.Calls(scripted.Call("a", "slow"), scripted.Call("b", "quick", `{"x":1}`), scripted.Call("c", "slow")), scripted.Text("end"))
		r.tools = []*scripted.Tool{{Name: "slow", Do: lasting(3 * time.Second)}, {Name: "quick", Do: lasting(time.Second)}}
		began := time.Now()
		agent.Run(t.Context(), r.Config, prompt("hi"))
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		lines := r.Lines(quiet...)
		wantLines(t, lines[:7], "agent_start", "turn_start", "message_end user: hi", "message_end assistant toolUse a b c",
			"tool_execution_start a slow {}", `tool_execution_start b quick {"x":1}`, "tool_execution_start c slow {}")
		if lines[7] != "tool_execution_end b" {
			t.Errorf("the first end is %s", lines[7])
		}
		wantLines(t, lines[10:], "message_end toolResult a: result of a", "message_end toolResult b: result of b", "message_end toolResult c: result of c",
			"turn_end 3", "turn_start", "message_end assistant stop: end", "turn_end 0", "agent_end 6")
		wantLines(t, scripted.Messages(r.model.Requests()[1].Messages),
			"user: hi", "assistant toolUse a b c", "toolResult a: result of a", "toolResult b: result of b", "toolResult c: result of c")
	})
}

// Calls that change the same thing run in the order of the answer, and beside
// them everything else.
func TestCallsWithOneTargetKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []scripted.Part
		for i := range 20 {
			calls = append(calls, scripted.Call(fmt.Sprintf("a%02d", i), "change", `{"path":"a"}`), scripted.Call(fmt.Sprintf("b%02d", i), "change", `{"path":"b"}`))
		}
		calls = append(calls, scripted.Call("free", "change"))
		r := newRig(scripted.Calls(calls...))
		began := time.Now()
		inner := lasting(time.Second)
		r.tools = []*scripted.Tool{{
			Name:   "change",
			Target: func(arguments json.RawMessage) string { return strings.Trim(string(arguments), "{}") },
			Do: func(ctx context.Context, call tool.Call, update func(tool.Result)) (tool.Result, error) {
				r.Note("run %s at %v", call.ID, time.Since(began))
				return inner(ctx, call, update)
			},
		}}
		agent.Run(t.Context(), r.Config, prompt("hi"))
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("took %v", took)
		}
		for i := range 20 {
			for _, want := range []string{fmt.Sprintf("run a%02d at %ds", i, i), fmt.Sprintf("run b%02d at %ds", i, i)} {
				if r.Count(want) != 1 {
					t.Errorf("%q is not among %q", want, r.Lines("tool_", "message_"))
				}
			}
		}
		if r.Count("run free at 0s") != 1 {
			t.Error("the call without a target waited")
		}
	})
}

func TestSequentialToolsRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(scripted.Calls(scripted.Call("a", "free"), scripted.Call("b", "alone"), scripted.Call("c", "alone"), scripted.Call("d", "free"), scripted.Call("e", "free")))
		began := time.Now()
		noted := func(d time.Duration) run {
			inner := lasting(d)
			return func(ctx context.Context, call tool.Call, update func(tool.Result)) (tool.Result, error) {
				from := time.Since(began)
				result, err := inner(ctx, call, update)
				r.Note("%s %v-%v", call.ID, from, time.Since(began))
				return result, err
			}
		}
		r.tools = []*scripted.Tool{{Name: "free", Do: noted(time.Second)}, {Name: "alone", Sequential: true, Do: noted(2 * time.Second)}}
		agent.Run(t.Context(), r.Config, prompt("hi"))
		wantLines(t, r.Lines("agent_", "turn_", "message_", "tool_execution_start", "tool_execution_end", "d ", "e "), "a 0s-1s", "b 1s-3s", "c 3s-5s")
		for _, free := range []string{"d 5s-6s", "e 5s-6s"} {
			if r.Count(free) != 1 {
				t.Errorf("%s is not among %q", free, r.Lines())
			}
		}
		starts := r.Lines("agent_", "turn_", "message_", "tool_execution_end", "a", "b", "c", "d", "e")
		if len(starts) != 5 || r.Lines(quiet...)[8] != starts[4] {
			t.Errorf("the starts are not all in front: %q", r.Lines())
		}
	})
}

const pathSchema = `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"number"}},"required":["path"]}`

// Calls that cannot run are over before later ones begin, and the model is
// told why.
func TestCallsThatCannotRun(t *testing.T) {
	for _, c := range []struct {
		name string
		call scripted.Part
		stop message.StopReason
		want []string // that the result contains
	}{
		{"unknown tool", scripted.Call("x", "nonesuch", `{}`), "", []string{"nonesuch"}},
		{"missing argument", scripted.Call("x", "read", `{}`), "", []string{"read", "path"}},
		{"wrong argument", scripted.Call("x", "read", `{"path":"a","limit":"many"}`), "", []string{"read", "limit"}},
		{"cut-off arguments", scripted.Call("x", "read", `{"path":"a`), "", []string{"read"}},
		{"no object", scripted.Call("x", "read", `[1]`), "", []string{"read"}},
		{"null", scripted.Call("x", "read", `null`), "", []string{"read"}},
		{"the answer was cut off", scripted.Call("x", "read", `{"path":"a"}`), message.StopLength, []string{"read", "token limit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := scripted.Calls(c.call, scripted.Call("y", "read", `{"path":"b"}`))
			first.Stop = c.stop
			r := newRig(first, scripted.Text("end"))
			r.tools = []*scripted.Tool{{Name: "read", Parameters: pathSchema, Do: func(_ context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
				if call.ID == "x" {
					t.Errorf("ran with %s", call.Arguments)
				}
				return tool.TextResult("read"), nil
			}}}
			agent.Run(t.Context(), r.Config, prompt("hi"))
			lines := r.Lines("message_", "agent_", "turn_")
			if !strings.HasPrefix(lines[0], "tool_execution_start x") || lines[1] != "tool_execution_end x error" || !strings.HasPrefix(lines[2], "tool_execution_start y") {
				t.Errorf("the order is %q", lines)
			}
			text := resultText(t, r.conversation, "x")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("the model is told %q, want %q in it", text, want)
				}
			}
			result := r.conversation[2].(*message.ToolResult)
			if string(result.Details) != `{}` || !result.IsError {
				t.Errorf("the result is %+v", result)
			}
			if ran := resultText(t, r.conversation, "y") == "read"; ran != (c.stop == "") {
				t.Errorf("the other call ran: %v", ran)
			}
			if last := r.conversation[len(r.conversation)-1]; scripted.Message(last) != "assistant stop: end" {
				t.Errorf("the run ends with %s", scripted.Message(last))
			}
		})
	}
}

// What the tool gets is what fits its schema; what clients see is what the
// model sent.
func TestArgumentsAreMadeToFit(t *testing.T) {
	r := newRig(scripted.Calls(scripted.Call("x", "read", `{"path":"a","limit":"2","more":true}`)))
	var got string
	r.tools = []*scripted.Tool{{Name: "read", Parameters: pathSchema, Do: func(_ context.Context, call tool.Call, update func(tool.Result)) (tool.Result, error) {
		got = string(call.Arguments)
		update(tool.TextResult("so far"))
		return tool.TextResult("read"), nil
	}}}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	var args map[string]any
	if err := json.Unmarshal([]byte(got), &args); err != nil || args["limit"] != 2.0 || args["more"] != true {
		t.Errorf("the tool got %s, %v", got, err)
	}
	for _, e := range r.Events() {
		switch e := e.(type) {
		case *event.ToolExecutionStart:
			got = string(e.Args)
		case *event.ToolExecutionUpdate:
			got = string(e.Args)
		default:
			continue
		}
		if got != `{"path":"a","limit":"2","more":true}` {
			t.Errorf("clients see %s", got)
		}
	}
}

func TestToolOutcomes(t *testing.T) {
	image := message.ImageBlock("AA==", "image/png")
	for _, c := range []struct {
		name    string
		do      run
		isError bool
		content string // JSON
		details string
	}{
		{"success", func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
			return tool.Result{Content: []message.Block{message.TextBlock("out")}, Details: json.RawMessage(`{"a":1}`)}, nil
		}, false, `[{"type":"text","text":"out"}]`, `{"a":1}`},
		{"nothing", func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) { return tool.Result{}, nil }, false, `[]`, ``},
		{"an error alone", func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
			return tool.Result{}, errors.New("no such file")
		}, true, `[{"type":"text","text":"no such file"}]`, `{}`},
		{"an error behind output", func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
			return tool.Result{Content: []message.Block{image, message.TextBlock("out\n")}, Details: json.RawMessage(`{"a":1}`)}, errors.New("exit 1")
		}, true, `[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"out\n\n\nexit 1"}]`, `{"a":1}`},
		{"an error behind an image", func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
			return tool.Result{Content: []message.Block{image}}, errors.New("exit 1")
		}, true, `[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"exit 1"}]`, `{}`},
		{"an error that the tool has told", func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
			return tool.TextResult("it went wrong"), fmt.Errorf("host: %w", tool.ErrReported)
		}, true, `[{"type":"text","text":"it went wrong"}]`, `{}`},
		{"details that are no JSON", func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
			return tool.Result{Content: []message.Block{message.TextBlock("out")}, Details: json.RawMessage(`{"a"`)}, nil
		}, true, "", `{}`},
		{"content that is no JSON", func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
			return tool.Result{Content: []message.Block{{Type: message.BlockToolCall, Arguments: json.RawMessage(`{`)}}}, nil
		}, true, "", `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(scripted.Calls(scripted.Call("x", "touch")))
			r.tools = []*scripted.Tool{{Name: "touch", Do: c.do}}
			agent.Run(t.Context(), r.Config, prompt("hi"))
			result := r.conversation[2].(*message.ToolResult)
			content, err := message.Marshal(result.Content)
			if err != nil {
				t.Fatal(err)
			}
			if string(content) == "null" {
				content = []byte("[]") // as a message it is written so
			}
			if result.IsError != c.isError || c.content != "" && string(content) != c.content || string(result.Details) != c.details {
				t.Errorf("the result is %s %s, error %v", content, result.Details, result.IsError)
			}
			if c.content == "" && !strings.Contains(message.TextOf(result), "touch") {
				t.Errorf("the model is told %q, want the tool named", message.TextOf(result))
			}
			for _, e := range r.Events() {
				if _, err := event.Encode(e); err != nil {
					t.Errorf("%s: %v", e.Kind(), err)
				}
			}
		})
	}
}

func TestToolThatPanics(t *testing.T) {
	r := newRig(scripted.Calls(scripted.Call("x", "touch"), scripted.Call("y", "fine")))
	r.tools = []*scripted.Tool{{Name: "fine"}, {Name: "touch", Do: func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
		panic("index out of range")
	}}}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	result := r.conversation[2].(*message.ToolResult)
	if text := message.TextOf(result); !result.IsError || text != "The tool touch panicked: index out of range" {
		t.Errorf("the model is told %q", text)
	}
	var details struct{ Stack string }
	if err := json.Unmarshal(result.Details, &details); err != nil || !strings.Contains(details.Stack, "tools_test.go") {
		t.Errorf("the stack is not in the details: %s, %v", result.Details, err)
	}
	wantLines(t, scripted.Messages(r.conversation[3:]), "toolResult y: done", "assistant stop: ok")
}

func TestUpdates(t *testing.T) {
	r := newRig(scripted.Calls(scripted.Call("x", "touch")))
	r.tools = []*scripted.Tool{{Name: "touch", Do: func(_ context.Context, _ tool.Call, update func(tool.Result)) (tool.Result, error) {
		update(tool.Result{})
		content := []message.Block{message.TextBlock("a")}
		update(tool.Result{Content: content, Details: json.RawMessage(`{"n":1}`)})
		content[0].Text = "b" // the memory is the tool's
		update(tool.Result{Content: content, Details: json.RawMessage(`{`)})
		update(tool.Result{Content: content})
		return tool.TextResult("ab"), nil
	}}}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	wantLines(t, r.Lines("message_", "agent_", "turn_"), "tool_execution_start x touch {}",
		`tool_execution_update x {"content":[]}`,
		`tool_execution_update x {"content":[{"type":"text","text":"a"}],"details":{"n":1}}`,
		`tool_execution_update x {"content":[{"type":"text","text":"b"}]}`,
		"tool_execution_end x")
}

// A tool that goes on updating after its end must neither hang nor be heard.
func TestUpdatesAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(scripted.Calls(scripted.Call("x", "late"), scripted.Call("y", "slow")))
		ended := make(chan struct{})
		r.tools = []*scripted.Tool{{Name: "slow", Do: lasting(5 * time.Second)}, {Name: "late", Do: func(_ context.Context, _ tool.Call, update func(tool.Result)) (tool.Result, error) {
			go func() {
				defer close(ended)
				for range 10 {
					<-time.After(time.Second)
					update(tool.TextResult("too late"))
				}
			}()
			return tool.TextResult("over"), nil
		}}}
		agent.Run(t.Context(), r.Config, prompt("hi"))
		<-ended
		if n := r.Count("tool_execution_update"); n != 0 {
			t.Errorf("%d updates came after the end", n)
		}
	})
}

func TestTerminate(t *testing.T) {
	done := func(terminate bool) run {
		return func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
			result := tool.TextResult("done")
			result.Terminate = terminate
			return result, nil
		}
	}
	for _, c := range []struct {
		name    string
		calls   []scripted.Part
		goesOn  bool
		refused bool
	}{
		{"all ask for it", []scripted.Part{scripted.Call("x", "last"), scripted.Call("y", "last")}, false, false},
		{"one does not", []scripted.Part{scripted.Call("x", "last"), scripted.Call("y", "other")}, true, false},
		{"refused with it", []scripted.Part{scripted.Call("x", "other")}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(scripted.Calls(c.calls...), scripted.Text("more"))
			r.tools = []*scripted.Tool{{Name: "last", Do: done(true)}, {Name: "other", Do: done(false)}}
			if c.refused {
				r.Check = func(context.Context, tool.Call) agent.Verdict {
					return agent.Verdict{Refused: true, Reason: "no more", Terminate: true}
				}
			}
			result := agent.Run(t.Context(), r.Config, prompt("hi"))
			if goesOn := len(r.model.Requests()) == 2; goesOn != c.goesOn {
				t.Errorf("the model was asked again: %v", goesOn)
			}
			if result.Last.StopReason != message.StopToolUse && !c.goesOn {
				t.Errorf("the last answer is %s", scripted.Message(result.Last))
			}
		})
	}
	t.Run("a queued message goes on all the same", func(t *testing.T) {
		r := newRig(scripted.Calls(scripted.Call("x", "last")), scripted.Text("more"))
		r.tools = []*scripted.Tool{{Name: "last", Do: done(true)}}
		r.followUps = []agent.Queued{r.queued("next")}
		agent.Run(t.Context(), r.Config, prompt("hi"))
		wantLines(t, scripted.Messages(r.conversation[3:]), "user: next", "assistant stop: more")
	})
}

func TestCheckChangesAndRefuses(t *testing.T) {
	r := newRig(scripted.Calls(scripted.Call("x", "touch", `{"a":1}`), scripted.Call("y", "touch", `{}`), scripted.Call("z", "touch", `{}`)))
	r.tools = []*scripted.Tool{{Name: "touch", Do: func(_ context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
		return tool.TextResult(string(call.Arguments)), nil
	}}}
	r.Check = func(_ context.Context, call tool.Call) agent.Verdict {
		r.Note("check %s", call.ID)
		switch call.ID {
		case "x":
			return agent.Verdict{Arguments: []byte(`{"a":2}`)}
		case "y":
			return agent.Verdict{Refused: true, Reason: "not allowed"}
		}
		return agent.Verdict{}
	}
	finished := make(chan string, 3)
	r.Finish = func(_ context.Context, call tool.Call, o agent.Outcome) agent.Outcome {
		finished <- call.ID
		o.Result.Content = append(o.Result.Content, message.TextBlock("!"))
		return o
	}
	agent.Run(t.Context(), r.Config, prompt("hi"))
	wantLines(t, r.Lines("message_", "agent_", "turn_")[:8],
		`tool_execution_start x touch {"a":1}`, "check x",
		"tool_execution_start y touch {}", "check y", "tool_execution_end y error",
		"tool_execution_start z touch {}", "check z", r.Lines("message_", "agent_", "turn_")[7])
	wantLines(t, scripted.Messages(r.conversation[2:5]), `toolResult x: {"a":2}!`, "toolResult y error: not allowed", "toolResult z: {}!")
	close(finished)
	for id := range finished {
		if id == "y" {
			t.Error("Finish saw a call that did not run")
		}
	}
}

func TestAbortInTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(scripted.Calls(scripted.Call("a", "slow"), scripted.Call("b", "quick"), scripted.Call("c", "alone")))
		r.Model = func() message.Model { return testModel }
		r.tools = []*scripted.Tool{
			{Name: "slow", Do: lasting(time.Hour)}, {Name: "quick", Do: lasting(time.Second)}, {Name: "alone", Sequential: true, Do: lasting(time.Second)},
		}
		r.steering = []agent.Queued{}
		var finishes atomic.Int32
		r.Finish = func(_ context.Context, _ tool.Call, o agent.Outcome) agent.Outcome { finishes.Add(1); return o }
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		result := agent.Run(ctx, r.Config, prompt("hi"))
		wantLines(t, r.Lines(quiet...)[4:],
			"tool_execution_start a slow {}", "tool_execution_start b quick {}", "tool_execution_start c alone {}",
			"tool_execution_end b", "tool_execution_end a error", "tool_execution_end c error",
			"message_end toolResult a error: partly a\n\nstopped", "message_end toolResult b: result of b", "message_end toolResult c error: Not run: the operation was aborted",
			"turn_end 3", "turn_start", "message_end assistant aborted ("+agent.AbortedMessage+")", "turn_end 0", "agent_end 6")
		if len(r.model.Requests()) != 1 {
			t.Error("the model was asked after the abort")
		}
		if result.Last.Model != "m1" || len(result.Last.Content) != 0 {
			t.Errorf("the last answer is %+v", result.Last)
		}
		if n := finishes.Load(); n != 2 {
			t.Errorf("Finish saw %d calls, want the two that ran", n)
		}
	})
}

// After an abort calls end in the same moment; clients hear of them in order.
func TestAbortedCallsAreToldInSourceOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(scripted.Calls(scripted.Call("a", "slow"), scripted.Call("b", "slow"), scripted.Call("c", "slow")))
		r.tools = []*scripted.Tool{{Name: "slow", Do: func(ctx context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
			<-ctx.Done()
			<-time.After(map[string]time.Duration{"a": 3, "b": 1, "c": 2}[call.ID] * time.Second)
			return tool.Result{}, errors.New("stopped")
		}}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		agent.Run(ctx, r.Config, prompt("hi"))
		wantLines(t, r.Lines("message_", "agent_", "turn_", "tool_execution_start"), "tool_execution_end a error", "tool_execution_end b error", "tool_execution_end c error")
	})
}

// Between the preparation of a call and its start lies whatever the hooks of
// the calls behind it do.
func TestAbortBetweenPreparationAndRun(t *testing.T) {
	for _, at := range []string{"a", "b"} {
		t.Run(at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := newRig(scripted.Calls(scripted.Call("a", "touch"), scripted.Call("b", "touch")))
			r.tools = []*scripted.Tool{{Name: "touch", Do: func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
				t.Error("a call ran after the abort")
				return tool.Result{}, nil
			}}}
			checks := 0
			r.Check = func(_ context.Context, call tool.Call) agent.Verdict {
				checks++
				if call.ID == at {
					cancel()
					return agent.Verdict{Refused: true, Reason: "the dialog was dismissed"}
				}
				return agent.Verdict{}
			}
			agent.Run(ctx, r.Config, prompt("hi"))
			wantLines(t, scripted.Messages(r.conversation[2:]),
				"toolResult a error: Not run: the operation was aborted", "toolResult b error: Not run: the operation was aborted",
				"assistant aborted ("+agent.AbortedMessage+")")
			if want := map[string]int{"a": 1, "b": 2}[at]; checks != want {
				t.Errorf("%d calls were checked, want %d", checks, want)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(scripted.Calls(scripted.Call("a", "quick"), scripted.Call("b", "slow"), scripted.Call("c", "told"), scripted.Call("d", "alone")), scripted.Text("end"))
		r.tools = []*scripted.Tool{
			{Name: "quick", Do: lasting(time.Second)}, {Name: "slow", Do: lasting(time.Hour)}, {Name: "alone", Sequential: true},
			{Name: "told", Do: func(ctx context.Context, _ tool.Call, _ func(tool.Result)) (tool.Result, error) {
				<-ctx.Done()
				return tool.TextResult("given up"), tool.ErrReported
			}},
		}
		r.Interrupted = func() bool { return len(r.steering) > 0 }
		ctx := t.Context()
		r.steering = []agent.Queued{r.queued("stop that")}
		r.Steering = func(taken int) (agent.Queued, bool) {
			if r.Count("tool_execution_end") == 0 {
				return agent.Queued{}, false
			}
			return r.take(&r.steering, taken)
		}
		result := agent.Run(ctx, r.Config, prompt("hi"))
		const precedence = "a message from the user came in and takes precedence"
		wantLines(t, scripted.Messages(result.Messages)[2:],
			"toolResult a: result of a", "toolResult b error: partly b\n\nnot finished: "+precedence,
			"toolResult c error: given up\n\nnot finished: "+precedence, "toolResult d error: Not run: "+precedence,
			"user: stop that", "assistant stop: end")
	})
}

func TestHooksOfCallsRunAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(scripted.Calls(scripted.Call("a", "touch"), scripted.Call("b", "touch")))
		r.tools = []*scripted.Tool{{Name: "touch"}}
		r.Finish = func(_ context.Context, _ tool.Call, o agent.Outcome) agent.Outcome {
			<-time.After(time.Second)
			return o
		}
		began := time.Now()
		agent.Run(t.Context(), r.Config, prompt("hi"))
		if took := time.Since(began); took != time.Second {
			t.Errorf("the hooks of two calls took %v", took)
		}
	})
}
