package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
)

// tight keeps nearly nothing when it compacts, and compacts over 99000 tokens.
func tight(c *session.Config) {
	c.Settings.Compaction = compact.Settings{Enabled: true, ReserveTokens: 1000, KeepRecentTokens: 1}
}

// full is an answer after which the context is over the threshold.
func full(text string) scripted.Answer {
	a := scripted.Text(text)
	a.Tokens = 99_500
	return a
}

var tooLarge = scripted.Fail(provider.Overflow, "prompt is too long")

// compactNow carries a compaction out.
func (r *rig) compactNow() (*event.CompactionResult, error) {
	return r.Compact(r.t.Context(), "")()
}

// talked is a session with two turns behind it.
func talked(t *testing.T, then []scripted.Answer, changes ...with) *rig {
	t.Helper()
	r := newRig(t, []scripted.Answer{scripted.Text("a1"), scripted.Text("a2")}, append([]with{tight}, changes...)...)
	r.model.Then(then...)
	r.run("p1")
	r.run("p2")
	r.Reset()
	return r
}

const summarised = "compactionSummary: sum"

func TestManualCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, []scripted.Answer{scripted.Text("sum"), scripted.Text("turn"), scripted.Text("a3")})
		result, err := r.Compact(t.Context(), "the tests")()
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, r.Lines(), "compaction_start manual", "compaction_end manual done")
		if got := r.conversation(); len(got) != 2 || !strings.HasPrefix(got[0], summarised) || got[1] != "assistant stop: a2" {
			t.Errorf("the conversation is %q", got)
		}
		wantLines(t, r.entryTypes()[6:], "compaction")
		if result.TokensBefore != 10 || result.Usage == nil || result.FirstKeptEntryID == "" || result.EstimatedTokensAfter == 0 || !strings.HasPrefix(result.Summary, "sum") {
			t.Errorf("the result is %+v", result)
		}
		request := r.model.Requests()[2]
		if len(request.Tools) != 0 || !strings.Contains(message.TextOf(request.Messages[0]), "the tests") || request.MaxTokens > thinker.MaxTokens {
			t.Errorf("the summary was asked for with %+v", request)
		}
		r.run("p3")
		if got := r.sent(4); len(got) != 3 || !strings.HasPrefix(got[0], "user: ") || got[1] != "assistant stop: a2" || got[2] != "user: p3" {
			t.Errorf("the model is sent %q", got)
		}
	})
}

func TestManualCompactionThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name   string
		begin  func(t *testing.T) *rig
		want   error // nil: any
		text   string
		aborts bool
	}{
		{"too small", func(t *testing.T) *rig { return newRig(t, nil, tight) }, compact.ErrTooSmall, "", false},
		{"twice", func(t *testing.T) *rig {
			r := talked(t, []scripted.Answer{scripted.Text("sum"), scripted.Text("turn")})
			if _, err := r.compactNow(); err != nil {
				t.Fatal(err)
			}
			r.Reset()
			return r
		}, compact.ErrAlreadyCompacted, "", false},
		{"the model fails", func(t *testing.T) *rig {
			return talked(t, []scripted.Answer{scripted.Fail(provider.Auth, "401 no")})
		}, nil, "401 no", false},
		{"the summary is cut off", func(t *testing.T) *rig {
			return talked(t, []scripted.Answer{{Parts: []scripted.Part{scripted.Say("su")}, Stop: message.StopLength}})
		}, compact.ErrCutOff, "", false},
		{"no model", func(t *testing.T) *rig {
			return newRig(t, nil, func(c *session.Config) { c.Model, c.NoModel = nil, "set a key" })
		}, nil, "set a key", false},
		{"a hook cancels", func(t *testing.T) *rig {
			return talked(t, nil, hooks(scripted.On(event.KindSessionBeforeCompact, func(context.Context, *event.SessionBeforeCompact) (any, error) {
				return &event.SessionBeforeCompactResult{Cancel: true}, nil
			})))
		}, session.ErrCompactionAborted, "", true},
		{"a hook names an entry that is not there", func(t *testing.T) *rig {
			return talked(t, nil, hooks(scripted.On(event.KindSessionBeforeCompact, func(context.Context, *event.SessionBeforeCompact) (any, error) {
				return &event.SessionBeforeCompactResult{Compaction: &event.CompactionResult{Summary: "x", FirstKeptEntryID: "nope"}}, nil
			})))
		}, store.ErrEntryNotFound, "", false},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := c.begin(t)
			before := r.conversation()
			result, err := r.compactNow()
			if result != nil || err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %+v, %v", result, err)
			}
			wantLines(t, r.conversation(), before...)
			end := "compaction_end manual: Compaction failed: " + err.Error()
			if c.aborts {
				end = "compaction_end manual aborted"
			}
			wantLines(t, r.Lines(), "compaction_start manual", end)
			if r.State().IsCompacting {
				t.Error("it still compacts")
			}
		})
	}
}

func TestCompactionBringsItsOwnSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		r := talked(t, nil, hooks(
			scripted.On(event.KindSessionBeforeCompact, func(_ context.Context, e *event.SessionBeforeCompact) (any, error) {
				var plan struct{ FirstKeptEntryID string }
				decode(t, e.Preparation, &plan)
				if len(e.BranchEntries) != 6 || e.Reason != event.CompactManual || plan.FirstKeptEntryID == "" {
					t.Errorf("the hook sees %+v", e)
				}
				return &event.SessionBeforeCompactResult{Compaction: &event.CompactionResult{Summary: "mine", Details: event.Raw(`{"a":1}`)}}, nil
			}),
			scripted.On(event.KindSessionCompact, func(_ context.Context, e *event.SessionCompact) (any, error) {
				var entry struct{ Type, Summary string }
				decode(t, e.CompactionEntry, &entry)
				if !e.FromExtension || entry.Type != "compaction" || entry.Summary != "mine" {
					t.Errorf("is told %+v", e)
				}
				told = append(told, string(e.Reason))
				return nil, nil
			})))
		result, err := r.compactNow()
		if err != nil || result.Summary != "mine" || string(result.Details) != `{"a":1}` || result.TokensBefore != 10 {
			t.Errorf("got %+v, %v", result, err)
		}
		wantLines(t, told, "manual")
		wantLines(t, r.conversation()[:1], "compactionSummary: mine")
		if n := len(r.model.Requests()); n != 2 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

func TestCompactionOverTheThreshold(t *testing.T) {
	bubble(t, "after a run", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Text("a1"), full("a2"), scripted.Text("sum"), scripted.Text("turn"), scripted.Text("a3")}, tight)
		r.run("p1")
		r.run("p2")
		wantLines(t, r.brief()[5:], "agent_start", "message_end user: p2", "message_end assistant stop: a2", "agent_end 2",
			"compaction_start threshold", "compaction_end threshold done", "agent_settled")
		// The count of before is not taken for that of now.
		if usage := r.Stats().ContextUsage; usage == nil || usage.Tokens != nil || usage.Percent != nil {
			t.Errorf("the context usage is %+v", usage)
		}
		r.run("p3")
		if n := r.Count("compaction_start"); n != 1 {
			t.Errorf("compacted %d times", n)
		}
	})
	bubble(t, "not at it", func(t *testing.T) {
		at := scripted.Text("a")
		at.Tokens = 99_000
		r := newRig(t, []scripted.Answer{scripted.Text("a1"), at}, tight)
		r.run("p1")
		r.run("p2")
		if n := r.Count("compaction_start"); n != 0 {
			t.Errorf("compacted %d times", n)
		}
	})
	bubble(t, "before a prompt", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Text("a1"), full("a2"), scripted.Text("sum"), scripted.Text("turn"), scripted.Text("a3")}, tight)
		r.SetAutoCompaction(false)
		r.run("p1")
		r.run("p2")
		r.Reset()
		r.SetAutoCompaction(true)
		r.Prompt(session.Prompt{Text: "p3"}, func(session.Disposition, error) { r.Note("accepted") })
		r.Await("agent_settled", 1)
		wantLines(t, r.brief(), "accepted", "compaction_start threshold", "compaction_end threshold done",
			"agent_start", "message_end user: p3", "message_end assistant stop: a3", "agent_end 2", "agent_settled")
	})
	bubble(t, "between turns", func(t *testing.T) {
		calls := scripted.Calls(scripted.Call("c", "touch"))
		calls.Tokens = 99_500
		r := newRig(t, []scripted.Answer{scripted.Text("a1"), calls, scripted.Text("sum"), scripted.Text("turn"), scripted.Text("end")}, tight, tools(&scripted.Tool{Name: "touch"}))
		r.run("p1")
		r.Reset()
		r.run("p2")
		wantLines(t, r.Lines("message_update", "message_start", "tool_"), "agent_start", "turn_start", "message_end user: p2", "message_end assistant toolUse c", "message_end toolResult c: done", "turn_end 1",
			"compaction_start threshold", "compaction_end threshold done",
			"turn_start", "message_end assistant stop: end", "turn_end 0", "agent_end 4", "agent_settled")
		// The call and its result stay together.
		sent := r.sent(4)
		wantLines(t, sent[len(sent)-2:], "assistant toolUse c", "toolResult c: done")
	})
	bubble(t, "switched off", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Text("a1"), full("a2")}, tight)
		r.SetAutoCompaction(false)
		r.run("p1")
		r.run("p2")
		r.run("p3")
		if n := r.Count("compaction_start"); n != 0 || r.State().AutoCompactionEnabled {
			t.Errorf("compacted %d times", n)
		}
	})
	bubble(t, "nothing to do", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{full("a1"), full("a2")})
		r.run("p1")
		r.run("p2")
		if n := r.Count("compaction_start") + r.Count("compaction_end"); n != 0 {
			t.Errorf("got %q", r.brief())
		}
	})
	bubble(t, "fails", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Text("a1"), full("a2"), scripted.Fail(provider.Auth, "401")}, tight)
		r.run("p1")
		r.run("p2")
		last := r.Lines("message_", "turn_", "agent_start", "agent_end")
		if len(last) != 4 || !strings.HasPrefix(last[2], "compaction_end threshold: Automatic compaction failed: ") || last[3] != "agent_settled" {
			t.Errorf("got %q", last)
		}
		wantLines(t, r.conversation(), "user: p1", "assistant stop: a1", "user: p2", "assistant stop: a2")
	})
}

// What fills the window may be something that a summary cannot replace.
func TestCompactionThatDoesNotHelpStops(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer scripted.Answer
		window int64
	}{
		{"the service says so", full("large"), 100_000},
		// Without a count from the service the estimate decides.
		{"by estimate", scripted.Text(strings.Repeat("long ", 1000)), 2000},
	} {
		bubble(t, c.name, func(t *testing.T) {
			model := thinker
			model.ContextWindow = c.window
			r := newRig(t, nil, tight, func(config *session.Config) { config.Model = &model }, hooks(
				scripted.On(event.KindSessionBeforeCompact, func(context.Context, *event.SessionBeforeCompact) (any, error) {
					return &event.SessionBeforeCompactResult{Compaction: &event.CompactionResult{Summary: "sum"}}, nil
				}),
				scripted.On(event.KindMessageEnd, func(_ context.Context, e *event.MessageEnd) (any, error) {
					if answer, ok := e.Message.(*message.Assistant); ok && c.answer.Tokens == 0 {
						unknown := *answer
						unknown.Usage = message.Usage{}
						return &event.MessageEndResult{Message: &unknown}, nil
					}
					return nil, nil
				})))
			for range 10 {
				r.model.Then(c.answer)
				r.run("p")
			}
			if n := r.Count("compaction_start"); n != 3 {
				t.Errorf("compacted %d times, want 3", n)
			}
			ends := r.Lines("message_", "turn_", "agent_", "compaction_start", "compaction_end threshold done", "compaction_end threshold: Automatic compaction failed: nothing to compact")
			if len(ends) != 1 || !strings.Contains(ends[0], "3 compactions in a row") {
				t.Errorf("clients are told %q", ends)
			}
			// An answer that fits brings it back.
			r.SetAutoCompaction(false)
			r.run("short")
			if _, err := r.compactNow(); err != nil {
				t.Fatal(err)
			}
			r.SetAutoCompaction(true)
			r.run("short")
			r.Reset()
			r.model.Then(c.answer)
			r.run("p")
			if n := r.Count("compaction_start"); n == 0 {
				t.Error("it does not compact any more")
			}
		})
	}
}

func TestOverflow(t *testing.T) {
	bubble(t, "compacts and asks once more", func(t *testing.T) {
		r := talked(t, []scripted.Answer{tooLarge, scripted.Text("sum"), scripted.Text("a3")})
		r.run("p3")
		wantLines(t, r.brief(), "agent_start", "message_end user: p3", "message_end assistant error (prompt is too long)", "agent_end 2",
			"compaction_start overflow", "compaction_end overflow done retry",
			"agent_start", "message_end assistant stop: a3", "agent_end 1", "agent_settled")
		conversation := r.conversation()
		wantLines(t, conversation[len(conversation)-2:], "user: p3", "assistant stop: a3")
		for _, line := range conversation {
			if strings.Contains(line, "too long") {
				t.Errorf("the failed answer is in the context: %q", conversation)
			}
		}
	})
	bubble(t, "once only", func(t *testing.T) {
		r := talked(t, []scripted.Answer{tooLarge, scripted.Text("sum"), tooLarge})
		r.run("p3")
		lines := r.Lines("message_", "turn_")
		wantLines(t, lines[:6], "agent_start", "agent_end 2", "compaction_start overflow", "compaction_end overflow done retry", "agent_start", "agent_end 1")
		if len(lines) != 8 || !strings.HasPrefix(lines[6], "compaction_end overflow: ") || lines[7] != "agent_settled" {
			t.Errorf("got %q", lines)
		}
		last := r.conversation()
		if last[len(last)-1] != "assistant error (prompt is too long)" {
			t.Errorf("the conversation is %q", last)
		}
		// The next run may try again.
		r.Reset()
		r.model.Then(tooLarge)
		r.run("p4")
		if r.Count("compaction_start overflow") != 1 {
			t.Errorf("got %q", r.brief())
		}
	})
	bubble(t, "switched off", func(t *testing.T) {
		r := talked(t, []scripted.Answer{tooLarge})
		r.SetAutoCompaction(false)
		r.run("p3")
		wantLines(t, r.Lines("message_", "turn_"), "agent_start", "agent_end 2", "agent_settled")
	})
	bubble(t, "nothing to compact", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{tooLarge})
		r.run("p")
		wantLines(t, r.brief(), "agent_start", "message_end user: p", "message_end assistant error (prompt is too long)", "agent_end 2", "agent_settled")
	})
	bubble(t, "the compaction fails", func(t *testing.T) {
		r := talked(t, []scripted.Answer{tooLarge, scripted.Fail(provider.Auth, "401")})
		r.run("p3")
		last := r.conversation()
		wantLines(t, last[4:], "user: p3", "assistant error (prompt is too long)")
		if n := r.Count("agent_start"); n != 1 {
			t.Errorf("%d runs began", n)
		}
	})
	bubble(t, "within retries", func(t *testing.T) {
		r := talked(t, []scripted.Answer{busy, tooLarge, scripted.Text("sum"), scripted.Text("a3")})
		r.run("p3")
		wantLines(t, r.Lines("message_", "turn_"), "agent_start", "agent_end 2 retry", "auto_retry_start 1/3 2000ms", "agent_start", "agent_end 1",
			"auto_retry_end 1 false: prompt is too long", "compaction_start overflow", "compaction_end overflow done retry", "agent_start", "agent_end 1", "agent_settled")
	})
}

func TestSummariesAreAskedForAgain(t *testing.T) {
	bubble(t, "until it works", func(t *testing.T) {
		r := talked(t, []scripted.Answer{busy, busy, scripted.Text("sum"), scripted.Text("turn")})
		if _, err := r.compactNow(); err != nil {
			t.Fatal(err)
		}
		wantLines(t, r.Lines(), "compaction_start manual",
			`summarization_retry_scheduled {"attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"529 overloaded"}`,
			`summarization_retry_attempt_start {"source":"compaction","reason":"manual"}`,
			`summarization_retry_scheduled {"attempt":2,"maxAttempts":3,"delayMs":4000,"errorMessage":"529 overloaded"}`,
			`summarization_retry_attempt_start {"source":"compaction","reason":"manual"}`,
			"summarization_retry_finished", "compaction_end manual done")
	})
	bubble(t, "not for ever", func(t *testing.T) {
		r := talked(t, []scripted.Answer{busy, busy, busy, busy})
		if _, err := r.compactNow(); err == nil || !strings.Contains(err.Error(), "529 overloaded") {
			t.Errorf("the error is %v", err)
		}
		lines := r.Lines()
		if len(lines) != 9 || lines[7] != "summarization_retry_finished" {
			t.Errorf("got %q", lines)
		}
	})
	bubble(t, "not when switched off", func(t *testing.T) {
		r := talked(t, []scripted.Answer{busy})
		r.SetAutoRetry(false)
		if _, err := r.compactNow(); err == nil {
			t.Error("it worked")
		}
		wantLines(t, r.Lines("compaction_"))
	})
	bubble(t, "not after an abort", func(t *testing.T) {
		r := talked(t, []scripted.Answer{busy})
		wait := r.Compact(t.Context(), "")
		sleep(time.Second)
		<-r.Abort()
		if _, err := wait(); !errors.Is(err, session.ErrCompactionAborted) {
			t.Errorf("the error is %v", err)
		}
		wantLines(t, r.Lines("summarization_retry_scheduled"), "compaction_start manual", "summarization_retry_finished", "compaction_end manual aborted")
	})
}

// slowly is a summary that takes a while.
func slowly(text string) scripted.Answer {
	a := scripted.Text(text)
	a.Delay = 5 * time.Second
	return a
}

func TestWhatComesDuringACompaction(t *testing.T) {
	summary := []scripted.Answer{slowly("sum"), scripted.Text("turn"), scripted.Text("a3")}
	bubble(t, "abort", func(t *testing.T) {
		r := talked(t, summary)
		wait := r.Compact(t.Context(), "")
		sleep(time.Second)
		if !r.State().IsCompacting || r.State().IsStreaming {
			t.Errorf("the state is %+v", r.State())
		}
		began := time.Now()
		<-r.Abort()
		r.Note("answered")
		if _, err := wait(); !errors.Is(err, session.ErrCompactionAborted) || time.Since(began) != 0 {
			t.Errorf("the error is %v after %v", err, time.Since(began))
		}
		wantLines(t, r.Lines(), "compaction_start manual", "compaction_end manual aborted", "answered")
		wantLines(t, r.conversation(), "user: p1", "assistant stop: a1", "user: p2", "assistant stop: a2")
	})
	bubble(t, "abort in the same write", func(t *testing.T) {
		r := talked(t, summary)
		wait := r.Compact(t.Context(), "")
		<-r.Abort()
		if _, err := wait(); err != nil && !errors.Is(err, session.ErrCompactionAborted) {
			t.Errorf("the error is %v", err)
		}
		if r.State().IsCompacting {
			t.Error("it still compacts")
		}
	})
	bubble(t, "a prompt", func(t *testing.T) {
		r := talked(t, summary)
		wait := r.Compact(t.Context(), "")
		sleep(time.Second)
		r.Prompt(session.Prompt{Text: "p3"}, func(d session.Disposition, err error) { r.Note("accepted %s %v", d, err) })
		if got := r.send(session.Prompt{Text: "p4"}); got != "refused: "+session.ErrBusy.Error() {
			t.Errorf("a second prompt was %s", got)
		}
		if _, err := wait(); err != nil {
			t.Errorf("the compaction failed: %v", err)
		}
		r.Await("agent_settled", 1)
		wantLines(t, r.brief(), "compaction_start manual", "accepted started <nil>", "compaction_end manual done",
			"agent_start", "message_end user: p3", "message_end assistant stop: a3", "agent_end 2", "agent_settled")
	})
	bubble(t, "a prompt, then an abort", func(t *testing.T) {
		r := talked(t, summary)
		wait := r.Compact(t.Context(), "")
		sleep(time.Second)
		accepted, outcome := accepting()
		r.Prompt(session.Prompt{Text: "p3"}, accepted)
		<-r.Abort()
		if _, err := wait(); !errors.Is(err, session.ErrCompactionAborted) {
			t.Errorf("the error is %v", err)
		}
		if got := outcome(); got != "started" {
			t.Errorf("the prompt was %s", got)
		}
		wantLines(t, r.conversation()[4:], "user: p3", "assistant aborted "+aborted)
	})
	bubble(t, "steering and a follow-up", func(t *testing.T) {
		r := talked(t, summary)
		wait := r.Compact(t.Context(), "")
		sleep(time.Second)
		r.steer("s")
		r.followUp("f")
		if _, err := wait(); err != nil {
			t.Error(err)
		}
		sleep(time.Hour)
		if r.State().PendingMessageCount != 2 || r.Count("agent_start") != 0 {
			t.Errorf("the state is %+v", r.State())
		}
	})
	bubble(t, "a message of an extension that wants an answer", func(t *testing.T) {
		r := talked(t, summary)
		wait := r.Compact(t.Context(), "")
		sleep(time.Second)
		r.SendMessage(event.CustomMessage{CustomType: "note", Content: message.PlainContent("n")}, session.SendOptions{TriggerTurn: true})
		if _, err := wait(); err != nil {
			t.Error(err)
		}
		r.Await("agent_settled", 1)
		wantLines(t, r.brief(), "compaction_start manual", "compaction_end manual done", "agent_start", "message_end custom: n", "message_end assistant stop: a3", "agent_end 2", "agent_settled")
	})
	bubble(t, "another compaction", func(t *testing.T) {
		r := talked(t, append([]scripted.Answer{{Hang: true}}, summary...))
		first := r.Compact(t.Context(), "")
		sleep(time.Second)
		second := r.Compact(t.Context(), "")
		if _, err := first(); !errors.Is(err, session.ErrCompactionAborted) {
			t.Errorf("the first came to %v", err)
		}
		if _, err := second(); err != nil {
			t.Errorf("the second came to %v", err)
		}
		wantLines(t, r.Lines(), "compaction_start manual", "compaction_end manual aborted", "compaction_start manual", "compaction_end manual done")
	})
	bubble(t, "a change of session", func(t *testing.T) {
		r := talked(t, []scripted.Answer{{Hang: true}})
		wait := r.Compact(t.Context(), "")
		sleep(time.Second)
		if _, err := r.NewSession(t.Context(), "")(); err != nil {
			t.Error(err)
		}
		if _, err := wait(); !errors.Is(err, session.ErrCompactionAborted) {
			t.Errorf("the compaction came to %v", err)
		}
		wantLines(t, r.conversation())
	})
	bubble(t, "a move in the tree", func(t *testing.T) {
		r := talked(t, summary)
		target := r.ForkMessages()[1].EntryID
		wait := r.Compact(t.Context(), "")
		sleep(time.Second)
		if _, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: target})(); err != nil {
			t.Error(err)
		}
		if _, err := wait(); err != nil {
			t.Errorf("the compaction came to %v", err)
		}
		wantLines(t, r.conversation(), "user: p1", "assistant stop: a1")
	})
	bubble(t, "an abort in a dialog of those who are told of it", func(t *testing.T) {
		for _, kind := range []event.Kind{event.KindSessionCompact, event.KindSessionCompactFailed} {
			waiting := make(chan struct{})
			r := talked(t, []scripted.Answer{slowly("sum"), scripted.Text("turn")}, hooks(&scripted.Listener{Name: "ext", Kinds: []event.Kind{kind}, Do: func(ctx context.Context, _ event.Event) (any, error) {
				if ctx.Err() != nil {
					t.Errorf("%s comes with a context that has ended", kind)
				}
				close(waiting)
				<-ctx.Done()
				return nil, ctx.Err()
			}}))
			wait := r.Compact(t.Context(), "")
			sleep(time.Second)
			if kind == event.KindSessionCompactFailed {
				r.Abort()
			}
			<-waiting
			if r.State().IsCompacting {
				t.Error("it still compacts")
			}
			<-r.Abort()
			if _, err := wait(); (err == nil) != (kind == event.KindSessionCompact) {
				t.Errorf("%s: the compaction came to %v", kind, err)
			}
		}
	})
	bubble(t, "the caller gives up", func(t *testing.T) {
		r := talked(t, []scripted.Answer{{Hang: true}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Compact(ctx, "")(); !errors.Is(err, session.ErrCompactionAborted) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestCompactionAbortsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, []scripted.Answer{{Hang: true}, scripted.Text("sum"), scripted.Text("turn")})
		r.prompt("p3")
		sleep(time.Second)
		if _, err := r.compactNow(); err != nil {
			t.Error(err)
		}
		wantLines(t, r.brief(), "agent_start", "message_end user: p3", "message_end assistant aborted "+aborted, "agent_end 2", "agent_settled aborted",
			"compaction_start manual", "compaction_end manual done")
	})
}

// An abort of a run ends the compaction that is part of it.
func TestAbortOfAnAutomaticCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failures []event.SessionCompactFailed
		r := newRig(t, []scripted.Answer{scripted.Text("a1"), full("a2"), {Hang: true}}, tight, hooks(scripted.On(event.KindSessionCompactFailed, func(_ context.Context, e *event.SessionCompactFailed) (any, error) {
			failures = append(failures, *e)
			return nil, nil
		})))
		r.run("p1")
		r.prompt("p2")
		sleep(time.Second)
		<-r.Abort()
		lines := r.brief()
		wantLines(t, lines[len(lines)-4:], "agent_end 2", "compaction_start threshold", "compaction_end threshold aborted", "agent_settled aborted")
		if len(failures) != 1 || !failures[0].Aborted || failures[0].Reason != event.CompactThreshold {
			t.Errorf("extensions are told %+v", failures)
		}
	})
}

// A file that was compacted opens again as it was left.
func TestCompactionsAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, []scripted.Answer{scripted.Text("sum"), scripted.Text("turn"), scripted.Text("a3"), tooLarge, scripted.Text("sum2"), scripted.Text("a4")}, onDisk(t.TempDir()))
		if _, err := r.compactNow(); err != nil {
			t.Fatal(err)
		}
		r.run("p3")
		r.run("p4")
		log, err := store.Read(r.File())
		if err != nil {
			t.Fatal(err)
		}
		var stored []string
		for _, item := range log.Context(log.Leaf()) {
			stored = append(stored, scripted.Message(item.Message()))
		}
		wantLines(t, stored, r.conversation()...)
	})
}
