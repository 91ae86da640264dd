// The second of two extensions with the same hooks: it shows what it sees.
package main

import (
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.On(x, sdk.ToolCall, func(ctx *sdk.Context, _ *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
			return nil, ctx.UI.Notify("b tool_call", "")
		})
		sdk.On(x, sdk.ToolResult, func(ctx *sdk.Context, _ *sdk.ToolResultEvent) (*sdk.ToolResultPatch, error) {
			return nil, ctx.UI.Notify("b tool_result", "")
		})
		sdk.On(x, sdk.Input, func(ctx *sdk.Context, _ *sdk.InputEvent) (*sdk.InputResult, error) {
			return nil, ctx.UI.Notify("b input", "")
		})
		sdk.On(x, sdk.BeforeAgentStart, func(ctx *sdk.Context, e *sdk.BeforeAgentStartEvent) (*sdk.BeforeAgentStartResult, error) {
			return nil, ctx.UI.Notify(fmt.Sprintf("b before_agent_start %t", strings.Contains(e.SystemPrompt, "FROM-A")), "")
		})
	})
}
