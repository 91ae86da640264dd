package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

const question = "Begin a new session?"

func TestANewSessionIsAskedFor(t *testing.T) {
	pi := sdktest.Start(t, register)
	if result, err := sdktest.Decide(pi, sdk.SessionBeforeSwitch, &sdk.SessionBeforeSwitchEvent{Reason: "new"}); err != nil || result != nil {
		t.Errorf("an empty session is left without a question: %+v, %v", result, err)
	}
	pi.AddMessage(&sdk.User{Content: sdk.PlainContent("hello")})
	for answer, cancel := range map[sdktest.Answer]bool{sdktest.Yes: false, sdktest.No: true} {
		pi.Answer(question, answer)
		result, err := sdktest.Decide(pi, sdk.SessionBeforeSwitch, &sdk.SessionBeforeSwitchEvent{Reason: "new"})
		if err != nil || result == nil || result.Cancel != cancel {
			t.Errorf("%v: %+v, %v", answer, result, err)
		}
	}
}

func TestForksWaitForACleanTree(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pi := sdktest.Start(t, register, sdktest.WithCwd(dir))
	fork := &sdk.SessionBeforeForkEvent{EntryID: "1", Position: "before"}
	if result, err := sdktest.Decide(pi, sdk.SessionBeforeFork, fork); err != nil || result != nil {
		t.Errorf("a clean tree: %+v, %v", result, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	result, err := sdktest.Decide(pi, sdk.SessionBeforeFork, fork)
	if err != nil || result == nil || !result.Cancel {
		t.Errorf("a dirty tree: %+v, %v", result, err)
	}
	pi.WantNotice("new.txt")
}
