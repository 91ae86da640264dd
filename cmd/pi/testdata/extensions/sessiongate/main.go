// Vetoes of changes of session, until they are allowed.
package main

import (
	"sync/atomic"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		var switchOK, forkOK atomic.Bool
		x.Command(sdk.Command{Name: "allow", Description: "d", Run: func(_ *sdk.CommandContext, args string) error {
			switch args {
			case "switch":
				switchOK.Store(true)
			case "fork":
				forkOK.Store(true)
			}
			return nil
		}})
		sdk.On(x, sdk.SessionBeforeSwitch, func(*sdk.Context, *sdk.SessionBeforeSwitchEvent) (*sdk.CancelResult, error) {
			return &sdk.CancelResult{Cancel: !switchOK.Load()}, nil
		})
		sdk.On(x, sdk.SessionBeforeFork, func(*sdk.Context, *sdk.SessionBeforeForkEvent) (*sdk.CancelResult, error) {
			return &sdk.CancelResult{Cancel: !forkOK.Load()}, nil
		})
	})
}
