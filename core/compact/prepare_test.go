package compact_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// sized is a text of that many tokens by estimate.
func sized(tokens int) string { return strings.Repeat("word", tokens) }

// build appends messages that are written as words: u100 is a user message of
// a hundred tokens, a90 an answer, c1 an answer that calls tool 1, r1:40 its
// result, b a bash command, x a custom message, e a failed answer, label and
// name entries that say nothing, K:3 a compaction that keeps from the third
// message on.
func build(t testing.TB, words string) *store.Log {
	t.Helper()
	l := store.InMemory(store.CreateOptions{})
	var ids []string
	for word := range strings.FieldsSeq(words) {
		body, said := bodyFor(t, word, ids)
		e, err := l.Append(body)
		if err != nil {
			t.Fatal(err)
		}
		if said {
			ids = append(ids, e.ID)
		}
	}
	return l
}

func bodyFor(t testing.TB, word string, ids []string) (body store.Body, said bool) {
	t.Helper()
	var n, m int
	scan := func(format string, into ...any) bool {
		got, err := fmt.Sscanf(word+"\n", format+"\n", into...)
		return err == nil && got == len(into)
	}
	answer := func(stop message.StopReason, blocks ...message.Block) store.Body {
		return store.MessageBody{Message: &message.Assistant{Content: blocks, StopReason: stop}}
	}
	switch {
	case scan("u%d", &n):
		return store.MessageBody{Message: message.NewUser(sized(n), nil, 1)}, true
	case scan("a%d", &n):
		return answer(message.StopStop, message.TextBlock(sized(n))), true
	case scan("c%d", &n):
		return answer(message.StopToolUse, message.Block{Type: message.BlockToolCall, ID: fmt.Sprint(n), Name: "bash", Arguments: []byte(`{}`)}), true
	case scan("r%d:%d", &n, &m):
		return store.MessageBody{Message: &message.ToolResult{ToolCallID: fmt.Sprint(n), ToolName: "bash", Content: []message.Block{message.TextBlock(sized(m))}}}, true
	case word == "b":
		return store.MessageBody{Message: &message.BashExecution{Command: "ls", Output: "x"}}, true
	case word == "x":
		return store.CustomMessage{CustomType: "x", Content: message.PlainContent("note")}, true
	case word == "e":
		return answer(message.StopError, message.TextBlock("half")), true
	case word == "label":
		return store.Label{TargetID: ids[0], Label: "l"}, false
	case word == "name":
		return store.SessionInfo{Name: "n"}, false
	case scan("K:%d", &n):
		return store.Compaction{Summary: "earlier", FirstKeptEntryID: ids[n-1], TokensBefore: 9}, false
	}
	t.Fatalf("unknown word %q", word)
	return nil, false
}

func TestPrepare(t *testing.T) {
	cases := []struct {
		name, words string
		keep        int64
		kept        int // place of the first kept message, from 1
		history     int // messages of whole turns to summarise
		prefix      int // messages of the split turn
	}{
		{"whole turns", "u10 a10 u10 a10 u10 a10", 20, 5, 4, 0},
		{"an answer that is large enough alone", "u100 a90 u100 a90", 30, 4, 2, 1},
		{"one long turn", "u90 c1 r1:40 c2 r2:40 a1", 30, 6, 0, 5},
		{"the last result is large: its call stays", "u10 a10 u10 c1 r1:100", 30, 4, 2, 1},
		{"the last two results are large", "u10 a10 u10 c1 r1:100 c2 r2:100", 30, 6, 2, 3},
		{"a message that slid between call and result", "u10 a10 u10 c1 u5 r1:100 a5", 90, 7, 2, 4},
		{"the same, with nothing behind it", "u10 a10 u10 c1 u5 r1:100", 90, 4, 2, 1},
		{"a cut at a bash command begins a turn", "u10 a10 b u10 a10", 21, 3, 2, 0},
		{"what was said together stays together", "u10 a10 x u10 b a30", 30, 6, 2, 3},
		{"entries that say nothing", "u10 name a10 label u10 a10 label", 20, 3, 2, 0},
		{"nothing is kept but the last", "u10 a10 u10", 1, 3, 2, 0},
		{"zero keeps the last", "u10 a10 u10 a10", 0, 4, 2, 1},
		{"second compaction goes on from what the first kept", "u100 a90 u100 a90 K:4 u100 a90 u100 a90", 30, 8, 3, 1},
		{"second compaction of the same turn", "u10 c1 r1:50 c2 r2:50 K:4 c3 r3:50 c4 r4:50", 60, 8, 4, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := build(t, c.words)
			p, err := compact.Prepare(l, l.Leaf(), compact.Settings{KeepRecentTokens: c.keep, ReserveTokens: 7})
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, e := range l.Entries() {
				if m, _ := e.Message(); m != nil && e.Type != store.TypeCompaction {
					kept++
				}
				if e.ID == p.FirstKeptEntryID {
					break
				}
			}
			if kept != c.kept || len(p.MessagesToSummarize) != c.history || len(p.TurnPrefixMessages) != c.prefix {
				t.Errorf("kept from message %d, %d in history, %d in the turn; want %d, %d, %d",
					kept, len(p.MessagesToSummarize), len(p.TurnPrefixMessages), c.kept, c.history, c.prefix)
			}
			if p.IsSplitTurn != (c.prefix > 0) || p.Settings.ReserveTokens != 7 || p.TokensBefore <= 0 {
				t.Errorf("split %v, settings %+v, tokens %d", p.IsSplitTurn, p.Settings, p.TokensBefore)
			}
			if had := strings.Contains(c.words, "K:"); had != (p.PreviousSummary == "earlier") {
				t.Errorf("previous summary %q", p.PreviousSummary)
			}
			checkCompacted(t, l, p)
		})
	}
}

// checkCompacted carries the plan out: every tool call of what is left must
// have its own result, and the context must begin with the summary.
func checkCompacted(t *testing.T, l *store.Log, p compact.Preparation) {
	t.Helper()
	whole := len(l.Context(l.Leaf()))
	if _, err := l.Append(store.Compaction{Summary: "S", FirstKeptEntryID: p.FirstKeptEntryID}); err != nil {
		t.Fatal(err)
	}
	items := l.Context(l.Leaf())
	if items[0].Role != message.RoleCompactionSummary || len(items) > whole {
		t.Errorf("%d items of %d, the first of role %s", len(items), whole, items[0].Role)
	}
	calls, results := 0, 0
	for _, item := range items {
		switch m := item.Message().(type) {
		case *message.Assistant:
			calls += len(m.ToolCalls())
		case *message.ToolResult:
			results++
		}
	}
	if calls != results {
		t.Errorf("%d calls and %d results are left: a cut went between them", calls, results)
	}
}

func TestPrepareRefuses(t *testing.T) {
	cases := []struct {
		name, words string
		want        error
	}{
		{"nothing", "", compact.ErrTooSmall},
		{"settings alone", "name", compact.ErrTooSmall},
		{"all of it is kept", "u10 a10", compact.ErrTooSmall},
		{"one message", "u1000", compact.ErrTooSmall},
		{"one call with a large result", "c1 r1:1000", compact.ErrTooSmall},
		{"nothing but failures before", "e e u1000", compact.ErrTooSmall},
		{"just compacted", "u100 a100 u100 a100 K:3", compact.ErrAlreadyCompacted},
		{"just compacted and named", "u100 a100 u100 a100 K:3 name label", compact.ErrAlreadyCompacted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := build(t, c.words)
			if _, err := compact.Prepare(l, l.Leaf(), compact.Settings{KeepRecentTokens: 50}); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestPrepareAfterACompactionThatCarriesMessages(t *testing.T) {
	l := store.InMemory(store.CreateOptions{})
	tail := []byte(`[{"role":"user","content":"` + sized(50) + `"},{"role":"assistant","content":[{"type":"text","text":"` + sized(50) + `"}]}]`)
	for _, body := range []store.Body{
		store.Compaction{Summary: "earlier", RetainedTail: tail},
		store.MessageBody{Message: message.NewUser(sized(10), nil, 1)},
	} {
		if _, err := l.Append(body); err != nil {
			t.Fatal(err)
		}
	}
	p, err := compact.Prepare(l, l.Leaf(), compact.Settings{KeepRecentTokens: 40})
	if err != nil {
		t.Fatal(err)
	}
	if p.FirstKeptEntryID != l.Leaf() || len(p.MessagesToSummarize) != 2 || p.PreviousSummary != "earlier" {
		t.Errorf("kept from %s, %d to summarise: the kept part must begin with an entry of its own", p.FirstKeptEntryID, len(p.MessagesToSummarize))
	}
}

func TestPrepareAsJSON(t *testing.T) {
	l := build(t, "u10 a10 u10")
	p, err := compact.Prepare(l, l.Leaf(), compact.Settings{Enabled: true, KeepRecentTokens: 1, ReserveTokens: 5})
	if err != nil {
		t.Fatal(err)
	}
	p.MessagesToSummarize = p.MessagesToSummarize[:0]
	p.FirstKeptEntryID = "ID"
	got, err := message.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"firstKeptEntryId":"ID","messagesToSummarize":[],"turnPrefixMessages":[],"isSplitTurn":false,"tokensBefore":30,"previousSummary":"",` +
		`"fileOps":{"read":[],"written":[],"edited":[]},"settings":{"enabled":true,"reserveTokens":5,"keepRecentTokens":1}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
