// Event-bus-sender tells other extensions how many tools each run used, over
// the bus between extensions. See event-bus-listener for the other end.
package main

import (
	"sync/atomic"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

// Topic is what the two ends have agreed on.
const Topic = "example.run-finished"

// Finished is what is sent.
type Finished struct {
	Tools int64 `json:"tools"`
}

func register(x *sdk.Extension) {
	x.Info("event-bus-sender", "1.0.0")
	var tools atomic.Int64
	sdk.On(x, sdk.ToolExecutionEnd, func(*sdk.Context, *sdk.ToolExecutionEndEvent) error {
		tools.Add(1)
		return nil
	})
	sdk.On(x, sdk.AgentSettled, func(ctx *sdk.Context, _ *sdk.AgentSettledEvent) error {
		return ctx.Publish(Topic, Finished{Tools: tools.Swap(0)})
	})
}
