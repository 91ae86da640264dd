package main

import (
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestTheToolsOfARunAreCounted(t *testing.T) {
	pi := sdktest.Start(t, register)
	pi.Tell(&sdk.ToolExecutionEndEvent{ToolCallID: "1", ToolName: "bash", Result: sdk.Raw(`{}`)})
	pi.Tell(&sdk.ToolExecutionEndEvent{ToolCallID: "2", ToolName: "read", Result: sdk.Raw(`{}`)})
	pi.Tell(&sdk.AgentSettledEvent{})
	pi.Tell(&sdk.AgentSettledEvent{})
	sent := pi.Published()
	if len(sent) != 2 || sent[0].Topic != Topic || string(sent[0].Data) != `{"tools":2}` || string(sent[1].Data) != `{"tools":0}` {
		t.Errorf("sent %+v", sent)
	}
}
