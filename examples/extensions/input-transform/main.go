// Input-transform changes what the user says before the model sees it: ?text
// asks for a short answer, ping is answered without a model, and @today stands
// for the date.
package main

import (
	"strings"
	"time"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

func register(x *sdk.Extension) {
	x.Info("input-transform", "1.0.0")
	sdk.On(x, sdk.Input, transform(time.Now))
}

func transform(now func() time.Time) func(*sdk.Context, *sdk.InputEvent) (*sdk.InputResult, error) {
	return func(ctx *sdk.Context, e *sdk.InputEvent) (*sdk.InputResult, error) {
		if strings.TrimSpace(e.Text) == "ping" {
			return &sdk.InputResult{Action: "handled"}, ctx.UI.Notify("pong", sdk.Info)
		}
		text := strings.ReplaceAll(e.Text, "@today", now().Format(time.DateOnly))
		if question, ok := strings.CutPrefix(text, "?"); ok {
			text = "Answer in one sentence: " + strings.TrimSpace(question)
		}
		if text == e.Text {
			return nil, nil
		}
		return &sdk.InputResult{Action: "transform", Text: text}, nil
	}
}
