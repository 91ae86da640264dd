package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
)

func TestStateOfANewSession(t *testing.T) {
	r := newRig(t, nil)
	s := r.State()
	if s.Model == nil || s.Model.ID != "m1" || s.ThinkingLevel != "medium" || s.IsStreaming || s.IsCompacting || s.SteeringMode != "one-at-a-time" ||
		s.FollowUpMode != "one-at-a-time" || s.InterruptMode != "wait" || s.SessionID != r.ID() || s.SessionFile != "" || s.SessionName != "" ||
		!s.AutoCompactionEnabled || s.MessageCount != 0 || s.PendingMessageCount != 0 || len(r.Todos().Phases()) != 0 {
		t.Errorf("the state is %+v", s)
	}
	wantLines(t, r.entryTypes(), "model_change", "thinking_level_change")
	wantLines(t, r.Lines())
}

func TestSetModel(t *testing.T) {
	r := newRig(t, nil)
	if m, err := r.SetModel(t.Context(), "mock", "m2"); err != nil || m.ID != "m2" {
		t.Errorf("got %+v, %v", m, err)
	}
	wantLines(t, r.Lines(), `thinking_level_changed {"level":"off"}`)
	wantLines(t, r.entryTypes()[2:], "model_change", "thinking_level_change")
	var missing *session.ModelNotFoundError
	if _, err := r.SetModel(t.Context(), "mock", "m3"); !errors.As(err, &missing) || err.Error() != "Model not found: mock/m3" {
		t.Errorf("an unknown model: %v", err)
	}
	r.run("p")
	if request := r.model.Requests()[0]; request.Model.ID != "m2" || request.Thinking != "off" {
		t.Errorf("the request is for %s at %s", request.Model.ID, request.Thinking)
	}
}

// The level that was asked for is remembered over a model that has none.
func TestThinkingLevelIsRemembered(t *testing.T) {
	for _, c := range []struct {
		asked message.ThinkingLevel
		want  message.ThinkingLevel
	}{{"", "medium"}, {"high", "high"}, {"max", "high"}, {"off", "off"}} {
		r := newRig(t, nil)
		if c.asked != "" {
			r.SetThinkingLevel(t.Context(), c.asked)
		}
		if _, err := r.SetModel(t.Context(), "mock", "m2"); err != nil {
			t.Fatal(err)
		}
		if got := r.ThinkingLevel(); got != "off" {
			t.Errorf("without reasoning the level is %s", got)
		}
		r.Reset()
		r.SetThinkingLevel(t.Context(), "low") // means nothing to this model
		wantLines(t, r.Lines())
		if _, err := r.SetModel(t.Context(), "mock", "m1"); err != nil {
			t.Fatal(err)
		}
		if got := r.ThinkingLevel(); got != c.want {
			t.Errorf("asked for %q, then back from m2: %s, want %s", c.asked, got, c.want)
		}
	}
}

func TestThinkingLevels(t *testing.T) {
	r := newRig(t, nil)
	r.SetThinkingLevel(t.Context(), "medium")
	wantLines(t, r.Lines()) // no change, no event, no entry
	wantLines(t, r.entryTypes(), "model_change", "thinking_level_change")
	for _, want := range []message.ThinkingLevel{"high", "off", "minimal", "low", "medium"} {
		if got, ok := r.CycleThinkingLevel(t.Context()); !ok || got != want || r.ThinkingLevel() != want {
			t.Errorf("cycled to %s, %v, want %s", got, ok, want)
		}
	}
	if n := r.Count("thinking_level_changed"); n != 5 {
		t.Errorf("%d changes were told", n)
	}
	if n := len(r.ThinkingLevels()); n != 5 {
		t.Errorf("the model has %d levels", n)
	}
	if _, err := r.SetModel(t.Context(), "mock", "m2"); err != nil {
		t.Fatal(err)
	}
	if got, ok := r.CycleThinkingLevel(t.Context()); ok {
		t.Errorf("without reasoning it cycled to %s", got)
	}
}

func TestCycleModel(t *testing.T) {
	t.Run("all", func(t *testing.T) {
		r := newRig(t, nil)
		for _, want := range []string{"m2", "m1", "m2"} {
			got := r.CycleModel(t.Context())
			if got == nil || got.Model.ID != want || got.IsScoped || r.Model().ID != want || got.ThinkingLevel != r.ThinkingLevel() {
				t.Errorf("cycled to %+v, want %s", got, want)
			}
		}
	})
	t.Run("one", func(t *testing.T) {
		r := newRig(t, nil, func(c *session.Config) { c.Models.(*models).list = []message.Model{thinker} })
		if got := r.CycleModel(t.Context()); got != nil {
			t.Errorf("cycled to %+v", got)
		}
		wantLines(t, r.Lines())
	})
	t.Run("scoped", func(t *testing.T) {
		r := newRig(t, nil, func(c *session.Config) {
			c.Scoped = []session.ScopedModel{{Model: simple}, {Model: thinker, Level: "high"}}
		})
		first := r.CycleModel(t.Context())
		second := r.CycleModel(t.Context())
		if first.Model.ID != "m2" || !first.IsScoped || second.Model.ID != "m1" || second.ThinkingLevel != "high" {
			t.Errorf("cycled to %+v and %+v", first, second)
		}
		if n := len(r.AvailableModels()); n != 2 {
			t.Errorf("%d models are available", n)
		}
	})
	t.Run("none yet", func(t *testing.T) {
		r := newRig(t, nil, func(c *session.Config) { c.Model = nil })
		if got := r.CycleModel(t.Context()); got == nil || got.Model.ID != "m1" {
			t.Errorf("cycled to %+v", got)
		}
	})
}

// A change during an answer counts from the next model call.
func TestChangesDuringAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{slow("1")})
		r.prompt("p")
		sleep(time.Millisecond)
		if _, err := r.SetModel(t.Context(), "mock", "m2"); err != nil {
			t.Fatal(err)
		}
		r.followUp("f")
		r.idle()
		wantLines(t, r.entryTypes()[2:], "message user", "model_change", "thinking_level_change", "message assistant", "message user", "message assistant")
		var first, second message.Assistant
		decode(t, r.Messages()[1], &first)
		decode(t, r.Messages()[3], &second)
		if first.Model != "m1" || second.Model != "m2" {
			t.Errorf("the answers are of %s and %s", first.Model, second.Model)
		}
	})
}

func TestModelHooks(t *testing.T) {
	var seen []string
	r := newRig(t, nil, hooks(
		scripted.On(event.KindModelSelect, func(_ context.Context, e *event.ModelSelect) (any, error) {
			seen = append(seen, e.PreviousModel.ID+" to "+e.Model.ID+" by "+e.Source)
			return nil, nil
		}),
		scripted.On(event.KindThinkingLevelSelect, func(_ context.Context, e *event.ThinkingLevelSelect) (any, error) {
			seen = append(seen, string(e.PreviousLevel+" to "+e.Level))
			return nil, nil
		})))
	if _, err := r.SetModel(t.Context(), "mock", "m2"); err != nil {
		t.Fatal(err)
	}
	r.CycleModel(t.Context())
	wantLines(t, seen, "medium to off", "m1 to m2 by set", "off to medium", "m2 to m1 by cycle")
}

func TestSetName(t *testing.T) {
	r := newRig(t, nil)
	for _, name := range []string{"", "  ", "\n"} {
		if err := r.SetName(t.Context(), name); !errors.Is(err, session.ErrEmptyName) || err.Error() != "Session name cannot be empty" {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	if err := r.SetName(t.Context(), " my\r\nown \n session "); err != nil {
		t.Fatal(err)
	}
	if got := r.State().SessionName; got != "my own   session" {
		t.Errorf("the name is %q", got)
	}
	wantLines(t, r.Lines(), `session_info_changed {"name":"my own   session"}`)
	wantLines(t, r.entryTypes()[2:], "session_info")
}

func TestLastAssistantText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{
			{Parts: []scripted.Part{scripted.Say(" one "), scripted.Say("two ")}},
			scripted.Calls(scripted.Call("c", "nonesuch")), {},
		})
		if got := r.LastAssistantText(); got != nil {
			t.Errorf("before any answer it is %q", *got)
		}
		r.run("p")
		if got := r.LastAssistantText(); got == nil || *got != "one two" {
			t.Errorf("it is %v", got)
		}
		r.run("q")
		if got := r.LastAssistantText(); got != nil {
			t.Errorf("after an answer without text it is %q", *got)
		}
		r.model.Then(scripted.Answer{Parts: []scripted.Part{scripted.Say("half")}, Hang: true}, scripted.Answer{Hang: true})
		for range 2 { // the second is aborted before it says anything
			r.prompt("p")
			sleep(time.Second)
			<-r.Abort()
			if got := r.LastAssistantText(); got == nil || *got != "half" {
				t.Errorf("after an abort it is %v", got)
			}
		}
	})
}

func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := busy
		r := newRig(t, []scripted.Answer{failing, scripted.Calls(scripted.Call("c", "touch"), scripted.Call("d", "touch")), scripted.Text("end")}, tools(&scripted.Tool{Name: "touch"}))
		stats := r.Stats()
		if u := stats.ContextUsage; u == nil || u.Tokens == nil || *u.Tokens != 0 || *u.Percent != 0 || u.ContextWindow != 100_000 {
			t.Errorf("the context usage is %+v", u)
		}
		r.run("p")
		stats = r.Stats()
		if stats.SessionID != r.ID() || stats.UserMessages != 1 || stats.AssistantMessages != 3 || stats.ToolCalls != 2 || stats.ToolResults != 2 || stats.TotalMessages != 6 ||
			stats.Tokens.Input != 18 || stats.Tokens.Output != 2 || stats.Tokens.Total != 20 {
			t.Errorf("the stats are %+v", stats)
		}
		if u := stats.ContextUsage; *u.Tokens != 10 || *u.Percent != 0.01 {
			t.Errorf("the context usage is %v, %v", *u.Tokens, *u.Percent)
		}
	})
	r := newRig(t, nil, func(c *session.Config) { c.Model = nil })
	if u := r.Stats().ContextUsage; u != nil {
		t.Errorf("without a model the context usage is %+v", u)
	}
}

// An answer that its limit cut short gives way to the next prompt, and stays
// in the file.
func TestCutOffAnswerGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := scripted.Text("and so")
		cut.Stop = message.StopLength
		r := newRig(t, []scripted.Answer{cut})
		r.run("p")
		wantLines(t, r.conversation(), "user: p", "assistant length: and so")
		r.run("q")
		wantLines(t, r.conversation(), "user: p", "user: q", "assistant stop: ok")
		wantLines(t, r.sent(1), "user: p", "user: q")
		wantLines(t, r.entryTypes()[2:], "message user", "message assistant", "message user", "message assistant")
	})
}
