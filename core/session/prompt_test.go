package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
)

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

const aborted = "(The operation was aborted)"

// bubble runs a test with time that passes only while everything waits.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func TestPromptFromAcceptanceToSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Text("hello")})
		r.Prompt(session.Prompt{Text: "hi", Source: "rpc"}, func(d session.Disposition, err error) { r.Note("accepted %s %v", d, err) })
		r.Await("agent_settled", 1)
		wantLines(t, r.Lines(),
			"accepted started <nil>", "agent_start", "turn_start",
			"message_start user: hi", "message_end user: hi",
			"message_start assistant pending", "message_update text_start", "message_update text_delta hello", "message_update text_end hello",
			"message_end assistant stop: hello", "turn_end 0", "agent_end 2", "agent_settled")
		wantLines(t, r.entryTypes(), "model_change", "thinking_level_change", "message user", "message assistant")
		wantLines(t, r.conversation(), "user: hi", "assistant stop: hello")
		request := r.model.Requests()[0]
		if request.APIKey != "key" || request.SessionID != r.ID() || request.Thinking != "medium" || !strings.HasPrefix(request.System, "in "+r.Cwd()) {
			t.Errorf("the request is %+v", request)
		}
	})
}

func TestPromptsDuringARun(t *testing.T) {
	for _, c := range []struct {
		behavior session.Behavior
		want     string
		ends     []string
	}{
		{session.BehaviorRefuse, "refused: " + session.ErrBusy.Error(), []string{"user: one", "assistant stop: a"}},
		{session.BehaviorSteer, "queued", []string{"user: one", "assistant stop: a", "user: two", "assistant stop: b"}},
		{session.BehaviorFollowUp, "queued", []string{"user: one", "assistant stop: a", "user: two", "assistant stop: b"}},
	} {
		bubble(t, "behavior "+string(c.behavior), func(t *testing.T) {
			r := newRig(t, []scripted.Answer{{Parts: []scripted.Part{scripted.Say("a")}, Delay: time.Second}, scripted.Text("b")})
			r.prompt("one")
			sleep(time.Millisecond)
			if got := r.send(session.Prompt{Text: "two", Behavior: c.behavior, Source: "rpc"}); got != c.want {
				t.Errorf("the prompt was %s, want %s", got, c.want)
			}
			r.Await("agent_settled", 1)
			r.idle()
			wantLines(t, r.conversation(), c.ends...)
			if n := r.Count("agent_settled"); n != 1 {
				t.Errorf("settled %d times", n)
			}
		})
	}
}

// Clients look for two words in the refusal.
func TestBusyErrorHasTheWords(t *testing.T) {
	for _, word := range []string{"streaming", "streamingBehavior"} {
		if !strings.Contains(session.ErrBusy.Error(), word) {
			t.Errorf("%q is not in %q", word, session.ErrBusy)
		}
	}
}

// What stands in one write of a client takes effect in that order.
func TestCommandsInOneWrite(t *testing.T) {
	bubble(t, "prompt and prompt", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("ok")})
		first, outcome1 := accepting()
		second, outcome2 := accepting()
		r.Prompt(session.Prompt{Text: "one"}, first)
		r.Prompt(session.Prompt{Text: "two"}, second)
		if got := outcome1(); got != "started" {
			t.Errorf("the first was %s", got)
		}
		if got := outcome2(); got != "refused: "+session.ErrBusy.Error() {
			t.Errorf("the second was %s", got)
		}
		r.idle()
		wantLines(t, r.conversation(), "user: one", "assistant stop: ok")
		wantLines(t, r.Lines("message_", "turn_"), "agent_start", "agent_end 2", "agent_settled")
	})
	bubble(t, "prompt and abort", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("never")})
		accepted, outcome := accepting()
		r.Prompt(session.Prompt{Text: "one"}, accepted)
		<-r.Abort()
		if got := outcome(); got != "started" {
			t.Errorf("the prompt was %s", got)
		}
		wantLines(t, r.brief(), "agent_start", "message_end user: one", "message_end assistant aborted "+aborted, "agent_end 2", "agent_settled aborted")
	})
	bubble(t, "steer, follow-up, prompt", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Text("1"), scripted.Text("2")})
		for _, send := range []func(session.Prompt, session.Accepted){r.Steer, r.FollowUp, r.Prompt} {
			send(session.Prompt{Text: "text"}, func(session.Disposition, error) {})
		}
		r.idle()
		wantLines(t, r.conversation(), "user: text", "user: text", "assistant stop: 1", "user: text", "assistant stop: 2")
	})
	bubble(t, "steer, follow-up, clear, prompt", func(t *testing.T) {
		r := newRig(t, nil)
		r.Steer(session.Prompt{Text: "s"}, func(session.Disposition, error) {})
		r.FollowUp(session.Prompt{Text: "f"}, func(session.Disposition, error) {})
		steering, followUps := r.ClearQueue()
		wantLines(t, steering, "s")
		wantLines(t, followUps, "f")
		r.run("p")
		wantLines(t, r.conversation(), "user: p", "assistant stop: ok")
		wantLines(t, r.Lines("message_", "turn_", "agent_"), "queue_update [s] []", "queue_update [s] [f]", "queue_update [] []")
	})
	bubble(t, "prompt, abort, prompt", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("never")})
		first, outcome1 := accepting()
		second, outcome2 := accepting()
		r.Prompt(session.Prompt{Text: "one"}, first)
		idle := r.Abort()
		r.Prompt(session.Prompt{Text: "two"}, second)
		<-idle
		if got := outcome1(); got != "started" {
			t.Errorf("the first was %s", got)
		}
		// The second is not for the run that was just aborted.
		if got := outcome2(); got != "started" {
			t.Errorf("the second was %s", got)
		}
		r.idle()
		got := r.conversation()
		wantLines(t, got[:3], "user: one", "assistant aborted "+aborted, "user: two")
		if last := got[len(got)-1]; !strings.HasPrefix(last, "assistant stop") {
			t.Errorf("the second prompt came to %s", last)
		}
	})
}

func TestTemplatesExpand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		if got := r.steer("/greet Bo"); got != "queued" {
			t.Errorf("steer was %s", got)
		}
		if got := r.followUp("/greet Cy"); got != "queued" {
			t.Errorf("follow-up was %s", got)
		}
		wantLines(t, r.Lines(), "queue_update [Say hello to Bo] []", "queue_update [Say hello to Bo] [Say hello to Cy]")
		r.run("/greet Al")
		wantLines(t, r.conversation(), "user: Say hello to Al", "user: Say hello to Bo", "assistant stop: ok", "user: Say hello to Cy", "assistant stop: ok")
	})
}

func TestPromptWithImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{{Delay: time.Second}})
		image := message.ImageBlock("AA==", "image/png")
		if got := r.send(session.Prompt{Images: []message.Block{image}}); got != "started" {
			t.Fatalf("the prompt was %s", got)
		}
		sleep(time.Millisecond) // the first turn takes no more
		accepted, outcome := accepting()
		r.Steer(session.Prompt{Text: "s", Images: []message.Block{image}}, accepted)
		outcome()
		if got := r.send(session.Prompt{Images: []message.Block{image}, Behavior: session.BehaviorFollowUp}); got != "queued" || r.State().PendingMessageCount != 2 {
			t.Errorf("the follow-up was %s, and %d wait", got, r.State().PendingMessageCount)
		}
		r.idle()
		if n := r.State().PendingMessageCount; n != 0 {
			t.Errorf("%d wait in the end", n)
		}
		const alone = `[{"type":"text","text":""},{"type":"image","data":"AA==","mimeType":"image/png"}]`
		for i, want := range []string{alone, `[{"type":"text","text":"s"},{"type":"image","data":"AA==","mimeType":"image/png"}]`, alone} {
			var m struct{ Content json.RawMessage }
			decode(t, r.Messages()[i*2], &m)
			if string(m.Content) != want {
				t.Errorf("message %d has content %s, want %s", i*2, m.Content, want)
			}
		}
	})
}

func TestPromptsThatCannotBeAnswered(t *testing.T) {
	t.Run("no model", func(t *testing.T) {
		r := newRig(t, nil, func(c *session.Config) { c.Model, c.NoModel = nil, "set a key first" })
		if got := r.send(session.Prompt{Text: "hi"}); got != "refused: set a key first" {
			t.Errorf("the prompt was %s", got)
		}
		wantLines(t, r.Lines())
		if s := r.State(); s.Model != nil || s.IsStreaming || s.ThinkingLevel != "off" {
			t.Errorf("the state is %+v", s)
		}
	})
	t.Run("no key", func(t *testing.T) {
		var m *models
		r := newRig(t, nil, func(c *session.Config) {
			m = c.Models.(*models)
			m.refuse = errors.New("OPENAI_API_KEY is not set")
		})
		got := r.send(session.Prompt{Text: "hi"})
		for _, want := range []string{"refused", "mock/m1", "OPENAI_API_KEY is not set"} {
			if !strings.Contains(got, want) {
				t.Errorf("the prompt was %s, want %q in it", got, want)
			}
		}
		m.refuse = nil
		r.run("hi")
		wantLines(t, r.conversation(), "user: hi", "assistant stop: ok")
	})
	t.Run("the key is lost later", func(t *testing.T) {
		var m *models
		r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch"))}, func(c *session.Config) { m = c.Models.(*models) },
			tools(&scripted.Tool{Name: "touch", Do: nil}))
		r.Subscribe(func(e event.Event) {
			if e.Kind() == event.KindToolExecutionEnd {
				m.refuse = errors.New("the key is gone")
			}
		})
		r.run("hi")
		last := r.conversation()[3]
		if last != "assistant error (the key is gone)" {
			t.Errorf("the run ends with %s", last)
		}
		var answer message.Assistant
		decode(t, r.Messages()[3], &answer)
		if answer.Model != "m1" || answer.Provider != "mock" {
			t.Errorf("the failed answer is of %s/%s", answer.Provider, answer.Model)
		}
	})
}

// The order in which extensions see a run, and where clients stand in it.
func TestHooksOfARunInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		all := &scripted.Listener{Name: "all", Do: func(_ context.Context, e event.Event) (any, error) {
			if e.Kind() != event.KindMessageUpdate && e.Kind() != event.KindSessionShutdown {
				r.Note("hook %s", e.Kind())
			}
			return nil, nil
		}}
		r = newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch")), scripted.Text("end")}, hooks(all), tools(&scripted.Tool{Name: "touch"}))
		r.Prompt(session.Prompt{Text: "hi"}, func(session.Disposition, error) { r.Note("accepted") })
		r.Await("agent_settled", 1)
		lines := r.Lines("message_update")
		wantLines(t, lines[:14], "hook input", "hook before_agent_start", "accepted", "hook agent_start", "agent_start", "hook turn_start", "turn_start",
			"hook message_start", "message_start user: hi", "hook message_end", "message_end user: hi", "hook context", "hook message_start", "message_start assistant pending")
		wantLines(t, lines[14:30], "hook message_end", "message_end assistant toolUse c", "hook tool_execution_start", "tool_execution_start c touch {}",
			"hook tool_call", "hook tool_result", "hook tool_execution_end", "tool_execution_end c",
			"hook message_start", "message_start toolResult c: done", "hook message_end", "message_end toolResult c: done", "hook turn_end", "turn_end 1",
			"hook turn_start", "turn_start")
		wantLines(t, lines[len(lines)-4:], "hook agent_end", "agent_end 4", "hook agent_settled", "agent_settled")
	})
}

func TestInputHook(t *testing.T) {
	input := func(do func(*event.Input) (any, error)) *scripted.Listener {
		return scripted.On(event.KindInput, func(_ context.Context, e *event.Input) (any, error) { return do(e) })
	}
	bubble(t, "transforms", func(t *testing.T) {
		r := newRig(t, nil, hooks(input(func(e *event.Input) (any, error) {
			return &event.InputResult{Action: "transform", Text: "/greet " + e.Text}, nil
		})))
		r.run("Al")
		wantLines(t, r.conversation(), "user: Say hello to Al", "assistant stop: ok")
	})
	bubble(t, "handles", func(t *testing.T) {
		r := newRig(t, nil, hooks(input(func(*event.Input) (any, error) { return &event.InputResult{Action: "handled"}, nil })))
		if got := r.send(session.Prompt{Text: "hi"}); got != "handled" {
			t.Errorf("the prompt was %s", got)
		}
		if got := r.steer("s"); got != "handled" {
			t.Errorf("the steer was %s", got)
		}
		wantLines(t, r.Lines())
		if s := r.State(); s.IsStreaming || s.PendingMessageCount != 0 || s.MessageCount != 0 {
			t.Errorf("the state is %+v", s)
		}
	})
	bubble(t, "fails", func(t *testing.T) {
		r := newRig(t, nil, hooks(input(func(*event.Input) (any, error) { return nil, errors.New("lost") })))
		r.run("hi")
		wantLines(t, r.conversation(), "user: hi", "assistant stop: ok")
		wantLines(t, r.brief()[:1], `extension_error {"extensionPath":"ext","event":"input","error":"lost"}`)
	})
	bubble(t, "knows where the text comes from and goes to", func(t *testing.T) {
		var seen []string
		r := newRig(t, []scripted.Answer{{Delay: time.Second}}, hooks(input(func(e *event.Input) (any, error) {
			seen = append(seen, e.Source+" "+e.StreamingBehavior+" "+e.Text)
			return nil, nil
		})))
		r.prompt("p")
		sleep(time.Millisecond)
		r.steer("s")
		r.followUp("f")
		r.send(session.Prompt{Text: "q", Source: "interactive", Behavior: session.BehaviorFollowUp})
		r.idle()
		wantLines(t, seen, "rpc  p", "rpc steer s", "rpc followUp f", "interactive followUp q")
	})
}

func TestBeforeAgentStartHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		start := scripted.On(event.KindBeforeAgentStart, func(_ context.Context, e *event.BeforeAgentStart) (any, error) {
			n++
			if n > 1 {
				return nil, nil
			}
			prompt := e.SystemPrompt + "!"
			return &event.BeforeAgentStartResult{SystemPrompt: &prompt, Message: &event.CustomMessage{CustomType: "note", Content: message.PlainContent("by the way"), Display: true}}, nil
		})
		r := newRig(t, nil, hooks(start))
		r.SendMessage(event.CustomMessage{CustomType: "kept", Content: message.PlainContent("kept")}, session.SendOptions{DeliverAs: session.DeliverNextTurn})
		r.run("one")
		r.run("two")
		wantLines(t, r.conversation(), "user: one", "custom: kept", "custom: by the way", "assistant stop: ok", "user: two", "assistant stop: ok")
		wantLines(t, r.entryTypes()[2:], "message user", "custom_message", "custom_message", "message assistant", "message user", "message assistant")
		if first, second := r.model.Requests()[0].System, r.model.Requests()[1].System; first != second+"!" {
			t.Errorf("the system prompts are %q and %q", first, second)
		}
	})
}

func TestContextHookChangesWhatTheModelSeesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, hooks(scripted.On(event.KindContext, func(_ context.Context, e *event.Context) (any, error) {
			list := append(message.List{message.NewUser("first of all", nil, 0)}, e.Messages...)
			return &event.ContextResult{Messages: &list}, nil
		})))
		r.run("hi")
		wantLines(t, r.sent(0), "user: first of all", "user: hi")
		wantLines(t, r.conversation(), "user: hi", "assistant stop: ok")
	})
}

func TestMessageEndHookReplacesWhatIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, hooks(scripted.On(event.KindMessageEnd, func(_ context.Context, e *event.MessageEnd) (any, error) {
			if answer, ok := e.Message.(*message.Assistant); ok {
				other := *answer
				other.Content = []message.Block{message.TextBlock("redacted")}
				return &event.MessageEndResult{Message: &other}, nil
			}
			return nil, nil
		})))
		r.run("hi")
		wantLines(t, r.conversation(), "user: hi", "assistant stop: redacted")
		if r.Count("message_end assistant stop: redacted") != 1 {
			t.Errorf("clients saw %q", r.Lines())
		}
	})
}

func TestToolHooks(t *testing.T) {
	call := func(do func(*event.ToolCall) (any, error)) *scripted.Listener {
		return scripted.On(event.KindToolCall, func(_ context.Context, e *event.ToolCall) (any, error) { return do(e) })
	}
	touch := &scripted.Tool{Name: "touch"}
	ask := []scripted.Answer{scripted.Calls(scripted.Call("c", "touch", `{"a":1}`))}
	bubble(t, "block with a reason", func(t *testing.T) {
		r := newRig(t, ask, tools(touch), hooks(call(func(*event.ToolCall) (any, error) {
			return &event.ToolCallResult{Block: true, Reason: "not today"}, nil
		})))
		r.run("hi")
		wantLines(t, r.conversation()[2:], "toolResult c error: not today", "assistant stop: ok")
	})
	bubble(t, "block without a reason", func(t *testing.T) {
		r := newRig(t, ask, tools(touch), hooks(call(func(*event.ToolCall) (any, error) { return &event.ToolCallResult{Block: true}, nil })))
		r.run("hi")
		if got := r.conversation()[2]; !strings.Contains(got, "touch") || !strings.Contains(got, "blocked") {
			t.Errorf("the result is %s", got)
		}
	})
	bubble(t, "block and end the run", func(t *testing.T) {
		r := newRig(t, ask, tools(touch), hooks(call(func(*event.ToolCall) (any, error) {
			return &event.ToolCallResult{Block: true, Reason: "no", Terminate: true}, nil
		})))
		r.run("hi")
		wantLines(t, r.conversation()[2:], "toolResult c error: no")
	})
	bubble(t, "a failure blocks", func(t *testing.T) {
		r := newRig(t, ask, tools(touch), hooks(call(func(*event.ToolCall) (any, error) { return nil, errors.New("gate is down") })))
		r.run("hi")
		wantLines(t, r.conversation()[2:], "toolResult c error: gate is down", "assistant stop: ok")
	})
	bubble(t, "changes arguments and result", func(t *testing.T) {
		echo := &scripted.Tool{Name: "touch", Do: echoArguments}
		r := newRig(t, ask, tools(echo), hooks(
			call(func(*event.ToolCall) (any, error) { return &event.ToolCallResult{Input: event.Raw(`{"a":2}`)}, nil }),
			scripted.On(event.KindToolResult, func(_ context.Context, e *event.ToolResult) (any, error) {
				failed := true
				content := slices.Concat(e.Content, []message.Block{message.TextBlock(" of " + string(e.Input))})
				return &event.ToolResultPatch{Content: &content, IsError: &failed}, nil
			})))
		r.run("hi")
		wantLines(t, r.conversation()[2:3], `toolResult c error: {"a":2} of {"a":2}`)
		wantLines(t, r.Lines("message_", "turn_", "agent_"), `tool_execution_start c touch {"a":1}`, "tool_execution_end c error")
	})
	bubble(t, "sees no content as an empty list", func(t *testing.T) {
		r := newRig(t, ask, tools(&scripted.Tool{Name: "touch", Do: sayNothing}), hooks(scripted.On(event.KindToolResult, func(_ context.Context, e *event.ToolResult) (any, error) {
			if data, err := event.EncodePayload(e); err != nil || !strings.Contains(string(data), `"content":[]`) {
				t.Errorf("the extension sees %s, %v", data, err)
			}
			return nil, nil
		})))
		r.run("hi")
	})
}
