// A command that writes to stderr.
package main

import (
	"fmt"
	"os"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "hello", Run: func(_ *sdk.CommandContext, args string) error {
			fmt.Fprintln(os.Stderr, "HELLO "+args)
			return nil
		}})
	})
}
