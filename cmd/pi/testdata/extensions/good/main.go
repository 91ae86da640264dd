// A command that does nothing, beside extensions that are broken.
package main

import "github.com/seed-54e836f5/pi/sdk"

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "good", Run: func(*sdk.CommandContext, string) error { return nil }})
	})
}
