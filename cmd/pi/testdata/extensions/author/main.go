// What an author does beyond the recordings: commands that complete their
// arguments, and a session that begins with something in it.
package main

import (
	"fmt"
	"os"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "deploy", Run: func(*sdk.CommandContext, string) error { return nil }, Suggest: places})
		x.Command(sdk.Command{Name: "handover", Run: handover})
		sdk.On(x, sdk.SessionStart, func(ctx *sdk.Context, e *sdk.SessionStartEvent) error {
			name, err := ctx.Session.Name()
			if err != nil {
				return err
			}
			messages, err := ctx.Session.Messages()
			if err != nil {
				return err
			}
			return ctx.UI.Notify(fmt.Sprintf("start %s: %q with %d messages", e.Reason, name, len(messages)), sdk.Info)
		})
	})
}

func places(_ *sdk.Context, prefix string) ([]sdk.Completion, error) {
	switch prefix {
	case "hang":
		select {}
	case "die":
		fmt.Fprintln(os.Stderr, "no places left")
		os.Exit(3)
	}
	return []sdk.Completion{{Value: prefix + "aging", Label: "Staging", Description: "for tests"}, {Value: prefix}}, nil
}

func handover(ctx *sdk.CommandContext, args string) error {
	file, err := ctx.Session.File()
	if err != nil {
		return err
	}
	next, err := ctx.NewSession(file, sdk.SetupName("handed over"),
		sdk.SetupMessage(&sdk.User{Content: sdk.PlainContent("what matters: " + args), Timestamp: 1}),
		sdk.SetupCustomMessage(sdk.CustomMessage{CustomType: "note", Content: sdk.PlainContent("a note")}),
		sdk.SetupEntry("state", map[string]int{"n": 1}))
	if err != nil {
		return err
	}
	return next.UI.Notify("handed over", sdk.Info)
}
