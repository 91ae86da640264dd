// Rpc-demo shows every dialog and every notice, for people who write a client:
// /demo goes through all of them, /demo select shows one.
package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

// steps are what there is to show, in the order of the tour.
var steps = []struct {
	name string
	show func(*sdk.CommandContext) error
}{
	{"select", showSelect},
	{"confirm", showConfirm},
	{"input", showInput},
	{"editor", showEditor},
	{"timeout", showTimeout},
	{"notify", showNotify},
	{"status", showStatus},
	{"widget", showWidget},
	{"title", func(ctx *sdk.CommandContext) error { return ctx.UI.SetTitle("pi: " + ctx.Cwd()) }},
	{"prefill", func(ctx *sdk.CommandContext) error { return ctx.UI.SetEditorText("Text that waits to be sent") }},
}

func register(x *sdk.Extension) {
	x.Info("rpc-demo", "1.0.0")
	x.Command(sdk.Command{Name: "demo", Description: "Show dialogs and notices", Run: tour, Complete: complete})
}

func tour(ctx *sdk.CommandContext, args string) error {
	for _, step := range steps {
		if args != "" && args != step.name {
			continue
		}
		if err := step.show(ctx); err != nil {
			return fmt.Errorf("show %s: %w", step.name, err)
		}
		if args != "" {
			return nil
		}
	}
	if args != "" {
		return fmt.Errorf("there is nothing named %q to show", args)
	}
	return nil
}

func complete(_ *sdk.Context, prefix string) ([]string, error) {
	var names []string
	for _, step := range steps {
		if strings.HasPrefix(step.name, prefix) {
			names = append(names, step.name)
		}
	}
	return names, nil
}

func showSelect(ctx *sdk.CommandContext) error {
	choice, ok, err := ctx.UI.Select("Which colour?", []string{"Red", "Green", "Blue"})
	return tell(ctx, "colour", choice, ok, err)
}

func showConfirm(ctx *sdk.CommandContext) error {
	ok, err := ctx.UI.Confirm("Go on?", "There is more to see.")
	if err != nil {
		return err
	}
	return ctx.UI.Notify(fmt.Sprintf("go on: %t", ok), sdk.Info)
}

func showInput(ctx *sdk.CommandContext) error {
	name, ok, err := ctx.UI.Input("Name of the branch", "feature/...")
	return tell(ctx, "branch", name, ok, err)
}

func showEditor(ctx *sdk.CommandContext) error {
	text, ok, err := ctx.UI.Editor("Commit message", "Say why\n")
	return tell(ctx, "message", text, ok, err)
}

func showTimeout(ctx *sdk.CommandContext) error {
	choice, ok, err := ctx.UI.Select("Quick!", []string{"Now"}, sdk.Timeout(5*time.Second))
	return tell(ctx, "quick", choice, ok, err)
}

func tell(ctx *sdk.CommandContext, what, value string, ok bool, err error) error {
	if err != nil {
		return err
	}
	if !ok {
		value = "(dismissed)"
	}
	return ctx.UI.Notify(what+": "+value, sdk.Info)
}

func showNotify(ctx *sdk.CommandContext) error {
	for _, kind := range []sdk.NotifyType{sdk.Info, sdk.Warning, sdk.Error} {
		if err := ctx.UI.Notify("A notice of type "+string(kind), kind); err != nil {
			return err
		}
	}
	return nil
}

func showStatus(ctx *sdk.CommandContext) error {
	if err := ctx.UI.SetStatus("rpc-demo", "the demo is running"); err != nil {
		return err
	}
	return ctx.UI.SetStatus("rpc-demo", "")
}

func showWidget(ctx *sdk.CommandContext) error {
	if err := ctx.UI.SetWidget("rpc-demo", []string{"A widget", "of two lines"}, sdk.BelowEditor); err != nil {
		return err
	}
	return ctx.UI.SetWidget("rpc-demo", nil, "")
}
