package main

import (
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func call(command string) *sdk.ToolCallEvent {
	return &sdk.ToolCallEvent{ToolName: "bash", ToolCallID: "1", Input: sdk.Raw(`{"command":"` + command + `"}`)}
}

const question = "This command removes files for good:\n\nrm -rf build\n\nRun it?"

func TestHarmlessCommandsPass(t *testing.T) {
	pi := sdktest.Start(t, register)
	for _, command := range []string{"ls", "git status", "rm notes.txt", "grep -rf patterns ."} {
		if result, err := sdktest.Decide(pi, sdk.ToolCall, call(command)); err != nil || result != nil {
			t.Errorf("%s: %+v, %v", command, result, err)
		}
	}
}

func TestDangerousCommandsAreAskedFor(t *testing.T) {
	for answer, blocked := range map[string]bool{"Run": false, "Refuse": true} {
		pi := sdktest.Start(t, register)
		pi.Answer(question, sdktest.Text(answer))
		result, err := sdktest.Decide(pi, sdk.ToolCall, call("rm -rf build"))
		if err != nil || (result != nil && result.Block) != blocked {
			t.Errorf("%s: %+v, %v", answer, result, err)
		}
	}
}

func TestWhereNobodyCanAnswerTheGateStaysShut(t *testing.T) {
	pi := sdktest.Start(t, register, sdktest.WithoutUI())
	result, err := sdktest.Decide(pi, sdk.ToolCall, call("sudo reboot"))
	if err != nil || result == nil || !result.Block || !strings.Contains(result.Reason, "administrator") {
		t.Errorf("%+v, %v", result, err)
	}
}
