//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestReaderHasSeenEnough has the reader of a list go, as head does.
func TestReaderHasSeenEnough(t *testing.T) {
	h := newHome(t)
	for _, args := range [][]string{{"config"}, {"--list-models"}, {"-p", "--provider", "demo", "hi"}} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := read.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), piBinary, args...)
		var stderr strings.Builder
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.work, h.environment(t), write, &stderr
		failed := cmd.Run()
		if err := write.Close(); err != nil {
			t.Fatal(err)
		}
		if failed == nil || cmd.ProcessState.ExitCode() != 1 || stderr.Len() > 0 {
			t.Errorf("pi %q ends with %v and says %s", args, failed, stderr.String())
		}
	}
}
