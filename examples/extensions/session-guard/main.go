// Session-guard asks before a session is left for a new one, and refuses to
// fork while the work tree has changes that are not committed.
package main

import (
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

func register(x *sdk.Extension) {
	x.Info("session-guard", "1.0.0")
	sdk.On(x, sdk.SessionBeforeSwitch, confirmSwitch)
	sdk.On(x, sdk.SessionBeforeFork, refuseDirtyFork)
}

func confirmSwitch(ctx *sdk.Context, e *sdk.SessionBeforeSwitchEvent) (*sdk.CancelResult, error) {
	if e.Reason != "new" || !ctx.HasUI() {
		return nil, nil
	}
	messages, err := ctx.Session.Messages()
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	ok, err := ctx.UI.Confirm("Begin a new session?", fmt.Sprintf("The current one has %d messages. It stays in its file.", len(messages)))
	return &sdk.CancelResult{Cancel: !ok}, err
}

func refuseDirtyFork(ctx *sdk.Context, _ *sdk.SessionBeforeForkEvent) (*sdk.CancelResult, error) {
	changes, err := uncommitted(ctx)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	text := fmt.Sprintf("Commit or stash first: %d files have changes, for example %s", len(changes), changes[0])
	return &sdk.CancelResult{Cancel: true}, ctx.UI.Notify(text, sdk.Warning)
}

// uncommitted lists what git status has to say; nothing outside of a git
// repository.
func uncommitted(ctx *sdk.Context) ([]string, error) {
	status, err := ctx.Exec("git", "status", "--porcelain")
	if err != nil {
		return nil, fmt.Errorf("ask git for changes: %w", err)
	}
	if status.Code != 0 {
		return nil, nil
	}
	var files []string
	for _, line := range strings.Split(strings.TrimRight(status.Stdout, "\n"), "\n") {
		if len(line) > 3 {
			files = append(files, line[3:])
		}
	}
	return files, nil
}
