package main

import (
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func TestTheUsersWordsAreKept(t *testing.T) {
	pi := sdktest.Start(t, register)
	result, err := sdktest.Decide(pi, sdk.SessionBeforeCompact, &sdk.SessionBeforeCompactEvent{Reason: "manual", Preparation: sdk.Raw(`{
		"firstKeptEntryId":"e9","tokensBefore":5000,
		"messagesToSummarize":[
			{"role":"user","content":"Fix the build","timestamp":1},
			{"role":"toolResult","toolCallId":"1","toolName":"bash","content":[{"type":"text","text":"a lot"}],"isError":false,"timestamp":2},
			{"role":"user","content":[{"type":"text","text":"Now the tests"}],"timestamp":3}]}`)})
	if err != nil || result == nil || result.Compaction == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	got := result.Compaction
	if want := "What the user asked for so far:\n- Fix the build\n- Now the tests\n"; got.Summary != want || got.FirstKeptEntryID != "e9" || got.TokensBefore != 5000 {
		t.Errorf("the compaction is %+v", got)
	}
}
