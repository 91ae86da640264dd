// Status-line shows which turn the model is in, with which model, and how full
// its context is.
package main

import (
	"fmt"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

const key = "status-line"

func register(x *sdk.Extension) {
	x.Info("status-line", "1.0.0")
	sdk.On(x, sdk.TurnStart, func(ctx *sdk.Context, e *sdk.TurnStartEvent) error {
		return show(ctx, fmt.Sprintf("turn %d", e.TurnIndex+1))
	})
	sdk.On(x, sdk.AgentSettled, func(ctx *sdk.Context, _ *sdk.AgentSettledEvent) error { return show(ctx, "ready") })
	sdk.On(x, sdk.SessionStart, func(ctx *sdk.Context, _ *sdk.SessionStartEvent) error { return show(ctx, "ready") })
	sdk.On(x, sdk.SessionShutdown, func(ctx *sdk.Context, _ *sdk.SessionShutdownEvent) error {
		return ctx.UI.SetStatus(key, "")
	})
}

func show(ctx *sdk.Context, what string) error {
	state, err := ctx.State()
	if err != nil {
		return err
	}
	if state.Model != nil {
		what += " · " + state.Model.Name
	}
	if usage := state.ContextUsage; usage != nil && usage.Percent != nil {
		what += fmt.Sprintf(" · %.0f%%", *usage.Percent)
	}
	return ctx.UI.SetStatus(key, what)
}
