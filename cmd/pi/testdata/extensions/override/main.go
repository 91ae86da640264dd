// A tool in the place of a built-in one, and one that comes later.
package main

import "github.com/seed-54e836f5/pi/sdk"

type readInput struct {
	Path string `json:"path"`
}

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.AddTool(x, sdk.Tool{
			Name: "read", Label: "read", Description: "my read",
			Schema: sdk.Raw(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}`),
		}, func(_ *sdk.ToolContext, in readInput) (sdk.ToolOutput, error) {
			return output("my read of " + in.Path), nil
		})
		x.Command(sdk.Command{Name: "later", Run: func(ctx *sdk.CommandContext, _ string) error { return ctx.Extend(later) }})
	})
}

func later(x *sdk.Extension) {
	sdk.AddTool(x, sdk.Tool{Name: "late", Label: "late", Description: "late", Schema: sdk.Raw(`{"type":"object","properties":{}}`)},
		func(*sdk.ToolContext, struct{}) (sdk.ToolOutput, error) { return output("late ran"), nil })
}

func output(text string) sdk.ToolOutput {
	out := sdk.TextOutput(text)
	out.Details = sdk.Raw(`{}`)
	return out
}
