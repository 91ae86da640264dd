// Takes its time at the end of a session: a moment, or for good where the
// working folder has a file named stuck.
package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.On(x, sdk.SessionShutdown, func(ctx *sdk.Context, _ *sdk.SessionShutdownEvent) error {
			if err := ctx.UI.Notify("ending", ""); err != nil {
				return err
			}
			if _, err := os.Stat(filepath.Join(ctx.Cwd(), "stuck")); err == nil {
				<-time.After(time.Minute)
			}
			<-time.After(300 * time.Millisecond)
			return os.WriteFile(filepath.Join(ctx.Cwd(), "ended"), nil, 0o600)
		})
	})
}
