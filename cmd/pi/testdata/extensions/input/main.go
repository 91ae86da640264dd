// A hook that handles, rewrites and breaks what the user says.
package main

import (
	"errors"
	"strings"

	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) { sdk.On(x, sdk.Input, input) })
}

func input(ctx *sdk.Context, e *sdk.InputEvent) (*sdk.InputResult, error) {
	switch {
	case strings.HasPrefix(e.Text, "ping"):
		said := struct {
			Source string `json:"source"`
			SB     string `json:"sb"`
			Images any    `json:"images"`
		}{e.Source, fixture.Or(e.StreamingBehavior, e.StreamingBehavior != ""), fixture.Undefined}
		if e.Images != nil {
			said.Images = len(e.Images)
		}
		return &sdk.InputResult{Action: "handled"}, fixture.Say(ctx, "pong", said)
	case strings.HasPrefix(e.Text, "?say "):
		return &sdk.InputResult{Action: "transform", Text: "SAY transformed " + e.Text[len("?say "):]}, nil
	case strings.HasPrefix(e.Text, "?tpl"):
		return &sdk.InputResult{Action: "transform", Text: "/plain x"}, nil
	case strings.HasPrefix(e.Text, "?throw"):
		return nil, errors.New("input hook broke")
	}
	return &sdk.InputResult{Action: "continue"}, nil
}
