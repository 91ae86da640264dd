package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
)

// bookOf makes rules out of conditions; each is called like its condition.
func bookOf(s rule.Settings, conditions ...string) *rule.Book {
	var list []*rule.Rule
	for _, c := range conditions {
		made, problems := rule.New(event.Rule{Name: c, Path: "/rules/" + c + ".md", Content: "Do not say " + c + ".", Condition: []string{c}})
		if len(problems) > 0 {
			panic(errors.Join(problems...))
		}
		list = append(list, made)
	}
	return rule.NewBook(list, s, "/")
}

// rules puts rules into every folder.
func rules(s rule.Settings, conditions ...string) with {
	return func(c *session.Config) { c.Resources = loader{rules: bookOf(s, conditions...)} }
}

// withoutBodies cuts reminders off behind their names.
func withoutBodies(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		before, _, _ := strings.Cut(line, ": Your ")
		if strings.Contains(line, "custom: Your") || strings.HasPrefix(line, "user: Your") {
			lines[i] = before + ": reminder"
		}
	}
	return lines
}

func TestARuleStopsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{{Parts: []scripted.Part{scripted.Say("you say f", "oo ", "and more")}}, scripted.Text("bar"), scripted.Text("foo")}, rules(rule.Settings{}, "foo"))
		r.run("p")
		wantLines(t, withoutBodies(r.Lines()),
			"agent_start", "turn_start", "message_start user: p", "message_end user: p",
			"message_start assistant pending", "message_update text_start", "message_update text_delta you say f", "message_update text_delta oo ",
			"ttsr_triggered foo", "message_end assistant aborted (The rule foo stopped this answer): you say foo ", "turn_end 0", "agent_end 2 retry",
			"agent_start", "turn_start", "message_start custom: reminder", "message_end custom: reminder",
			"message_start assistant pending", "message_update text_start", "message_update text_delta bar", "message_update text_end bar",
			"message_end assistant stop: bar", "turn_end 0", "agent_end 2", "agent_settled")
		sent := r.sent(1)
		wantLines(t, withoutBodies(sent), "user: p", "user: reminder")
		if !strings.Contains(sent[1], `<rule name="foo" path="/rules/foo.md">`+"\nDo not say foo.\n</rule>") || strings.Contains(sent[1], "you say") {
			t.Errorf("the model is told %s", sent[1])
		}
		stopped := "assistant aborted (The rule foo stopped this answer): you say foo "
		wantLines(t, withoutBodies(r.conversation()), "user: p", stopped, "custom: reminder", "assistant stop: bar")
		wantLines(t, r.entryTypes()[2:], "message user", "message assistant", "custom_message", "message assistant")
		// It has been told, and is let through from now on.
		r.run("q")
		wantLines(t, r.conversation()[4:], "user: q", "assistant stop: foo")
	})
}

func TestARuleThatAlwaysMatchesDoesNotLoop(t *testing.T) {
	for gap, want := range []int{2, 2, 2} {
		bubble(t, fmt.Sprint("gap ", gap), func(t *testing.T) {
			r := newRig(t, nil, rules(rule.Settings{Gap: gap}, "o", "k")) // the model says ok for ever
			r.run("p")
			if n := len(r.model.Requests()); n != want {
				t.Errorf("the model was asked %d times", n)
			}
			r.run("q")
			more := 1
			if gap == 1 {
				more = 2 // an answer was complete since
			}
			if n := len(r.model.Requests()) - want; n != more {
				t.Errorf("then it was asked %d times", n)
			}
		})
	}
}

func TestTwoRulesOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Text("a"), scripted.Text("b"), scripted.Text("a b")}, rules(rule.Settings{}, "a", "b"))
		r.run("p")
		wantLines(t, withoutBodies(r.brief()), "agent_start", "message_end user: p", "ttsr_triggered a", "message_end assistant aborted (The rule a stopped this answer): a", "agent_end 2 retry",
			"agent_start", "message_end custom: reminder", "ttsr_triggered b", "message_end assistant aborted (The rule b stopped this answer): b", "agent_end 2 retry",
			"agent_start", "message_end custom: reminder", "message_end assistant stop: a b", "agent_end 2", "agent_settled")
	})
}

func TestAToolCallIsStoppedBeforeItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		touch := &scripted.Tool{Name: "touch"}
		r := newRig(t, []scripted.Answer{scripted.Calls(scripted.Call("c", "touch", `{"x":"for`, `bidden"}`)), scripted.Text("well")}, tools(touch), rules(rule.Settings{KeepAnswer: true}, "forbidden"))
		r.run("p")
		wantLines(t, withoutBodies(r.brief()), "agent_start", "message_end user: p", "ttsr_triggered forbidden", "message_end assistant aborted c (The rule forbidden stopped this answer)", "agent_end 2 retry",
			"agent_start", "message_end custom: reminder", "message_end assistant stop: well", "agent_end 2", "agent_settled")
		if sent := r.sent(1); !strings.Contains(sent[1], `(call of touch with {"x":"forbidden"})`) {
			t.Errorf("the model is told %q", sent)
		}
		wantLines(t, withoutBodies(r.conversation()), "user: p", "assistant aborted c (The rule forbidden stopped this answer)", "custom: reminder", "assistant stop: well")
	})
}

func TestARuleThatDoesNotStopReminds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := []scripted.Answer{scripted.Calls(scripted.Say("foo"), scripted.Call("c", "touch")), scripted.Text("bar"), scripted.Text("x"), scripted.Text("bar")}
		r := newRig(t, script, tools(&scripted.Tool{Name: "touch"}), rules(rule.Settings{Interrupt: rule.Never}, "foo", "x"))
		r.run("p")
		wantLines(t, withoutBodies(r.Lines("message_update", "message_start", "tool_")), "agent_start", "turn_start", "message_end user: p",
			"ttsr_triggered foo", "message_end assistant toolUse c: foo", "message_end toolResult c: done", "turn_end 1",
			"turn_start", "message_end custom: reminder", "message_end assistant stop: bar", "turn_end 0", "agent_end 5", "agent_settled")
		r.Reset()
		r.run("q")
		wantLines(t, withoutBodies(r.brief()), "agent_start", "message_end user: q", "ttsr_triggered x", "message_end assistant stop: x",
			"message_end custom: reminder", "message_end assistant stop: bar", "agent_end 4", "agent_settled")
	})
}

// An answer that failed is not one to remind of.
func TestNoReminderOfAFailedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := busy
		cut.Parts = []scripted.Part{scripted.Say("foo")}
		r := newRig(t, []scripted.Answer{cut, scripted.Text("foo"), scripted.Text("bar")}, rules(rule.Settings{Interrupt: rule.Never}, "foo"))
		r.run("p")
		wantLines(t, withoutBodies(r.brief()), "agent_start", "message_end user: p", "ttsr_triggered foo", "message_end assistant error (529 overloaded): foo", "agent_end 2 retry", "auto_retry_start 1/3 2000ms",
			"agent_start", "ttsr_triggered foo", "message_end assistant stop: foo", "auto_retry_end 1 true", "message_end custom: reminder", "message_end assistant stop: bar", "agent_end 3", "agent_settled")
	})
}

// A stop in the middle of a saga of retries leaves the saga open.
func TestAStopDuringRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []scripted.Answer{busy, scripted.Text("foo"), scripted.Text("bar")}, rules(rule.Settings{}, "foo"))
		r.run("p")
		wantLines(t, withoutBodies(r.Lines("message_", "turn_")), "agent_start", "agent_end 2 retry", "auto_retry_start 1/3 2000ms",
			"agent_start", "ttsr_triggered foo", "agent_end 1 retry", "agent_start", "auto_retry_end 1 true", "agent_end 2", "agent_settled")
	})
}

func TestAbortBehindAStop(t *testing.T) {
	bubble(t, "before the next answer", func(t *testing.T) {
		var r *rig
		stop := scripted.On(event.KindRulesTriggered, func(context.Context, *event.RulesTriggered) (any, error) { r.Abort(); return nil, nil })
		r = newRig(t, []scripted.Answer{scripted.Text("foo"), scripted.Text("foo again")}, hooks(stop), rules(rule.Settings{}, "foo"))
		r.run("p")
		wantLines(t, r.Lines("message_", "turn_"), "agent_start", "ttsr_triggered foo", "agent_end 2", "agent_settled aborted")
		if n := len(r.model.Requests()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		r.run("q") // the model was not told yet
		if r.Count("ttsr_triggered") != 2 {
			t.Errorf("clients saw %q", r.brief())
		}
	})
	bubble(t, "during the next answer", func(t *testing.T) {
		r := newRig(t, []scripted.Answer{scripted.Text("foo"), {Hang: true}}, rules(rule.Settings{}, "foo"))
		r.prompt("p")
		r.Await("message_end custom", 1)
		synctest.Wait()
		<-r.Abort()
		wantLines(t, r.Lines("message_", "turn_"), "agent_start", "ttsr_triggered foo", "agent_end 2 retry", "agent_start", "agent_end 2", "agent_settled aborted")
	})
}

// What the model was told is known on the branch that has it, and in a session
// that is opened again.
func TestWhatWasToldIsInTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := newRig(t, []scripted.Answer{scripted.Text("one"), scripted.Text("foo"), scripted.Text("bar")}, onDisk(dir), rules(rule.Settings{Gap: 3}, "foo"))
		r.run("p")
		entries, _, err := r.Entries(nil)
		if err != nil {
			t.Fatal(err)
		}
		var before struct{ ID string }
		decode(t, entries[len(entries)-1], &before)
		r.run("q")
		if n := r.Count("ttsr_triggered"); n != 1 {
			t.Fatalf("%d stops", n)
		}

		r.model.Then(scripted.Text("foo"))
		r.run("told") // one complete answer since, and this is the second
		if n := r.Count("ttsr_triggered"); n != 1 {
			t.Errorf("%d stops of what was told", n)
		}
		if _, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: before.ID})(); err != nil {
			t.Fatal(err)
		}
		r.model.Then(scripted.Text("foo"))
		r.run("another branch")
		if n := r.Count("ttsr_triggered"); n != 2 {
			t.Errorf("%d stops, on a branch where it was not told", n)
		}

		log, err := store.Read(r.File())
		if err != nil {
			t.Fatal(err)
		}
		again, err := log.Fork(store.ForkOptions{LeafID: log.Leaf()})
		if err != nil {
			t.Fatal(err)
		}
		second := newRig(t, []scripted.Answer{scripted.Text("foo"), scripted.Text("foo"), scripted.Text("foo")}, func(c *session.Config) { c.Log = again }, rules(rule.Settings{Gap: 3}, "foo"))
		for i, want := range []int{0, 0, 1} { // one complete answer since, two, three
			second.run(fmt.Sprint(i))
			if n := second.Count("ttsr_triggered"); n != want {
				t.Errorf("prompt %d: %d stops, want %d", i, n, want)
			}
		}
	})
}
