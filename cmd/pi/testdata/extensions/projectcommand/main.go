// A command that a project brings along.
package main

import "github.com/seed-54e836f5/pi/sdk"

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "projcmd", Description: "p", Run: func(ctx *sdk.CommandContext, _ string) error {
			return ctx.UI.Notify("proj", "")
		}})
	})
}
