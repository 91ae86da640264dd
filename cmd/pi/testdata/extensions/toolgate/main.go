// A gate in front of tools: it blocks, asks, changes and breaks.
package main

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) { sdk.On(x, sdk.ToolCall, gate) })
}

func gate(ctx *sdk.Context, e *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
	var in struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(e.Input, &in); err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(in.Command, "blockme"):
		return &sdk.ToolCallResult{Block: true, Reason: "not allowed here"}, nil
	case strings.Contains(in.Command, "blockbare"):
		return &sdk.ToolCallResult{Block: true}, nil
	case strings.Contains(in.Command, "askme"):
		ok, err := ctx.UI.Confirm("Run?", in.Command)
		if err != nil {
			return nil, err
		}
		if !ok {
			return &sdk.ToolCallResult{Block: true, Reason: "user said no"}, nil
		}
	case strings.Contains(in.Command, "mutate"):
		return &sdk.ToolCallResult{Input: sdk.Raw(`{"command":"echo changed by hook"}`)}, nil
	case strings.Contains(in.Command, "throwme"):
		return nil, errors.New("gate broke")
	}
	return nil, nil
}
