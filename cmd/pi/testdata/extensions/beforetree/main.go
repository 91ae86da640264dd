// Hooks that cancel and replace the summary of a branch.
package main

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.On(x, sdk.SessionBeforeTree, before)
		sdk.On(x, sdk.SessionTree, func(ctx *sdk.Context, e *sdk.SessionTreeEvent) error {
			said := struct {
				Keys       []string `json:"keys"`
				From       *bool    `json:"from,omitempty"`
				HasSummary bool     `json:"hasSummary"`
			}{Keys: []string{"fromExtension", "newLeafId", "oldLeafId", "summaryEntry", "type"}, HasSummary: e.SummaryEntry != nil}
			if said.HasSummary {
				said.From = &e.FromExtension
			}
			return fixture.Say(ctx, "tree", said)
		})
		x.Command(sdk.Command{Name: "go", Run: func(ctx *sdk.CommandContext, args string) error {
			users, err := fixture.Users(ctx.Context)
			if err != nil {
				return err
			}
			return navigate(ctx, users[0].ID, sdk.NavigateOptions{Summarize: args != "", Instructions: args})
		}})
		x.Command(sdk.Command{Name: "bad", Run: func(ctx *sdk.CommandContext, _ string) error {
			return navigate(ctx, "ffffffff", sdk.NavigateOptions{})
		}})
	})
}

func navigate(ctx *sdk.CommandContext, id string, o sdk.NavigateOptions) error {
	result, err := ctx.NavigateTree(id, o)
	if err != nil && !errors.Is(err, sdk.ErrCancelled) {
		return err
	}
	return fixture.Say(ctx.Context, "result", map[string]bool{"cancelled": result.Cancelled})
}

func before(ctx *sdk.Context, e *sdk.SessionBeforeTreeEvent) (*sdk.SessionBeforeTreeResult, error) {
	var preparation map[string]json.RawMessage
	if err := json.Unmarshal(e.Preparation, &preparation); err != nil {
		return nil, err
	}
	err := fixture.Say(ctx, "before_tree", struct {
		Keys []string `json:"keys"`
		Prep []string `json:"prep"`
	}{[]string{"preparation", "signal", "type"}, slices.Sorted(maps.Keys(preparation))})
	if err != nil {
		return nil, err
	}
	switch string(preparation["customInstructions"]) {
	case `"cancel"`:
		return &sdk.SessionBeforeTreeResult{Cancel: true}, nil
	case `"own"`:
		return &sdk.SessionBeforeTreeResult{Summary: &sdk.TreeSummary{Summary: "OWN BRANCH SUMMARY", Details: sdk.Raw(`{"d":1}`)}}, nil
	}
	return nil, nil
}
