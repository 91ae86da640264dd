package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
)

// branched is a session of two turns; it gives the ids of its user messages.
func branched(t *testing.T, then []scripted.Answer, changes ...with) (r *rig, first, second string) {
	t.Helper()
	r = newRig(t, []scripted.Answer{scripted.Text("a1"), scripted.Text("a2")}, changes...)
	r.model.Then(then...)
	r.run("p1")
	r.run("p2")
	r.Reset()
	messages := r.ForkMessages()
	return r, messages[0].EntryID, messages[1].EntryID
}

// leaf is the id of the session's leaf; empty: it is before the root.
func (r *rig) leaf() string {
	_, id := r.Tree()
	if id == nil {
		return ""
	}
	return *id
}

func TestNavigateWithoutASummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, second := branched(t, nil)
		before := r.entryTypes()
		end := r.leaf()
		got, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: second})()
		if err != nil || got.Cancelled || got.EditorText == nil || *got.EditorText != "p2" || got.SummaryEntry != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		wantLines(t, r.conversation(), "user: p1", "assistant stop: a1")
		wantLines(t, r.entryTypes(), before...)
		r.run("p3")
		wantLines(t, r.conversation(), "user: p1", "assistant stop: a1", "user: p3", "assistant stop: ok")
		tree, _ := r.Tree()
		node := tree[0]
		for len(node.Children) == 1 {
			node = node.Children[0]
		}
		if len(node.Children) != 2 {
			t.Errorf("the tree does not branch: %+v", node)
		}
		// And back again, to an answer.
		if got, err = r.NavigateTree(t.Context(), session.Navigate{TargetID: end})(); err != nil || got.EditorText != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		if r.leaf() != end {
			t.Errorf("the leaf is %s, want %s", r.leaf(), end)
		}
		wantLines(t, r.conversation(), "user: p1", "assistant stop: a1", "user: p2", "assistant stop: a2")
		wantLines(t, r.Lines("message_", "turn_", "agent_"))
	})
}

func TestNavigateToTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, first, _ := branched(t, nil)
		if _, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: first})(); err != nil {
			t.Fatal(err)
		}
		wantLines(t, r.conversation())
		r.run("new")
		wantLines(t, r.conversation(), "user: new", "assistant stop: ok")
		all, leaf, err := r.Branch(nil)
		if err != nil || len(all) != 4 || leaf == nil || *leaf != r.leaf() {
			t.Errorf("the branch has %d entries, its leaf is %v (%v)", len(all), leaf, err)
		}
		if old, _, err := r.Branch(&first); err != nil || len(old) != 3 {
			t.Errorf("the branch to the first message has %d entries (%v)", len(old), err)
		}
		unknown := "nothing"
		if _, _, err := r.Branch(&unknown); !errors.Is(err, store.ErrEntryNotFound) {
			t.Errorf("the branch to nothing: %v", err)
		}
	})
}

func TestNavigateWithASummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []event.SessionTree
		r, _, second := branched(t, []scripted.Answer{busy, scripted.Text("what happened")}, hooks(scripted.On(event.KindSessionTree, func(_ context.Context, e *event.SessionTree) (any, error) {
			told = append(told, *e)
			return nil, nil
		})))
		old := r.leaf()
		got, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: second, Summarize: true, CustomInstructions: "the bugs", Label: "here"})()
		if err != nil {
			t.Fatal(err)
		}
		var entry struct {
			Type, ID, ParentID, FromID, Summary string
			FromHook                            bool
			Usage                               json.RawMessage
		}
		decode(t, got.SummaryEntry, &entry)
		if entry.Type != "branch_summary" || entry.FromID != entry.ParentID || entry.FromHook || !strings.Contains(entry.Summary, "what happened") || entry.Usage == nil {
			t.Errorf("the entry is %s", got.SummaryEntry)
		}
		conversation := r.conversation()
		if len(conversation) != 3 || !strings.HasPrefix(conversation[2], "branchSummary: ") {
			t.Errorf("the conversation is %q", conversation)
		}
		wantLines(t, r.entryTypes()[6:], "branch_summary", "label")
		wantLines(t, r.Lines(), `summarization_retry_scheduled {"attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"529 overloaded"}`,
			`summarization_retry_attempt_start {"source":"branchSummary"}`, "summarization_retry_finished")
		if len(told) != 1 || told[0].OldLeafID == nil || *told[0].OldLeafID != old || *told[0].NewLeafID != r.leaf() || string(told[0].SummaryEntry) != string(got.SummaryEntry) || told[0].FromExtension {
			t.Errorf("extensions are told %+v", told)
		}
		request := r.model.Requests()[3]
		if text := scripted.Messages(request.Messages)[0]; !strings.Contains(text, "the bugs") || !strings.Contains(text, "a2") || strings.Contains(text, "a1") {
			t.Errorf("the summary is asked for with %q", text)
		}
		r.run("p3")
		if sent := r.sent(4); len(sent) != 4 || !strings.Contains(sent[2], "what happened") {
			t.Errorf("the model is sent %q", sent)
		}
	})
}

func TestNavigateHooks(t *testing.T) {
	before := func(result *event.SessionBeforeTreeResult) *scripted.Listener {
		return scripted.On(event.KindSessionBeforeTree, func(context.Context, *event.SessionBeforeTree) (any, error) { return result, nil })
	}
	bubble(t, "cancel", func(t *testing.T) {
		r, _, second := branched(t, nil, hooks(before(&event.SessionBeforeTreeResult{Cancel: true})))
		old := r.leaf()
		got, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: second, Summarize: true})()
		if err != nil || !got.Cancelled || got.EditorText != nil || r.leaf() != old {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	bubble(t, "own summary and label", func(t *testing.T) {
		r, _, second := branched(t, nil, hooks(before(&event.SessionBeforeTreeResult{Summary: &event.TreeSummary{Summary: "mine", Details: event.Raw(`1`)}, Label: "l"})))
		got, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: second})()
		if err != nil || !strings.Contains(string(got.SummaryEntry), `"fromHook":true`) {
			t.Errorf("got %+v, %v", got, err)
		}
		wantLines(t, r.conversation()[2:], "branchSummary: mine")
		if n := len(r.model.Requests()); n != 2 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	bubble(t, "sees what is left", func(t *testing.T) {
		r, _, second := branched(t, nil)
		old := r.leaf()
		seen := false
		chain := scripted.On(event.KindSessionBeforeTree, func(_ context.Context, e *event.SessionBeforeTree) (any, error) {
			var plan struct {
				TargetID, OldLeafID, NewLeafID string
				EntriesToSummarize             []struct{ ID string }
				UserWantsSummary               bool
			}
			decode(t, e.Preparation, &plan)
			seen = plan.TargetID == second && plan.OldLeafID == old && len(plan.EntriesToSummarize) == 2 && plan.EntriesToSummarize[0].ID == second && !plan.UserWantsSummary
			return nil, nil
		})
		r2, _, second2 := branched(t, nil, hooks(chain))
		old, second = r2.leaf(), second2
		if _, err := r2.NavigateTree(t.Context(), session.Navigate{TargetID: second2})(); err != nil || !seen {
			t.Errorf("the hook saw something else: %v", err)
		}
	})
}

func TestNavigateThatCannotBe(t *testing.T) {
	bubble(t, "an unknown entry", func(t *testing.T) {
		r, _, _ := branched(t, nil)
		if _, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: "nope"})(); !errors.Is(err, store.ErrEntryNotFound) || err.Error() != "Entry not found: nope" {
			t.Errorf("the error is %v", err)
		}
	})
	bubble(t, "during a run", func(t *testing.T) {
		r, _, second := branched(t, []scripted.Answer{slow("a3")})
		r.prompt("p3")
		sleep(time.Millisecond)
		if _, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: second})(); err == nil {
			t.Error("it worked")
		}
		r.idle()
		wantLines(t, r.conversation()[4:], "user: p3", "assistant stop: a3")
	})
	bubble(t, "the summary fails", func(t *testing.T) {
		r, _, second := branched(t, []scripted.Answer{scripted.Fail(provider.Auth, "401 no")})
		old := r.leaf()
		if _, err := r.NavigateTree(t.Context(), session.Navigate{TargetID: second, Summarize: true})(); err == nil || !strings.Contains(err.Error(), "401 no") {
			t.Errorf("the error is %v", err)
		}
		if r.leaf() != old {
			t.Error("the leaf has moved")
		}
	})
	bubble(t, "aborted", func(t *testing.T) {
		r, _, second := branched(t, []scripted.Answer{{Hang: true}})
		old := r.leaf()
		wait := r.NavigateTree(t.Context(), session.Navigate{TargetID: second, Summarize: true})
		sleep(time.Second)
		<-r.Abort()
		if got, err := wait(); err != nil || !got.Cancelled || r.leaf() != old {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	bubble(t, "aborted in a dialog", func(t *testing.T) {
		r, _, second := branched(t, nil, hooks(scripted.On(event.KindSessionBeforeTree, func(ctx context.Context, _ *event.SessionBeforeTree) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})))
		old := r.leaf()
		wait := r.NavigateTree(t.Context(), session.Navigate{TargetID: second})
		sleep(time.Second)
		<-r.Abort()
		if got, err := wait(); err != nil || !got.Cancelled || r.leaf() != old {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, first, _ := branched(t, nil)
		find := func() *store.Node {
			tree, _ := r.Tree()
			for node := tree[0]; ; node = node.Children[0] {
				var head struct{ ID string }
				decode(t, node.Entry.Raw, &head)
				if head.ID == first {
					return node
				}
			}
		}
		if err := r.SetLabel(first, "start"); err != nil {
			t.Fatal(err)
		}
		if node := find(); node.Label != "start" || node.LabelTimestamp == "" {
			t.Errorf("the node is %+v", node)
		}
		if err := r.SetLabel(first, ""); err != nil {
			t.Fatal(err)
		}
		if node := find(); node.Label != "" || node.LabelTimestamp != "" {
			t.Errorf("the node is %+v", node)
		}
		if err := r.SetLabel("ffffffff", "x"); !errors.Is(err, store.ErrEntryNotFound) {
			t.Errorf("an unknown entry: %v", err)
		}
		if n := r.Count("entry_appended"); n != 0 {
			t.Errorf("%d entries were told: labels show in the tree", n)
		}
	})
}

func TestEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, first, second := branched(t, nil)
		all, leaf, err := r.Entries(nil)
		if err != nil || len(all) != 6 || *leaf != r.leaf() {
			t.Errorf("%d entries, leaf %v, %v", len(all), leaf, err)
		}
		since, _, err := r.Entries(&first)
		if err != nil || len(since) != 3 {
			t.Errorf("%d entries since the first message, %v", len(since), err)
		}
		if last, _, err := r.Entries(leaf); err != nil || last == nil || len(last) != 0 {
			t.Errorf("%v entries since the last, %v", last, err)
		}
		for _, unknown := range []string{"", "nope"} {
			if _, _, err := r.Entries(&unknown); err == nil || err.Error() != "Entry not found: "+unknown {
				t.Errorf("since %q: %v", unknown, err)
			}
		}
		if messages := r.ForkMessages(); len(messages) != 2 || messages[1] != (session.ForkMessage{EntryID: second, Text: "p2"}) {
			t.Errorf("the messages are %+v", messages)
		}
	})
}
