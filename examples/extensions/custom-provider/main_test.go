package main

import (
	"errors"
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestTheMirrorAnswers(t *testing.T) {
	pi := sdktest.Start(t, register)
	if p := pi.Providers(); len(p) != 1 || p[0].Name != "backwards" || !p[0].Streams || p[0].Models[0].ID != "mirror" {
		t.Fatalf("registered %+v", p)
	}
	text, deltas, err := pi.Stream("backwards", sdk.ProviderRequest{Messages: sdk.Messages{&sdk.User{Content: sdk.PlainContent("hello big world")}}})
	if err != nil || text != "dlrow gib olleh" {
		t.Errorf("answered %q, %v", text, err)
	}
	if last := deltas[len(deltas)-1]; last.StopReason != "stop" || last.Usage.TotalTokens != 6 {
		t.Errorf("ended with %+v", last)
	}
}

func TestNothingToTurnAround(t *testing.T) {
	pi := sdktest.Start(t, register)
	_, _, err := pi.Stream("backwards", sdk.ProviderRequest{})
	var failure *sdk.ProviderError
	if !errors.As(err, &failure) || failure.Class != sdk.Invalid {
		t.Errorf("failed with %v", err)
	}
}
