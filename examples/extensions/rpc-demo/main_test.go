package main

import (
	"slices"
	"testing"

	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestTour(t *testing.T) {
	pi := sdktest.Start(t, register)
	pi.Answer("Which colour?", sdktest.Text("Green"))
	pi.Answer("Go on?", sdktest.Yes)
	pi.Answer("Name of the branch", sdktest.Dismissed)
	pi.Answer("Commit message", sdktest.Text("Because"))
	pi.Answer("Quick!", sdktest.Text("Now"))
	pi.Command("/demo")
	for _, text := range []string{"colour: Green", "go on: true", "branch: (dismissed)", "message: Because", "quick: Now", "type error"} {
		pi.WantNotice(text)
	}
	var methods []string
	for _, n := range pi.Notices() {
		if !slices.Contains(methods, n.Method) {
			methods = append(methods, n.Method)
		}
	}
	if want := []string{"notify", "setStatus", "setWidget", "setTitle", "set_editor_text"}; !slices.Equal(methods, want) {
		t.Errorf("the notices are %v, want %v", methods, want)
	}
}

func TestOneStep(t *testing.T) {
	pi := sdktest.Start(t, register)
	if got := pi.Complete("demo", "ti"); !slices.Equal(got, []string{"timeout", "title"}) {
		t.Errorf("completed to %v", got)
	}
	pi.Command("/demo title")
	if got := len(pi.Notices()); got != 1 {
		t.Errorf("%d notices", got)
	}
	if err := pi.TryCommand("/demo nothing"); err == nil {
		t.Error("what is not there was shown")
	}
}
