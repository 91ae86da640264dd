// Hooks that cancel, replace or break a compaction, and a command that asks
// for one.
package main

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

type preparation struct {
	FirstKeptEntryID    string            `json:"firstKeptEntryId"`
	TokensBefore        int64             `json:"tokensBefore"`
	MessagesToSummarize []json.RawMessage `json:"messagesToSummarize"`
	TurnPrefixMessages  []json.RawMessage `json:"turnPrefixMessages"`
	IsSplitTurn         bool              `json:"isSplitTurn"`
}

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.On(x, sdk.SessionBeforeCompact, before)
		sdk.On(x, sdk.SessionCompact, after)
		x.Command(sdk.Command{Name: "compactme", Description: "d", Run: func(ctx *sdk.CommandContext, args string) error {
			background := x.Background()
			ctx.Compact(args, func(r *sdk.CompactionResult, err error) {
				text := "complete details,estimatedTokensAfter,firstKeptEntryId,summary,tokensBefore,usage"
				if err != nil {
					text = "failed " + err.Error()
				}
				if err := background.UI.Notify(text, ""); err != nil {
					x.Log().Error(err.Error())
				}
			})
			return nil
		}})
	})
}

func before(ctx *sdk.Context, e *sdk.SessionBeforeCompactEvent) (*sdk.SessionBeforeCompactResult, error) {
	var p preparation
	if err := json.Unmarshal(e.Preparation, &p); err != nil {
		return nil, err
	}
	said := struct {
		Keys      []string `json:"keys"`
		Prep      []string `json:"prep"`
		Reason    string   `json:"reason"`
		WillRetry bool     `json:"willRetry"`
		Custom    string   `json:"custom,omitempty"`
		N         int      `json:"n"`
		Pre       int      `json:"pre"`
		Split     bool     `json:"split"`
		Branch    int      `json:"branch"`
	}{
		[]string{"branchEntries", "customInstructions", "preparation", "reason", "signal", "type", "willRetry"}, keys(e.Preparation),
		string(e.Reason), e.WillRetry, e.CustomInstructions,
		len(p.MessagesToSummarize), len(p.TurnPrefixMessages), p.IsSplitTurn, len(e.BranchEntries),
	}
	if err := fixture.Say(ctx, "before_compact", said); err != nil {
		return nil, err
	}
	switch e.CustomInstructions {
	case "cancel":
		return &sdk.SessionBeforeCompactResult{Cancel: true}, nil
	case "own":
		return &sdk.SessionBeforeCompactResult{Compaction: &sdk.CompactionResult{
			Summary: "OWN SUMMARY", FirstKeptEntryID: p.FirstKeptEntryID, TokensBefore: p.TokensBefore, Details: sdk.Raw(`{"mine":1}`),
		}}, nil
	case "throw":
		return nil, errors.New("compact hook failed")
	}
	return nil, nil
}

func after(ctx *sdk.Context, e *sdk.SessionCompactEvent) error {
	var entry struct {
		Summary string `json:"summary"`
	}
	if err := json.Unmarshal(e.CompactionEntry, &entry); err != nil {
		return err
	}
	return fixture.Say(ctx, "compacted", struct {
		Keys      []string `json:"keys"`
		From      bool     `json:"from"`
		Reason    string   `json:"reason"`
		WillRetry bool     `json:"willRetry"`
		Summary   string   `json:"summary"`
	}{[]string{"compactionEntry", "fromExtension", "reason", "type", "willRetry"}, e.FromExtension, string(e.Reason), e.WillRetry, entry.Summary})
}

// keys lists the members of a value's JSON object.
func keys(v any) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(fixture.JSON(v)), &members) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(members))
}
