// Two commands, one of them without a description.
package main

import (
	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "hello", Description: "Say hello", Run: func(ctx *sdk.CommandContext, args string) error {
			return fixture.Say(ctx.Context, "hello", args)
		}})
		x.Command(sdk.Command{Name: "bare", Run: func(*sdk.CommandContext, string) error { return nil }})
	})
}
