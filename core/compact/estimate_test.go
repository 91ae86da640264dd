package compact_test

import (
	"testing"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

func TestEstimate(t *testing.T) {
	image := message.ImageBlock("aGVsbG8gd29ybGQ=", "image/png")
	cases := []struct {
		name string
		m    message.Message
		want int64
	}{
		{"four bytes a token, rounded up", message.NewUser("12345", nil, 0), 2},
		{"plain content", &message.User{Content: message.PlainContent("1234")}, 1},
		{"empty", message.NewUser("", nil, 0), 0},
		{"other scripts need more", message.NewUser("例えば", nil, 0), 3},
		{"an image counts by itself, not by its data", message.NewUser("1234", []message.Block{image}, 0), 1201},
		{"thinking and calls", &message.Assistant{Content: []message.Block{
			{Type: message.BlockThinking, Thinking: "1234"},
			{Type: message.BlockToolCall, Name: "bash", Arguments: []byte(`{"command":"ls"}`)},
		}}, 6},
		{"tool result with an image", &message.ToolResult{Content: []message.Block{message.TextBlock("12345678"), image}}, 1202},
		{"bash", &message.BashExecution{Command: "1234", Output: "5678"}, 2},
		{"bash that the model does not see", &message.BashExecution{Command: "1234", Output: "5678", ExcludeFromContext: true}, 0},
		{"custom", &message.Custom{Content: message.PlainContent("1234")}, 1},
		{"summaries", &message.CompactionSummary{Summary: "12345678"}, 2},
		{"branch summary", &message.BranchSummary{Summary: "12345678"}, 2},
		{"unknown role", &message.Opaque{Name: "system", Raw: []byte(`{"role":"system"}`)}, 0},
	}
	for _, c := range cases {
		if got := compact.Estimate(c.m); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestShouldCompact(t *testing.T) {
	on := compact.Settings{Enabled: true, ReserveTokens: 16384}
	off := on
	off.Enabled = false
	cases := []struct {
		tokens, window int64
		s              compact.Settings
		want           bool
	}{
		{183616, 200000, on, false},
		{183617, 200000, on, true},
		{183617, 200000, off, false},
		{1 << 40, 0, on, false},
		{1, 1000, on, true}, // a window smaller than the reserve is always too small
	}
	for _, c := range cases {
		if got := compact.ShouldCompact(c.tokens, c.window, c.s); got != c.want {
			t.Errorf("%d of %d: got %v, want %v", c.tokens, c.window, got, c.want)
		}
	}
}

func TestContextTokens(t *testing.T) {
	answer := func(stop message.StopReason, u message.Usage) store.Body {
		return store.MessageBody{Message: &message.Assistant{Content: []message.Block{message.TextBlock(sized(10))}, StopReason: stop, Usage: u}}
	}
	user := store.MessageBody{Message: message.NewUser(sized(5), nil, 0)}
	total := message.Usage{TotalTokens: 1000}
	cases := []struct {
		name   string
		bodies []store.Body
		want   compact.Usage
	}{
		{"nothing", nil, compact.Usage{}},
		{"before any answer", []store.Body{user, user}, compact.Usage{Tokens: 10}},
		{"after an answer", []store.Body{user, answer("stop", total)}, compact.Usage{Tokens: 1000, Reported: true}},
		{"what came after the answer", []store.Body{user, answer("toolUse", total), user, user}, compact.Usage{Tokens: 1010, Reported: true}},
		{"a service without a total", []store.Body{answer("stop", message.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4})}, compact.Usage{Tokens: 10, Reported: true}},
		{"a service that reports nothing", []store.Body{user, answer("stop", message.Usage{})}, compact.Usage{Tokens: 15}},
		{"answers that failed do not count", []store.Body{answer("stop", total), user, answer("aborted", message.Usage{TotalTokens: 7}), answer("error", message.Usage{TotalTokens: 7})},
			compact.Usage{Tokens: 1025, Reported: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := store.InMemory(store.CreateOptions{})
			for _, b := range c.bodies {
				if _, err := l.Append(b); err != nil {
					t.Fatal(err)
				}
			}
			if got := compact.ContextTokens(l.Context(l.Leaf())); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// What was reported before a compaction says nothing about the context after
// it, though the answer that it came with was kept.
func TestContextTokensAfterACompaction(t *testing.T) {
	l := store.InMemory(store.CreateOptions{})
	add := func(b store.Body) string {
		e, err := l.Append(b)
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	answer := func(tokens int64) store.Body {
		return store.MessageBody{Message: &message.Assistant{Content: []message.Block{message.TextBlock(sized(10))}, Usage: message.Usage{TotalTokens: tokens}}}
	}
	kept := add(answer(190000))
	add(store.Compaction{Summary: sized(20), FirstKeptEntryID: kept})
	if got := compact.ContextTokens(l.Context(l.Leaf())); got != (compact.Usage{Tokens: 30}) {
		t.Errorf("got %+v, want an estimate of 30", got)
	}
	if got := compact.EstimateItems(l.Context(l.Leaf())); got != 30 {
		t.Errorf("estimate %d, want 30", got)
	}
	add(answer(500))
	if got := compact.ContextTokens(l.Context(l.Leaf())); got != (compact.Usage{Tokens: 500, Reported: true}) {
		t.Errorf("got %+v, want what the next answer reported", got)
	}
}
