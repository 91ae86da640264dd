// A command for each thing that an extension can do to a session.
package main

import (
	"context"
	"errors"
	"log"

	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		messages(x)
		session(x)
		changes(x)
		others(x)
		sdk.On(x, sdk.SessionStart, func(ctx *sdk.Context, e *sdk.SessionStartEvent) error {
			return ctx.UI.Notify("start "+e.Reason, "")
		})
		sdk.On(x, sdk.SessionShutdown, func(ctx *sdk.Context, e *sdk.SessionShutdownEvent) error {
			return ctx.UI.Notify("shutdown "+e.Reason, "")
		})
	})
}

func messages(x *sdk.Extension) {
	note := func(text string, display bool) sdk.CustomMessage {
		return sdk.CustomMessage{CustomType: "note", Content: sdk.PlainContent(text), Display: display}
	}
	fixture.Command(x, "user", func(ctx *sdk.CommandContext, args string) error {
		if args == "" {
			args = "SAY from command"
		}
		return ctx.SendUserMessage(args)
	})
	fixture.Command(x, "usersteer", func(ctx *sdk.CommandContext, _ string) error {
		return ctx.SendUserMessage("SAY steered by command", sdk.AsSteer())
	})
	fixture.Command(x, "userfollow", func(ctx *sdk.CommandContext, _ string) error {
		return ctx.SendUserMessage("SAY follow by command", sdk.AsFollowUp())
	})
	fixture.Command(x, "userplain", func(ctx *sdk.CommandContext, _ string) error {
		if err := ctx.SendUserMessage("SAY plain"); err != nil {
			return fixture.Say(ctx.Context, "userplain threw", err.Error())
		}
		return fixture.Say(ctx.Context, "userplain", "ok")
	})
	fixture.Command(x, "userslash", func(ctx *sdk.CommandContext, _ string) error { return ctx.SendUserMessage("/tpl x") })
	fixture.Command(x, "msg", func(ctx *sdk.CommandContext, _ string) error {
		m := note("a note", true)
		m.Details = sdk.Raw(`{"d":1}`)
		return ctx.SendMessage(m)
	})
	fixture.Command(x, "msgturn", func(ctx *sdk.CommandContext, _ string) error {
		return ctx.SendMessage(note("SAY turn from note", false), sdk.TriggerTurn())
	})
	fixture.Command(x, "msgnext", func(ctx *sdk.CommandContext, _ string) error {
		return ctx.SendMessage(note("next turn note", true), sdk.AsNextTurn())
	})
	fixture.Command(x, "msgfollow", func(ctx *sdk.CommandContext, _ string) error {
		return ctx.SendMessage(note("SAY followed note", true), sdk.AsFollowUp(), sdk.TriggerTurn())
	})
}

func session(x *sdk.Extension) {
	fixture.Command(x, "entry", func(ctx *sdk.CommandContext, _ string) error {
		if _, err := ctx.Session.AppendEntry("state", map[string]int{"n": 1}); err != nil {
			return err
		}
		_, err := ctx.Session.AppendEntry("bare", nil)
		return err
	})
	fixture.Command(x, "name", func(ctx *sdk.CommandContext, args string) error {
		if err := ctx.Session.SetName(args); err != nil {
			return err
		}
		name, err := ctx.Session.Name()
		return errors.Join(err, fixture.Say(ctx.Context, "name", name))
	})
	fixture.Command(x, "label", func(ctx *sdk.CommandContext, args string) error {
		leaf, err := ctx.Session.Leaf()
		if err != nil {
			return err
		}
		if err := ctx.Session.SetLabel(leaf, args); err != nil {
			return err
		}
		label, err := ctx.Session.Label(leaf)
		return errors.Join(err, fixture.Say(ctx.Context, "label", fixture.Or(label, label != "")))
	})
	fixture.Command(x, "badlabel", func(ctx *sdk.CommandContext, _ string) error { return ctx.Session.SetLabel("ffffffff", "x") })
	fixture.Command(x, "idle", func(ctx *sdk.CommandContext, _ string) error {
		idle, err := ctx.IsIdle()
		if err != nil {
			return err
		}
		if err := fixture.Say(ctx.Context, "idle before", idle); err != nil {
			return err
		}
		if err := ctx.WaitForIdle(); err != nil {
			return err
		}
		idle, err = ctx.IsIdle()
		return errors.Join(err, fixture.Say(ctx.Context, "idle after", idle))
	})
}

func changes(x *sdk.Extension) {
	fixture.Command(x, "newsess", func(ctx *sdk.CommandContext, _ string) error {
		file, err := ctx.Session.File()
		if err != nil {
			return err
		}
		next, err := ctx.NewSession(file)
		if err != nil {
			return err
		}
		if err := next.UI.Notify("in new session", ""); err != nil {
			return err
		}
		return next.SendUserMessage("SAY kick off")
	})
	fixture.Command(x, "newplain", func(ctx *sdk.CommandContext, _ string) error {
		if _, err := ctx.NewSession(""); err != nil {
			return err
		}
		_, err := ctx.Session.Name()
		log.Printf("STALE: %v", err)
		return nil
	})
	fixture.Command(x, "forkat", func(ctx *sdk.CommandContext, args string) error {
		users, err := fixture.Users(ctx.Context)
		if err != nil {
			return err
		}
		id := users[len(users)-1].ID
		var next *sdk.CommandContext
		if args == "at" {
			next, err = ctx.ForkAt(id)
		} else {
			args = "before"
			next, _, err = ctx.Fork(id)
		}
		if err != nil {
			return err
		}
		return next.UI.Notify("forked "+args, "")
	})
	fixture.Command(x, "switchto", func(ctx *sdk.CommandContext, args string) error {
		next, err := ctx.SwitchSession(args)
		if err != nil {
			return err
		}
		return next.UI.Notify("switched", "")
	})
	fixture.Command(x, "shutdown", func(ctx *sdk.CommandContext, _ string) error {
		if err := ctx.Shutdown(); err != nil {
			return err
		}
		return fixture.Say(ctx.Context, "shutdown", "asked")
	})
	fixture.Command(x, "reload", func(ctx *sdk.CommandContext, _ string) error { return ctx.Reload() })
}

func others(x *sdk.Extension) {
	fixture.Command(x, "boom", func(*sdk.CommandContext, string) error { return errors.New("command exploded") })
	fixture.Command(x, "boomstr", func(*sdk.CommandContext, string) error { panic("a string") })
	fixture.Command(x, "ctxabort", func(ctx *sdk.CommandContext, _ string) error { return ctx.Abort() })
	fixture.Command(x, "tools", func(ctx *sdk.CommandContext, _ string) error {
		if err := ctx.Tools.SetActive([]string{"read"}); err != nil {
			return err
		}
		active, err := ctx.Tools.Active()
		return errors.Join(err, fixture.Say(ctx.Context, "tools", active))
	})
	fixture.Command(x, "model", func(ctx *sdk.CommandContext, _ string) error {
		_, err := ctx.Models.Set("mock", "m2")
		if err := fixture.Say(ctx.Context, "model", err == nil); err != nil {
			return err
		}
		if err := ctx.Models.SetThinking("high"); err != nil {
			return err
		}
		level, err := ctx.Models.Thinking()
		return errors.Join(err, fixture.Say(ctx.Context, "level", level))
	})
	fixture.Command(x, "exec", func(ctx *sdk.CommandContext, _ string) error {
		r, err := ctx.Exec("sh", "-c", "echo out; echo err 1>&2; exit 3")
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return fixture.Say(ctx.Context, "exec", struct {
			Stdout string `json:"stdout"`
			Stderr string `json:"stderr"`
			Code   int    `json:"code"`
			Killed bool   `json:"killed"`
		}{r.Stdout, r.Stderr, r.Code, false})
	})
}
