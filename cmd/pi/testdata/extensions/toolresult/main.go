// Hooks that change, turn and break results of tools.
package main

import (
	"errors"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) { sdk.On(x, sdk.ToolResult, change) })
}

func change(_ *sdk.Context, e *sdk.ToolResultEvent) (*sdk.ToolResultPatch, error) {
	var text string
	for _, b := range e.Content {
		text += b.Text
	}
	yes, no := true, false
	switch {
	case strings.Contains(text, "modify"):
		return &sdk.ToolResultPatch{Content: &[]sdk.Block{sdk.Text("rewritten")}, Details: sdk.Raw(`{"mine":true}`)}, nil
	case strings.Contains(text, "flip"):
		return &sdk.ToolResultPatch{IsError: &yes}, nil
	case strings.Contains(text, "boom"):
		return nil, errors.New("result hook broke")
	case e.IsError:
		return &sdk.ToolResultPatch{IsError: &no, Content: &[]sdk.Block{sdk.Text("forgiven")}}, nil
	}
	return nil, nil
}
