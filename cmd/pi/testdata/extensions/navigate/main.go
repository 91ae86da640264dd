// Commands that move in the tree of the session and label entries.
package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "nav", Description: "go to entry", Run: navigate})
		x.Command(sdk.Command{Name: "label", Description: "label leaf", Run: func(ctx *sdk.CommandContext, args string) error {
			leaf, err := ctx.Session.Leaf()
			if err != nil {
				return err
			}
			return ctx.Session.SetLabel(leaf, args)
		}})
	})
}

func navigate(ctx *sdk.CommandContext, args string) error {
	words := append(strings.Split(args, " "), "", "")
	list := fixture.Users
	if words[1] == "assistant" {
		list = fixture.Assistants
	}
	entries, err := list(ctx.Context)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	result, err := ctx.NavigateTree(entries[n].ID, sdk.NavigateOptions{Summarize: words[1] == "sum", Label: words[2]})
	if err != nil && !errors.Is(err, sdk.ErrCancelled) {
		return err
	}
	return fixture.Say(ctx.Context, "nav", map[string]bool{"cancelled": result.Cancelled})
}
