// Event-bus-listener hears from event-bus-sender how many tools a run used,
// and shows it. Neither knows the other: they share a topic.
package main

import (
	"fmt"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

// Topic is what the two ends have agreed on.
const Topic = "example.run-finished"

// Finished is what comes.
type Finished struct {
	Tools int64 `json:"tools"`
}

func register(x *sdk.Extension) {
	x.Info("event-bus-listener", "1.0.0")
	sdk.Subscribe(x, Topic, func(ctx *sdk.Context, m sdk.BusMessage, f Finished) error {
		return ctx.UI.SetStatus("tools", fmt.Sprintf("%d tools in the last run, says %s", f.Tools, m.From))
	})
}
