// Dialogs in hooks: at the start, before a run, after a turn.
package main

import (
	"fmt"

	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.On(x, sdk.SessionStart, func(ctx *sdk.Context, e *sdk.SessionStartEvent) error {
			ok, err := ctx.UI.Confirm("Start?", e.Reason)
			if err != nil {
				return err
			}
			return ctx.UI.Notify(fmt.Sprintf("start answered %t", ok), "")
		})
		sdk.On(x, sdk.BeforeAgentStart, func(ctx *sdk.Context, e *sdk.BeforeAgentStartEvent) (*sdk.BeforeAgentStartResult, error) {
			text, ok, err := ctx.UI.Input("Before run", e.Prompt)
			if err != nil {
				return nil, err
			}
			return nil, ctx.UI.Notify("run answered "+fixture.Or(text, ok), "")
		})
		sdk.On(x, sdk.TurnEnd, func(ctx *sdk.Context, _ *sdk.TurnEndEvent) error {
			text, ok, err := ctx.UI.Select("Turn", []string{"go", "stop"})
			if err != nil {
				return err
			}
			return ctx.UI.Notify("turn answered "+fixture.Or(text, ok), "")
		})
	})
}
