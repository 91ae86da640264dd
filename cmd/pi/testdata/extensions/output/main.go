// Prints where programs print.
package main

import (
	"fmt"
	"os"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		fmt.Fprintln(os.Stdout, "LOADED")
		x.Command(sdk.Command{Name: "out", Run: func(*sdk.CommandContext, string) error {
			fmt.Fprintln(os.Stdout, "to log")
			fmt.Fprintln(os.Stderr, "to err")
			_, err := os.Stdout.WriteString("raw write\n")
			return err
		}})
	})
}
