// Git-checkpoint remembers the state of the work tree before each turn of the
// model, so that a fork of the conversation can bring the files back too:
// /checkpoint lists them, /checkpoint ID restores one.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

// entryType marks our entries in the session.
const entryType = "example-git-checkpoint"

// Checkpoint is one remembered state.
type Checkpoint struct {
	Commit string `json:"commit"` // of a stash that is in no list
	Turn   int    `json:"turn"`
}

func register(x *sdk.Extension) {
	x.Info("git-checkpoint", "1.0.0")
	sdk.On(x, sdk.TurnStart, remember)
	x.Command(sdk.Command{Name: "checkpoint", Description: "List checkpoints of the files, or restore one", Run: command})
}

// remember makes a stash commit that git lists nowhere: nothing in the work
// tree or in the user's stash changes.
func remember(ctx *sdk.Context, e *sdk.TurnStartEvent) error {
	made, err := ctx.Exec("git", "stash", "create", "pi checkpoint")
	if err != nil {
		return fmt.Errorf("make a checkpoint: %w", err)
	}
	commit := strings.TrimSpace(made.Stdout)
	if made.Code != 0 || commit == "" {
		return nil // no repository, or nothing has changed
	}
	_, err = ctx.Session.AppendEntry(entryType, Checkpoint{Commit: commit, Turn: e.TurnIndex})
	return err
}

func command(ctx *sdk.CommandContext, args string) error {
	list, err := checkpoints(ctx.Context)
	if err != nil {
		return err
	}
	if args == "" {
		return ctx.UI.Notify(describe(list), sdk.Info)
	}
	for _, c := range list {
		if strings.HasPrefix(c.Commit, args) {
			return restore(ctx, c)
		}
	}
	return fmt.Errorf("there is no checkpoint %s on this branch of the session", args)
}

func restore(ctx *sdk.CommandContext, c Checkpoint) error {
	ok, err := ctx.UI.Confirm("Restore the files?", "Files of the checkpoint take the place of those in the work tree.")
	if err != nil || !ok {
		return err
	}
	done, err := ctx.Exec("git", "checkout", c.Commit, "--", ".")
	if err != nil {
		return fmt.Errorf("restore checkpoint %s: %w", c.Commit, err)
	}
	if done.Code != 0 {
		return fmt.Errorf("restore checkpoint %s: git said: %s", c.Commit, strings.TrimSpace(done.Stderr))
	}
	return ctx.UI.Notify("Restored "+c.Commit[:8], sdk.Info)
}

// checkpoints lists those of the current branch of the session.
func checkpoints(ctx *sdk.Context) ([]Checkpoint, error) {
	entries, err := ctx.Session.Branch()
	if err != nil {
		return nil, err
	}
	var list []Checkpoint
	for _, e := range entries {
		if e.CustomType != entryType {
			continue
		}
		var c Checkpoint
		if err := json.Unmarshal(e.Data, &c); err != nil {
			return nil, fmt.Errorf("read the checkpoint of entry %s: %w", e.ID, err)
		}
		list = append(list, c)
	}
	return list, nil
}

func describe(list []Checkpoint) string {
	if len(list) == 0 {
		return "No checkpoints yet"
	}
	var out strings.Builder
	for _, c := range list {
		fmt.Fprintf(&out, "%s before turn %d\n", c.Commit[:8], c.Turn+1)
	}
	return out.String()
}
