package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	args = append([]string{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFilesComeBack(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	git(t, dir, "init", "-q")
	git(t, dir, "config", "user.name", "Ada")
	git(t, dir, "config", "user.email", "ada@example.com")
	write(t, file, "committed")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "first")

	pi := sdktest.Start(t, register, sdktest.WithCwd(dir))
	pi.Tell(&sdk.TurnStartEvent{TurnIndex: 0})
	if n := len(pi.Entries()); n != 0 {
		t.Fatalf("%d checkpoints of a clean tree", n)
	}
	write(t, file, "by hand")
	pi.Tell(&sdk.TurnStartEvent{TurnIndex: 1})
	write(t, file, "by the model")

	pi.Command("/checkpoint")
	id := pi.WantNotice("before turn 2").Text[:8]
	pi.Answer("Restore the files?", sdktest.Yes)
	pi.Command("/checkpoint " + id)
	pi.WantNotice("Restored " + id)
	if got, err := os.ReadFile(file); err != nil || string(got) != "by hand" {
		t.Errorf("the file is %q, %v", got, err)
	}
	if err := pi.TryCommand("/checkpoint ffffffff"); err == nil {
		t.Error("restored a checkpoint that is not there")
	}
}

func TestOutsideOfGitNothingHappens(t *testing.T) {
	pi := sdktest.Start(t, register)
	pi.Tell(&sdk.TurnStartEvent{TurnIndex: 0})
	pi.Command("/checkpoint")
	pi.WantNotice("No checkpoints yet")
}
