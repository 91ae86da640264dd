// Custom-compaction makes the summaries of long conversations itself, without
// a model: it keeps what the user asked for, word by word.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

func register(x *sdk.Extension) {
	x.Info("custom-compaction", "1.0.0")
	sdk.On(x, sdk.SessionBeforeCompact, summarize)
}

// preparation is the part of a compaction's plan that we need.
type preparation struct {
	FirstKeptEntryID    string       `json:"firstKeptEntryId"`
	TokensBefore        int64        `json:"tokensBefore"`
	PreviousSummary     string       `json:"previousSummary"`
	MessagesToSummarize sdk.Messages `json:"messagesToSummarize"`
	TurnPrefixMessages  sdk.Messages `json:"turnPrefixMessages"`
}

func summarize(_ *sdk.Context, e *sdk.SessionBeforeCompactEvent) (*sdk.SessionBeforeCompactResult, error) {
	var plan preparation
	if err := json.Unmarshal(e.Preparation, &plan); err != nil {
		return nil, fmt.Errorf("read the plan of the compaction: %w", err)
	}
	var out strings.Builder
	if plan.PreviousSummary != "" {
		fmt.Fprintln(&out, plan.PreviousSummary)
	} else {
		fmt.Fprintln(&out, "What the user asked for so far:")
	}
	for _, m := range append(plan.MessagesToSummarize, plan.TurnPrefixMessages...) {
		if user, ok := m.(*sdk.User); ok {
			fmt.Fprintf(&out, "- %s\n", sdk.TextOf(user))
		}
	}
	return &sdk.SessionBeforeCompactResult{Compaction: &sdk.CompactionResult{
		Summary: out.String(), FirstKeptEntryID: plan.FirstKeptEntryID, TokensBefore: plan.TokensBefore,
	}}, nil
}
