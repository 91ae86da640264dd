package main

import (
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestTheModelKeepsAList(t *testing.T) {
	pi := sdktest.Start(t, register)
	pi.Tool("todo", `{"action":"add","text":"write"}`)
	pi.Tool("todo", `{"action":"add","text":"test"}`)
	if got, want := pi.ToolText("todo", `{"action":"done","id":1}`), "[x] 1. write\n[ ] 2. test\n"; got != want {
		t.Errorf("the list is %q, want %q", got, want)
	}
	pi.Command("/todos")
	pi.WantNotice("[ ] 2. test")
}

func TestTheListComesFromTheSession(t *testing.T) {
	first := sdktest.Start(t, register)
	first.Tool("todo", `{"action":"add","text":"survive"}`)
	entries := first.Entries()
	if n := len(entries); n != 1 || entries[0].CustomType != entryType {
		t.Fatalf("the session has %d entries", n)
	}
	first.Tell(&sdk.SessionStartEvent{Reason: "resume"})
	if got, want := first.ToolText("todo", `{"action":"list"}`), "[ ] 1. survive\n"; got != want {
		t.Errorf("the list is %q, want %q", got, want)
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	pi := sdktest.Start(t, register)
	for _, arguments := range []string{`{"action":"add"}`, `{"action":"done","id":7}`, `{"action":"sing"}`, `{}`} {
		if _, _, err := pi.TryTool(t.Context(), "todo", arguments); err == nil {
			t.Errorf("%s was accepted", arguments)
		}
	}
}
