// A command that repeats what it was given.
package main

import "github.com/seed-54e836f5/pi/sdk"

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "hello", Description: "d", Run: func(ctx *sdk.CommandContext, args string) error {
			return ctx.UI.Notify("hello "+args, "")
		}})
	})
}
