package main

import (
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestInput(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pi := sdktest.Start(t, func(x *sdk.Extension) {
		sdk.On(x, sdk.Input, transform(func() time.Time { return noon }))
	})
	for text, want := range map[string]*sdk.InputResult{
		"hello":            nil,
		"what day? @today": {Action: "transform", Text: "what day? 2026-03-01"},
		"? why":            {Action: "transform", Text: "Answer in one sentence: why"},
		"ping":             {Action: "handled"},
	} {
		got, err := sdktest.Decide(pi, sdk.Input, &sdk.InputEvent{Text: text, Source: "rpc"})
		if err != nil || (got == nil) != (want == nil) || got != nil && (got.Action != want.Action || got.Text != want.Text) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	pi.WantNotice("pong")
}

func TestRegister(t *testing.T) {
	pi := sdktest.Start(t, register)
	if got, err := sdktest.Decide(pi, sdk.Input, &sdk.InputEvent{Text: "?a"}); err != nil || got == nil {
		t.Errorf("%+v, %v", got, err)
	}
}
