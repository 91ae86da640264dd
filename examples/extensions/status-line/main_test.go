package main

import (
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestStatusLine(t *testing.T) {
	pi := sdktest.Start(t, register, sdktest.WithModels(sdk.Model{ID: "m", Name: "Model M", Provider: "p"}))
	pi.StartSession()
	pi.WantNotice("ready · Model M")
	pi.Tell(&sdk.TurnStartEvent{TurnIndex: 1})
	if n := pi.WantNotice("turn 2 · Model M"); n.Method != "setStatus" || n.Key != key {
		t.Errorf("the status is %+v", n)
	}
	pi.Tell(&sdk.SessionShutdownEvent{Reason: "quit"})
	if list := pi.Notices(); !list[len(list)-1].Cleared {
		t.Errorf("the status stays: %+v", list)
	}
}
