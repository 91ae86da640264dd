// Every notice, the calls that need a terminal, and what a context tells.
package main

import (
	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "ff", Description: "fire and forget", Run: notices})
		x.Command(sdk.Command{Name: "degraded", Description: "d", Run: degraded})
		x.Command(sdk.Command{Name: "ctxinfo", Description: "d", Run: contextInfo})
	})
}

func notices(ctx *sdk.CommandContext, _ string) error {
	u := ctx.UI
	for _, tell := range []func() error{
		func() error { return u.Notify("plain", "") },
		func() error { return u.Notify("warn", sdk.Warning) },
		func() error { return u.Notify("err", sdk.Error) },
		func() error { return u.SetStatus("k", "busy") },
		func() error { return u.SetStatus("k", "") },
		func() error { return u.SetWidget("w", []string{"l1", "l2"}, "") },
		func() error { return u.SetWidget("w", []string{"l1"}, sdk.BelowEditor) },
		func() error { return u.SetWidget("w", nil, "") },
		func() error { return u.SetTitle("my title") },
		func() error { return u.SetEditorText("edit me") },
		func() error { return u.PasteToEditor("pasted") },
	} {
		if err := tell(); err != nil {
			return err
		}
	}
	return nil
}

// degraded calls what only a terminal can do.
func degraded(ctx *sdk.CommandContext, _ string) error {
	u := ctx.UI
	u.SetWorkingMessage("x")
	u.SetFooter([]string{"x"})
	u.SetHeader([]string{"x"})
	theme := fixture.Undefined
	if err := u.SetTheme("dark"); err != nil {
		theme = "refused"
	}
	return ctx.UI.Notify(fixture.JSON(struct {
		EditorText string   `json:"getEditorText"`
		Themes     []string `json:"getAllThemes"`
		SetTheme   string   `json:"setTheme"`
	}{u.EditorText(), append([]string{}, u.Themes()...), theme}), "")
}

func contextInfo(ctx *sdk.CommandContext, _ string) error {
	state, err := ctx.State()
	if err != nil {
		return err
	}
	active, err := ctx.Tools.Active()
	if err != nil {
		return err
	}
	all, err := ctx.Tools.All()
	if err != nil {
		return err
	}
	commands, err := ctx.Commands()
	if err != nil {
		return err
	}
	info := struct {
		Mode    string            `json:"mode"`
		HasUI   bool              `json:"hasUI"`
		Idle    bool              `json:"idle"`
		Pending bool              `json:"pending"`
		Model   string            `json:"model"`
		Level   sdk.ThinkingLevel `json:"level"`
		Usage   *sdk.ContextUsage `json:"usage"`
		Trusted bool              `json:"trusted"`
		Active  []string          `json:"active"`
		All     []string          `json:"all"`
		Cmds    [][2]string       `json:"cmds"`
		Name    string            `json:"name"`
	}{
		Mode: ctx.Mode(), HasUI: ctx.HasUI(), Idle: state.IsIdle, Pending: state.HasPendingMessages, Level: state.ThinkingLevel,
		Usage: state.ContextUsage, Trusted: ctx.ProjectTrusted(), Active: active, Name: fixture.Or(state.SessionName, state.SessionName != ""),
	}
	if state.Model != nil {
		info.Model = state.Model.ID
	}
	for _, t := range all {
		info.All = append(info.All, t.Name)
	}
	for _, c := range commands {
		info.Cmds = append(info.Cmds, [2]string{c.Name, c.Source})
	}
	return ctx.UI.Notify(fixture.JSON(info), "")
}
