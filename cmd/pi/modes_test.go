package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestSettingsAreTheSameInEveryMode asks the same in every mode and compares
// what the model is sent: system prompt, tools, thinking, and messages that
// are those of the session file, with nothing added.
func TestSettingsAreTheSameInEveryMode(t *testing.T) {
	var first map[string]any
	for _, mode := range []string{"rpc", "json", "text"} {
		h := newHome(t)
		write(t, filepath.Join(h.agent, "settings.json"), `{"defaultThinkingLevel": "high", "defaultTools": ["read", "ls"], "thinkingBudgets": {"low": 2222}, "sessionDir": "mine"}`)
		write(t, filepath.Join(h.agent, "APPEND_SYSTEM.md"), "MARK of the user")
		write(t, filepath.Join(h.work, ".pi", "settings.json"), `{"defaultThinkingLevel": "low"}`)
		write(t, filepath.Join(h.work, ".pi", "SYSTEM.md"), "MARK of the project")
		if mode == "rpc" {
			p := h.start(t, "--approve")
			p.say("SAY the same")
			p.end()
		} else {
			cmd := exec.CommandContext(t.Context(), piBinary, "--mode", mode, "--approve", "--provider", "mock", "--model", "m1", "SAY the same")
			cmd.Dir, cmd.Env = h.work, h.environment(t)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", mode, err, out)
			}
		}
		requests := h.server.Requests()
		if len(requests) != 1 {
			t.Fatalf("%s: the model was asked %d times", mode, len(requests))
		}
		text := strings.NewReplacer(h.work, "WORK", h.agent, "AGENT").Replace(string(requests[0].Body))
		var sent map[string]any
		if err := json.Unmarshal([]byte(text), &sent); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"MARK of the user", "MARK of the project", `"budget_tokens":2222`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the model is not sent %s: %s", mode, want, text)
			}
		}
		if tools := sent["tools"].([]any); len(tools) != 2 {
			t.Errorf("%s: there are %d tools", mode, len(tools))
		}
		if n := len(sent["messages"].([]any)); n != 1 {
			t.Errorf("%s: the model is sent %d messages for one prompt", mode, n)
		}
		if first == nil {
			first = sent
		}
		if !reflect.DeepEqual(sent, first) {
			t.Errorf("%s: the model is sent\n%v\nand not\n%v", mode, sent, first)
		}
		files, err := filepath.Glob(filepath.Join(h.work, "mine", "*.jsonl"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: the sessions are %q, %v", mode, files, err)
		}
		if n := strings.Count(read(t, files[0]), `"role":"user"`); n != 1 {
			t.Errorf("%s: the session has %d user messages", mode, n)
		}
	}
}

// Clients start the program without a shell: from a folder with a blank in its
// name, with arguments that hold line ends and quotes.
func TestSpawnedWithoutAShell(t *testing.T) {
	h := newHome(t)
	binary, err := os.ReadFile(piBinary)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(h.work, "a folder", filepath.Base(piBinary))
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, binary, 0o700); err != nil {
		t.Fatal(err)
	}
	const prompt = "two \"lines\"\nof 'text' $HOME\nECHO"
	cmd := exec.CommandContext(t.Context(), program, "-p", "--provider", "mock", "--model", "m1", prompt)
	cmd.Dir, cmd.Env = h.work, h.environment(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var sent struct {
		Messages []struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(h.server.Requests()[0].Body, &sent); err != nil {
		t.Fatal(err)
	}
	if got := sent.Messages[0].Content[0].Text; got != prompt {
		t.Errorf("the model is sent %q", got)
	}
}
