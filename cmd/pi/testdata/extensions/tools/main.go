// Tools of all kinds: with updates, failing, odd, ending the run, asking.
package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

type none struct{}

type stepsInput struct {
	N   float64 `json:"n" jsonschema:"how many"`
	Tag string  `json:"tag,omitempty"`
}

type oddInput struct {
	Kind string `json:"kind"`
}

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.AddTool(x, sdk.Tool{
			Name: "steps", Label: "Steps", Description: "counts", Snippet: "MARK count steps", Guidelines: []string{"MARK Use steps to count."},
			Schema: sdk.Raw(`{"type":"object","required":["n"],"properties":{"n":{"type":"number","description":"how many"},"tag":{"type":"string"}}}`),
		}, steps)
		sdk.AddTool(x, simple("thrower", "T", "throws"), func(*sdk.ToolContext, none) (sdk.ToolOutput, error) {
			return sdk.ToolOutput{}, errors.New("tool exploded")
		})
		sdk.AddTool(x, sdk.Tool{
			Name: "oddball", Label: "O", Description: "odd results",
			Schema: sdk.Raw(`{"type":"object","required":["kind"],"properties":{"kind":{"type":"string"}}}`),
		}, oddball)
		sdk.AddTool(x, simple("finish", "F", "ends the run"), func(*sdk.ToolContext, none) (sdk.ToolOutput, error) {
			out := withDetails("bye", `{}`)
			out.Terminate = true
			return out, nil
		})
		sdk.AddTool(x, simple("asker", "A", "asks"), func(ctx *sdk.ToolContext, _ none) (sdk.ToolOutput, error) {
			choice, ok, err := ctx.UI.Select("Which?", []string{"x", "y"})
			if err != nil {
				return sdk.ToolOutput{}, err
			}
			if !ok {
				choice = "undefined"
			}
			return withDetails("picked "+choice, `{}`), nil
		})
	})
}

func simple(name, label, description string) sdk.Tool {
	return sdk.Tool{Name: name, Label: label, Description: description, Schema: sdk.Raw(`{"type":"object","properties":{}}`)}
}

func withDetails(text, details string) sdk.ToolOutput {
	out := sdk.TextOutput(text)
	out.Details = sdk.Raw(details)
	return out
}

func steps(ctx *sdk.ToolContext, in stepsInput) (sdk.ToolOutput, error) {
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for i := 1; float64(i) <= in.N; i++ {
		details := fixture.JSON(map[string]int{"i": i})
		if err := ctx.Update(withDetails(fmt.Sprintf("step %d", i), details)); err != nil {
			return sdk.ToolOutput{}, err
		}
		select {
		case <-ctx.Done():
			return withDetails("cancelled", details), nil
		case <-tick.C:
		}
	}
	return withDetails(fmt.Sprintf("did %v", in.N), fixture.JSON(map[string]float64{"total": in.N})), nil
}

func oddball(_ *sdk.ToolContext, in oddInput) (sdk.ToolOutput, error) {
	switch in.Kind {
	case "undef":
		return sdk.ToolOutput{}, errors.New("the tool gave no result")
	case "nocontent":
		return sdk.ToolOutput{Details: sdk.Raw(`{}`)}, nil
	case "empty":
		return sdk.ToolOutput{Content: []sdk.Block{}}, nil
	case "image":
		return sdk.ToolOutput{Content: []sdk.Block{sdk.Image("IMG", "image/png")}, Details: sdk.Raw(`{}`)}, nil
	case "usage":
		out := withDetails("u", `{}`)
		out.Usage = &sdk.Usage{Input: 7, Output: 3, TotalTokens: 10}
		out.Usage.Cost.Input, out.Usage.Cost.Output, out.Usage.Cost.Total = 0.1, 0.2, 0.3
		return out, nil
	}
	return sdk.TextOutput("just a string"), nil
}
