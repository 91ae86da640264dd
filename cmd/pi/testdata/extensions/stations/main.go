// Stations is an extension that writes down where sessions start and end that
// it sees, into the file STATIONS, with its own name STATION. It has a command
// and a tool of that name, the command for a session to go to, and lets no session be switched while the file VETO
// is there.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		name := os.Getenv("STATION")
		x.Info(name, "1")
		x.Command(sdk.Command{Name: name, Description: "d", Run: travel})
		sdk.AddTool(x, sdk.Tool{Name: name, Description: "d"}, func(*sdk.ToolContext, struct{}) (string, error) { return name, nil })
		sdk.On(x, sdk.SessionStart, func(ctx *sdk.Context, e *sdk.SessionStartEvent) error {
			return note("%s start %s in %s, trusted %v", name, e.Reason, filepath.Base(ctx.Cwd()), ctx.ProjectTrusted())
		})
		sdk.On(x, sdk.SessionShutdown, func(ctx *sdk.Context, e *sdk.SessionShutdownEvent) error {
			return note("%s shutdown %s in %s", name, e.Reason, filepath.Base(ctx.Cwd()))
		})
		sdk.On(x, sdk.SessionBeforeSwitch, func(*sdk.Context, *sdk.SessionBeforeSwitchEvent) (*sdk.CancelResult, error) {
			_, err := os.Stat(os.Getenv("VETO"))
			return &sdk.CancelResult{Cancel: err == nil}, nil
		})
	})
}

// travel switches to the session of a file, and adds a command and a tool there.
func travel(ctx *sdk.CommandContext, file string) error {
	there, err := ctx.SwitchSession(file)
	if err != nil {
		return err
	}
	return there.Extend(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "late", Run: func(*sdk.CommandContext, string) error { return nil }})
		sdk.AddTool(x, sdk.Tool{Name: "late", Description: "d"}, func(*sdk.ToolContext, struct{}) (string, error) { return "late", nil })
	})
}

func note(format string, args ...any) error {
	f, err := os.OpenFile(os.Getenv("STATIONS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, format+"\n", args...); err != nil {
		return err
	}
	return f.Close()
}
