// A hook that asks where nobody can answer, and breaks.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.On(x, sdk.AgentStart, func(ctx *sdk.Context, _ *sdk.AgentStartEvent) error {
			if err := ctx.UI.Notify("n", ""); err != nil {
				return err
			}
			ok, err := ctx.UI.Confirm("a", "b")
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "CONFIRM", ok, ctx.Mode(), ctx.HasUI())
			return errors.New("hook broke")
		})
	})
}
