// A command for each dialog, that shows what came back.
package main

import (
	"context"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

const short = 400 * time.Millisecond

func main() {
	sdk.Main(func(x *sdk.Extension) {
		texts(x, "select", func(u *sdk.UI) (string, bool, error) { return u.Select("Pick", []string{"A", "B", "C"}) })
		confirms(x, "confirm", func(u *sdk.UI) (bool, error) { return u.Confirm("Sure?", "Really do it") })
		texts(x, "input", func(u *sdk.UI) (string, bool, error) { return u.Input("Name", "type here") })
		texts(x, "input0", func(u *sdk.UI) (string, bool, error) { return u.Input("Name", "") })
		texts(x, "editor", func(u *sdk.UI) (string, bool, error) { return u.Editor("Edit", "line 1\nline 2") })
		texts(x, "editor0", func(u *sdk.UI) (string, bool, error) { return u.Editor("Edit", "") })
		texts(x, "tselect", func(u *sdk.UI) (string, bool, error) {
			return u.Select("Pick", []string{"A", "B"}, sdk.Timeout(short))
		})
		confirms(x, "tconfirm", func(u *sdk.UI) (bool, error) { return u.Confirm("Sure?", "m", sdk.Timeout(short)) })
		texts(x, "tinput", func(u *sdk.UI) (string, bool, error) { return u.Input("Name", "p", sdk.Timeout(short)) })
		fixture.Command(x, "aselect", withdrawn)
		fixture.Command(x, "aborted", neverShown)
		fixture.Command(x, "both", both)
	})
}

func texts(x *sdk.Extension, name string, ask func(*sdk.UI) (string, bool, error)) {
	fixture.Command(x, name, func(ctx *sdk.CommandContext, _ string) error {
		text, ok, err := ask(ctx.UI)
		if err != nil {
			return err
		}
		return fixture.Say(ctx.Context, name+" ->", fixture.Or(text, ok))
	})
}

func confirms(x *sdk.Extension, name string, ask func(*sdk.UI) (bool, error)) {
	fixture.Command(x, name, func(ctx *sdk.CommandContext, _ string) error {
		ok, err := ask(ctx.UI)
		if err != nil {
			return err
		}
		return fixture.Say(ctx.Context, name+" ->", ok)
	})
}

// withdrawn takes its dialog back after a while.
func withdrawn(ctx *sdk.CommandContext, _ string) error {
	brief, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	text, ok, err := ctx.Within(brief).UI.Select("Pick", []string{"A"})
	if err != nil && brief.Err() == nil {
		return err
	}
	return fixture.Say(ctx.Context, "aselect ->", fixture.Or(text, ok))
}

// neverShown asks with a context that has ended.
func neverShown(ctx *sdk.CommandContext, _ string) error {
	over, cancel := context.WithCancel(ctx)
	cancel()
	ok, _ := ctx.Within(over).UI.Confirm("Pick", "m")
	return fixture.Say(ctx.Context, "aborted ->", ok)
}

func both(ctx *sdk.CommandContext, _ string) error {
	var asked sync.WaitGroup
	var first bool
	var second string
	var errs [2]error
	asked.Go(func() { first, errs[0] = ctx.UI.Confirm("one", "1") })
	asked.Go(func() {
		<-time.After(100 * time.Millisecond) // the recording has the other one first
		var ok bool
		second, ok, errs[1] = ctx.UI.Select("two", []string{"x", "y"})
		second = fixture.Or(second, ok)
	})
	asked.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return fixture.Say(ctx.Context, "both ->", []any{first, second})
}
