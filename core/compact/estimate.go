// Package compact decides when a conversation has grown too large for its
// model, what of it is kept, and has the rest summarised. It also summarises
// branches that are left.
//
// It plans on a store.Log without changing it, and asks a model through a
// Caller. It imports the standard library, core/message, core/store and
// core/provider, and must not import anything else of this module.
package compact

import (
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

const (
	// bytesPerToken is a rule of thumb that holds for English text and code.
	// Bytes and not characters are counted, because other scripts need more
	// tokens for a character as well.
	bytesPerToken = 4
	// imageTokens is what an image is taken for; services count by size.
	imageTokens = 1200
)

// Settings say when to compact and how much to keep. The JSON names are those
// of the settings file and of the hook session_before_compact.
type Settings struct {
	Enabled bool `json:"enabled"` // of automatic compaction
	// ReserveTokens is the room that must be left in the context window.
	ReserveTokens int64 `json:"reserveTokens"`
	// KeepRecentTokens is about how much of the end is kept as it is.
	KeepRecentTokens int64 `json:"keepRecentTokens"`
}

// ShouldCompact says whether a context of that many tokens is too large for a
// window. A window of 0 is unknown and never too small.
func ShouldCompact(tokens, window int64, s Settings) bool {
	return s.Enabled && window > 0 && tokens > window-s.ReserveTokens
}

// Usage is the size of a context.
type Usage struct {
	Tokens int64
	// Reported says that the size rests on a count of the service. If not, it
	// is an estimate: there was no answer yet, or none since the compaction.
	Reported bool
}

// ContextTokens gives the size of a context: what the service reported with the
// last answer since the compaction, and an estimate of what came after it.
func ContextTokens(items []store.ContextItem) Usage {
	var after int64
	for i := len(items) - 1; i >= 0; i-- {
		m := items[i].Message()
		if reported := reportedTokens(m); reported > 0 && !items[i].Kept {
			return Usage{Tokens: reported + after, Reported: true}
		}
		after += Estimate(m)
	}
	return Usage{Tokens: after}
}

// reportedTokens is the size of the context that an answer was made from,
// itself included; 0 for what is no answer, or has no count.
func reportedTokens(m message.Message) int64 {
	a, ok := m.(*message.Assistant)
	if !ok || a.StopReason == message.StopError || a.StopReason == message.StopAborted {
		return 0
	}
	if a.Usage.TotalTokens > 0 {
		return a.Usage.TotalTokens
	}
	return a.Usage.Input + a.Usage.Output + a.Usage.CacheRead + a.Usage.CacheWrite
}

// EstimateItems is the estimated size of a context, whatever was reported.
func EstimateItems(items []store.ContextItem) int64 {
	var sum int64
	for _, item := range items {
		sum += Estimate(item.Message())
	}
	return sum
}

// Estimate guesses the tokens of a message from its length. Messages that the
// model does not see have none.
func Estimate(m message.Message) int64 {
	size, images := 0, 0
	count := func(blocks []message.Block) {
		for _, b := range blocks {
			size += len(b.Text) + len(b.Thinking) + len(b.Name) + len(b.Arguments)
			if b.Type == message.BlockImage {
				images++
			}
		}
	}
	switch m := m.(type) {
	case *message.User:
		count(m.Content.Blocks())
	case *message.Assistant:
		count(m.Content)
	case *message.ToolResult:
		count(m.Content)
	case *message.Custom:
		count(m.Content.Blocks())
	case *message.BashExecution:
		if !m.ExcludeFromContext {
			size = len(m.Command) + len(m.Output)
		}
	case *message.BranchSummary:
		size = len(m.Summary)
	case *message.CompactionSummary:
		size = len(m.Summary)
	}
	return int64(size+bytesPerToken-1)/bytesPerToken + int64(images)*imageTokens
}
