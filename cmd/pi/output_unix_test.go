//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
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

// TestNobodyReadsStandardError runs an extension that fails, of which the log
// tells, while the log's reader is gone: the run goes on.
func TestNobodyReadsStandardError(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	h.stderr = write
	broken := filepath.Join(h.work, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho broken >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := h.start(t, "-e", broken)
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	p.send(`{"id":"p","type":"prompt","message":"TOOL bash {\"command\":\"yes | head -n 1\"}"}`)
	p.event("extension_error")
	if f := p.event("tool_execution_end"); !strings.Contains(string(f.raw), `"isError":false`) {
		t.Errorf("the tool ends with %s", f.raw)
	}
	p.event("agent_settled")
	p.end()
}
