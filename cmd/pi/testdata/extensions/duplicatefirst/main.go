// A command that another extension has too, and one that a template has.
package main

import "github.com/seed-54e836f5/pi/sdk"

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "dup", Description: "first", Run: func(ctx *sdk.CommandContext, _ string) error {
			return ctx.UI.Notify("first", "")
		}})
		x.Command(sdk.Command{Name: "plain", Run: func(ctx *sdk.CommandContext, _ string) error {
			return ctx.UI.Notify("ext plain", "")
		}})
	})
}
