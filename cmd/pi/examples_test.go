package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// onPath is the environment of a program that finds pi on its PATH. The
// settings of its home choose the demo provider.
func onPath(t *testing.T, more ...string) (env []string, work string) {
	t.Helper()
	agent, work := t.TempDir(), t.TempDir()
	settings := `{"defaultProvider": "demo"}`
	if err := os.WriteFile(filepath.Join(agent, "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Dir(piBinary) + string(os.PathListSeparator) + os.Getenv("PATH")
	return append([]string{"PATH=" + path, "HOME=" + agent, "PI_CODING_AGENT_DIR=" + agent, "TMPDIR=" + t.TempDir()}, more...), work
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// TestExampleClients runs examples/clients: a tool of the host, a dialog of an
// extension, and an answer.
func TestExampleClients(t *testing.T) {
	programs := filepath.Join(t.TempDir(), "programs") + string(filepath.Separator)
	if err := buildFixtures(programs, "../../examples/clients/go", "../../examples/extensions/permission-gate"); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "script.json")
	turns := `{"turns": [
		{"steps": [{"text": "I count. "}, {"toolCall": {"name": "word_count", "arguments": {"text": "to be or not"}}}]},
		{"steps": [{"text": "I clean up. "}, {"toolCall": {"name": "bash", "arguments": {"command": "rm -rf old && echo cleaned"}}}]},
		{"steps": [{"text": "All is \u2028done."}]}]}`
	if err := os.WriteFile(script, []byte(turns), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"go":     {programs + "go"},
		"python": {"python3", absolute(t, "../../examples/clients/python/client.py")},
		"node":   {"node", absolute(t, "../../examples/clients/node/client.js")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, work := onPath(t, "PI_DEMO_SCRIPT="+script)
			session := filepath.Join(work, "session.jsonl")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			args := append(command[1:], "Count, and clean up", "--session", session, "--extension", programs+"permission-gate")
			cmd := exec.CommandContext(ctx, command[0], args...)
			var stderr strings.Builder
			cmd.Env, cmd.Dir, cmd.Stderr = env, work, &stderr
			cmd.Stdin = strings.NewReader("Run\n")
			stdout, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v; stdout: %s; stderr: %s", err, stdout, stderr.String())
			}
			const want = "I count. [word_count]\nI clean up. [bash]\nAll is \u2028done.\n"
			if string(stdout) != want {
				t.Errorf("printed %q, want %q; stderr: %s", stdout, want, stderr.String())
			}
			if !strings.Contains(stderr.String(), "removes files for good") {
				t.Errorf("nobody was asked: %s", stderr.String())
			}
			wantResults(t, session, "4", "cleaned")
		})
	}
}

// wantResults looks for the texts of the tool results in a session file.
func wantResults(t *testing.T, session string, want ...string) {
	t.Helper()
	data, err := os.ReadFile(session)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(data)) {
		var entry struct {
			Message struct {
				Role    string
				Content json.RawMessage
			}
		}
		var blocks []struct{ Text string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Message.Role != "toolResult" {
			continue
		}
		if err := json.Unmarshal(entry.Message.Content, &blocks); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(blocks[0].Text))
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the tools gave %q, want %q", got, want)
	}
}

// TestDocumentedClients runs clients as the documents of the reference agent
// print them, with pi on PATH and nothing else said.
func TestDocumentedClients(t *testing.T) {
	const said = "This is the demo model."
	for _, script := range []string{"documented.py", "documented-2.py"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			env, work := onPath(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "python3", absolute(t, "testdata/clients/"+script))
			cmd.Env, cmd.Dir = env, work
			out, err := cmd.Output()
			if err != nil || !strings.HasPrefix(string(out), said) || !strings.HasSuffix(string(out), "\n") {
				t.Errorf("%v: printed %q", err, out)
			}
		})
	}
	t.Run("documented.js", func(t *testing.T) {
		t.Parallel()
		env, work := onPath(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "node", absolute(t, "testdata/clients/documented.js"))
		cmd.Env, cmd.Dir = env, work
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// It never ends by itself: it waits for the next event.
		text := make([]byte, len(said))
		if _, err := io.ReadFull(out, text); err != nil || string(text) != said {
			t.Errorf("%v: printed %q", err, text)
		}
		cancel()
		if err := cmd.Wait(); err == nil || errors.Is(err, exec.ErrNotFound) {
			t.Errorf("it ended by itself: %v", err)
		}
	})
}
