package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/store"
)

// model answers summary requests with what a test lays out, in order.
type model struct {
	answers  []message.Assistant
	err      error
	requests []provider.Request
}

func (m *model) Complete(_ context.Context, req provider.Request) (*message.Assistant, error) {
	m.requests = append(m.requests, req)
	if m.err != nil {
		return nil, m.err
	}
	answer := m.answers[min(len(m.requests), len(m.answers))-1]
	return &answer, nil
}

func (m *model) prompt(i int) string { return message.TextOf(m.requests[i].Messages[0]) }

func saying(texts ...string) *model {
	m := &model{}
	for i, text := range texts {
		m.answers = append(m.answers, message.Assistant{
			Content: []message.Block{message.TextBlock(text)}, StopReason: message.StopStop,
			Usage: message.Usage{Input: int64(10 * (i + 1)), Output: 1, Cost: message.Cost{Total: 0.5}},
		})
	}
	return m
}

func users(texts ...string) message.List {
	var list message.List
	for _, text := range texts {
		list = append(list, message.NewUser(text, nil, 0))
	}
	return list
}

var settings = compact.Settings{ReserveTokens: 2000, KeepRecentTokens: 30}

func TestSummariseWholeTurns(t *testing.T) {
	m := saying("  the summary\n")
	s, err := compact.Summarise(t.Context(), m, compact.Preparation{MessagesToSummarize: users("first", "second"), Settings: settings}, compact.Options{Instructions: " keep names \n"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Text != "the summary" || string(s.Details) != `{"readFiles":[],"modifiedFiles":[]}` || s.Usage.Input != 10 || s.Usage.Cost.Total != 0.5 {
		t.Errorf("got %+v", s)
	}
	if len(m.requests) != 1 {
		t.Fatalf("%d requests, want 1", len(m.requests))
	}
	req := m.requests[0]
	if req.MaxTokens != 1600 || len(req.Tools) != 0 || req.System == "" || len(req.Messages) != 1 || req.Thinking != "" {
		t.Errorf("request %+v", req)
	}
	prompt := m.prompt(0)
	if !strings.HasPrefix(prompt, "<conversation>\n[User]: first\n\n[User]: second\n</conversation>\n") {
		t.Errorf("the prompt begins %q", prompt[:80])
	}
	lines := strings.Split(prompt, "\n")
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, ": keep names") {
		t.Errorf("the last line is %q, want the instructions", last)
	}
	if strings.Contains(prompt, "previous-summary") {
		t.Error("the prompt speaks of an earlier summary that is not there")
	}
}

func TestSummariseGoesOnFromTheLast(t *testing.T) {
	m := saying("both")
	p := compact.Preparation{MessagesToSummarize: users("new"), PreviousSummary: "the old one", Settings: settings}
	s, err := compact.Summarise(t.Context(), m, p, compact.Options{})
	if err != nil || s.Text != "both" {
		t.Fatalf("got %+v, %v", s, err)
	}
	if !strings.Contains(m.prompt(0), "\n<previous-summary>\nthe old one\n</previous-summary>\n") {
		t.Errorf("the earlier summary is missing from %q", m.prompt(0))
	}
}

func TestSummariseSplitTurn(t *testing.T) {
	m := saying("history", "beginning")
	p := compact.Preparation{MessagesToSummarize: users("h"), TurnPrefixMessages: users("p"), IsSplitTurn: true, Settings: settings}
	keepNames := compact.Options{Instructions: "keep names"}
	s, err := compact.Summarise(t.Context(), m, p, keepNames)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.requests) != 2 || m.requests[0].MaxTokens != 1600 || m.requests[1].MaxTokens != 1000 {
		t.Errorf("requests %+v", m.requests)
	}
	if !strings.HasSuffix(m.prompt(0), ": keep names") || strings.Contains(m.prompt(1), "keep names") {
		t.Errorf("the instructions are about the history, not about the turn: %q", m.prompt(1))
	}
	if !strings.HasPrefix(s.Text, "history\n\n---\n\n") || !strings.HasSuffix(s.Text, "\n\nbeginning") || s.Usage.Input != 30 || s.Usage.Output != 2 {
		t.Errorf("got %+v", s)
	}

	m = saying("beginning")
	p.MessagesToSummarize = nil
	if s, err = compact.Summarise(t.Context(), m, p, keepNames); err != nil || len(m.requests) != 1 || !strings.HasSuffix(s.Text, "\n\nbeginning") {
		t.Errorf("without history: %+v, %v, %d requests", s, err, len(m.requests))
	}
	if !strings.HasSuffix(m.prompt(0), ": keep names") {
		t.Errorf("without history the instructions are lost: %q", m.prompt(0))
	}
	p.PreviousSummary = "the old one"
	if s, err = compact.Summarise(t.Context(), saying("beginning"), p, compact.Options{}); err != nil || !strings.HasPrefix(s.Text, "the old one\n\n---\n\n") {
		t.Errorf("the earlier summary must stay: %q, %v", s.Text, err)
	}
}

func TestSummariseInPieces(t *testing.T) {
	m := saying("one", "two", "three")
	p := compact.Preparation{MessagesToSummarize: users(sized(300), sized(300), sized(300), sized(1), sized(2)), Settings: settings}
	s, err := compact.Summarise(t.Context(), m, p, compact.Options{ContextWindow: 4400})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.requests) != 3 || s.Text != "three" || s.Usage.Input != 60 {
		t.Errorf("%d requests, %+v: want one for each 400 tokens", len(m.requests), s)
	}
	if !strings.Contains(m.prompt(1), "<previous-summary>\none\n</previous-summary>") || strings.Count(m.prompt(2), "[User]: ") != 3 {
		t.Errorf("a piece must go on from the summary of the one before it: %q", m.prompt(2))
	}
}

func TestSummariesThatAreRefused(t *testing.T) {
	answer := func(stop message.StopReason, text string) *model {
		return &model{answers: []message.Assistant{{Content: []message.Block{message.TextBlock(text)}, StopReason: stop, ErrorMessage: "529 overloaded"}}}
	}
	broken := errors.New("connection lost")
	cases := []struct {
		name string
		m    *model
		want error
		text string
	}{
		{"cut off", answer("length", "a good part of"), compact.ErrCutOff, "cut off"},
		{"empty", answer("stop", " \n"), compact.ErrEmpty, "empty"},
		{"failed", answer("error", "half"), nil, "529 overloaded"},
		{"aborted", answer("aborted", "half"), nil, "aborted"},
		{"call failed", &model{err: broken}, broken, "connection lost"},
	}
	plans := map[string]compact.Preparation{
		"history": {MessagesToSummarize: users("x"), Settings: settings},
		"turn":    {TurnPrefixMessages: users("x"), IsSplitTurn: true, Settings: settings},
	}
	for _, c := range cases {
		for name, p := range plans {
			_, err := compact.Summarise(t.Context(), c.m, p, compact.Options{})
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s, %s: got %v", c.name, name, err)
			}
		}
		_, err := compact.SummariseBranch(t.Context(), c.m, compact.BranchPreparation{Messages: users("x")}, compact.BranchOptions{})
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s, branch: got %v", c.name, err)
		}
	}
}

func toolCall(tool, path string) store.Body {
	return store.MessageBody{Message: &message.Assistant{StopReason: message.StopToolUse, Content: []message.Block{
		{Type: message.BlockToolCall, ID: path, Name: tool, Arguments: fmt.Appendf(nil, `{"path":%q}`, path)},
	}}}
}

// appendAll appends bodies and gives their ids.
func appendAll(t *testing.T, l *store.Log, bodies ...store.Body) (ids []string) {
	t.Helper()
	for _, b := range bodies {
		e, err := l.Append(b)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

func TestFileLists(t *testing.T) {
	l := store.InMemory(store.CreateOptions{})
	user := store.MessageBody{Message: message.NewUser("q", nil, 0)}
	ids := appendAll(t, l, user, toolCall("read", "b.go"), toolCall("read", "a.go"), toolCall("edit", "b.go"), toolCall("write", "new.go"), toolCall("bash", "no.go"), user, user)
	keepLast := compact.Settings{KeepRecentTokens: 1}
	p, err := compact.Prepare(l, l.Leaf(), keepLast)
	if err != nil {
		t.Fatal(err)
	}
	s, err := compact.Summarise(t.Context(), saying("first"), p, compact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const files = "\n\n<read-files>\na.go\n</read-files>\n\n<modified-files>\nb.go\nnew.go\n</modified-files>"
	if s.Text != "first"+files || string(s.Details) != `{"readFiles":["a.go"],"modifiedFiles":["b.go","new.go"]}` {
		t.Errorf("got %q, %s", s.Text, s.Details)
	}

	// The next summary goes on from these lists, and from that of a branch.
	appendAll(t, l, store.Compaction{Summary: s.Text, FirstKeptEntryID: ids[len(ids)-1], Details: s.Details},
		store.BranchSummary{Summary: "b", Details: []byte(`{"readFiles":["branch.go"],"modifiedFiles":[]}`)},
		store.BranchSummary{Summary: "h", Details: []byte(`{"readFiles":["hook.go"],"modifiedFiles":[]}`), FromHook: true},
		toolCall("edit", "a.go"), user)
	if p, err = compact.Prepare(l, l.Leaf(), keepLast); err != nil {
		t.Fatal(err)
	}
	if p.PreviousSummary != "first" {
		t.Errorf("the lists were left in the earlier summary: %q", p.PreviousSummary)
	}
	if s, err = compact.Summarise(t.Context(), saying("second"), p, compact.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := `{"readFiles":["branch.go"],"modifiedFiles":["a.go","b.go","new.go"]}`; string(s.Details) != want {
		t.Errorf("got %s, want %s", s.Details, want)
	}
}

func TestDetailsOfAHookAreLeftAlone(t *testing.T) {
	l := store.InMemory(store.CreateOptions{})
	user := store.MessageBody{Message: message.NewUser("q", nil, 0)}
	ids := appendAll(t, l, user)
	appendAll(t, l, store.Compaction{Summary: "own", FirstKeptEntryID: ids[0], Details: []byte(`{"readFiles":["x"],"mine":1}`), FromHook: true}, user, user)
	p, err := compact.Prepare(l, l.Leaf(), compact.Settings{KeepRecentTokens: 1})
	if err != nil || p.PreviousSummary != "own" || len(p.FileOps.Read) != 0 {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestSerialize(t *testing.T) {
	image := message.ImageBlock("aGk=", "image/png")
	long := strings.Repeat("é", 1500) // 3000 bytes
	list := []message.Message{
		message.NewUser("look", []message.Block{image}, 0),
		&message.Assistant{StopReason: message.StopToolUse, Content: []message.Block{
			{Type: message.BlockThinking, Thinking: "hm"},
			message.TextBlock("I will look."),
			{Type: message.BlockToolCall, ID: "1", Name: "read", Arguments: []byte(`{"path":"a.go","limit":3}`)},
			{Type: message.BlockToolCall, ID: "2", Name: "bash", Arguments: []byte(`{}`)},
		}},
		&message.ToolResult{ToolCallID: "1", Content: []message.Block{message.TextBlock(long)}},
		&message.ToolResult{ToolCallID: "2", Content: []message.Block{image}},
		&message.Assistant{StopReason: message.StopError, Content: []message.Block{message.TextBlock("half")}},
		&message.BashExecution{Command: "ls", Output: "a.go\n"},
		&message.CompactionSummary{Summary: "S"},
	}
	want := strings.Join([]string{
		"[User]: look (an image)",
		"[Assistant thinking]: hm",
		"[Assistant]: I will look.",
		`[Assistant tool calls]: read(path="a.go", limit=3); bash()`,
		"[Tool result]: " + long[:2000] + "\n[1000 more bytes left out]",
		"[Tool result]: (an image)",
		"[User]: Ran `ls`\n```\na.go\n\n```",
	}, "\n\n") + "\n\n[User]: "
	got := compact.Serialize(list)
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "<summary>\nS\n</summary>") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := compact.Serialize(nil); got != "" {
		t.Errorf("nothing is written as %q", got)
	}
}

func TestSerializeCutsBetweenCharacters(t *testing.T) {
	text := "x" + strings.Repeat("é", 1500)
	got := compact.Serialize([]message.Message{
		&message.Assistant{Content: []message.Block{{Type: message.BlockToolCall, ID: "1", Name: "read"}}},
		&message.ToolResult{ToolCallID: "1", Content: []message.Block{message.TextBlock(text)}},
	})
	if !strings.Contains(got, "é\n[1002 more bytes left out]") || strings.Contains(got, "\uFFFD") {
		t.Errorf("cut badly: %q", got[len(got)-60:])
	}
}

func TestBranch(t *testing.T) {
	l := store.InMemory(store.CreateOptions{})
	say := func(text string) store.Body { return store.MessageBody{Message: message.NewUser(text, nil, 0)} }
	shared := appendAll(t, l, say("shared 1"), say("shared 2"))
	left := appendAll(t, l, say("left 1"), toolCall("edit", "left.go"), store.Label{TargetID: shared[0], Label: "l"}, say("left 2"))
	if err := l.SetLeaf(shared[1]); err != nil {
		t.Fatal(err)
	}
	target := appendAll(t, l, say("target"))

	p := compact.PrepareBranch(l, left[3], target[0], 0)
	if p.CommonAncestorID != shared[1] || len(p.Entries) != 4 || p.Entries[0].ID != left[0] || len(p.Messages) != 3 {
		t.Fatalf("got %+v", p)
	}
	m := saying("what happened")
	s, err := compact.SummariseBranch(t.Context(), m, p, compact.BranchOptions{Instructions: "the files"})
	if err != nil {
		t.Fatal(err)
	}
	req, prompt := m.requests[0], m.prompt(0)
	if req.MaxTokens != 2048 || req.Thinking != message.ThinkingOff || len(req.Tools) != 0 || req.System == "" {
		t.Errorf("request %+v", req)
	}
	if !strings.HasPrefix(prompt, "<conversation>\n[User]: left 1\n\n[Assistant tool calls]: edit(path=\"left.go\")") || strings.Contains(prompt, "shared") || !strings.HasSuffix(prompt, ": the files") {
		t.Errorf("prompt %q", prompt)
	}
	if !strings.Contains(s.Text, "\n\nwhat happened\n\n<modified-files>\nleft.go\n</modified-files>") || s.Usage.Input != 10 {
		t.Errorf("got %+v", s)
	}

	m = saying("x")
	if _, err := compact.SummariseBranch(t.Context(), m, p, compact.BranchOptions{Instructions: "only this", ReplaceInstructions: true}); err != nil || !strings.HasSuffix(m.prompt(0), "</conversation>\n\nonly this") {
		t.Errorf("prompt %q, %v", m.prompt(0), err)
	}
}

func TestBranchPlaces(t *testing.T) {
	l := store.InMemory(store.CreateOptions{})
	say := func(text string) store.Body { return store.MessageBody{Message: message.NewUser(text, nil, 0)} }
	a := appendAll(t, l, say("a1"), say("a2"), say("a3"))
	if err := l.SetLeaf(""); err != nil {
		t.Fatal(err)
	}
	b := appendAll(t, l, say("b1"))
	cases := []struct {
		name, from, to, ancestor string
		messages                 int
	}{
		{"back", a[2], a[0], a[0], 2},
		{"forward", a[0], a[2], a[0], 0},
		{"nowhere", a[2], a[2], a[2], 0},
		{"before the root", a[2], "", "", 3},
		{"another root", a[2], b[0], "", 3},
		{"from before the root", "", a[0], "", 0},
	}
	for _, c := range cases {
		p := compact.PrepareBranch(l, c.from, c.to, 0)
		if p.CommonAncestorID != c.ancestor || len(p.Messages) != c.messages {
			t.Errorf("%s: ancestor %q, %d messages; want %q, %d", c.name, p.CommonAncestorID, len(p.Messages), c.ancestor, c.messages)
		}
		_, err := compact.SummariseBranch(t.Context(), saying("x"), p, compact.BranchOptions{})
		if empty := c.messages == 0; empty != errors.Is(err, compact.ErrEmptyBranch) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	// Each message is one token.
	for budget, want := range map[int64]int{1: 1, 2: 2, 3: 3, 9: 3} {
		p := compact.PrepareBranch(l, a[2], "", budget)
		if len(p.Messages) != want || message.TextOf(p.Messages[want-1]) != "a3" {
			t.Errorf("budget %d: %d messages, want the newest %d", budget, len(p.Messages), want)
		}
	}
	large := appendAll(t, l, say(sized(100)))
	if p := compact.PrepareBranch(l, large[0], "", 5); len(p.Messages) != 1 {
		t.Errorf("%d messages, want the last one whatever its size", len(p.Messages))
	}
}
