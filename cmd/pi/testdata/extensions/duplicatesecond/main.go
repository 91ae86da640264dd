// A command that another extension has too.
package main

import "github.com/seed-54e836f5/pi/sdk"

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "dup", Description: "second", Run: func(ctx *sdk.CommandContext, _ string) error {
			return ctx.UI.Notify("second", "")
		}})
	})
}
