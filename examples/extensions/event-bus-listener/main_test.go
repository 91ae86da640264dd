package main

import (
	"testing"

	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestWhatOthersSayIsShown(t *testing.T) {
	pi := sdktest.Start(t, register)
	pi.Publish("event-bus-sender", Topic, Finished{Tools: 3})
	if n := pi.WantNotice("3 tools in the last run, says event-bus-sender"); n.Key != "tools" {
		t.Errorf("the status is %+v", n)
	}
}
