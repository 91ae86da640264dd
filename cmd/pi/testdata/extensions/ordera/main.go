// The first of two extensions with the same hooks: it changes and blocks.
package main

import "github.com/seed-54e836f5/pi/sdk"

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.On(x, sdk.ToolCall, func(ctx *sdk.Context, _ *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
			return &sdk.ToolCallResult{Block: true, Reason: "a blocked"}, ctx.UI.Notify("a tool_call", "")
		})
		sdk.On(x, sdk.ToolResult, func(ctx *sdk.Context, _ *sdk.ToolResultEvent) (*sdk.ToolResultPatch, error) {
			return nil, ctx.UI.Notify("a tool_result", "")
		})
		sdk.On(x, sdk.Input, func(ctx *sdk.Context, _ *sdk.InputEvent) (*sdk.InputResult, error) {
			return nil, ctx.UI.Notify("a input", "")
		})
		sdk.On(x, sdk.BeforeAgentStart, func(ctx *sdk.Context, e *sdk.BeforeAgentStartEvent) (*sdk.BeforeAgentStartResult, error) {
			prompt := e.SystemPrompt + "FROM-A MARK"
			return &sdk.BeforeAgentStartResult{SystemPrompt: &prompt}, ctx.UI.Notify("a before_agent_start", "")
		})
	})
}
