// A command of an extension that is named on the command line.
package main

import "github.com/seed-54e836f5/pi/sdk"

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "xcmd", Run: func(*sdk.CommandContext, string) error { return nil }})
	})
}
