package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Two commands in one write: the second finds what the first began.
func TestAbortInTheSameWrite(t *testing.T) {
	p := newHome(t).start(t)
	p.prompt("SAY ready") // an abort withdraws what still waits for the start
	p.send(`{"id":"p","type":"prompt","message":"SLOW 1000\nSAY a b c d e f g h i j k l m n o p"}` + "\n" + `{"id":"a","type":"abort"}`)
	if f := p.response("p"); !f.Success {
		t.Errorf("prompt: %s", f.Error)
	}
	p.event("agent_settled")
	if f := p.response("a"); !f.Success {
		t.Errorf("abort: %s", f.Error)
	}

	begun := time.Now()
	p.send(`{"id":"b","type":"bash","command":"sleep 30"}` + "\n" + `{"id":"ab","type":"abort_bash"}`)
	var result struct{ Cancelled bool }
	p.until(func(f frame) bool {
		if f.ID != "b" {
			return false
		}
		if err := json.Unmarshal(f.Data, &result); err != nil {
			t.Fatal(err)
		}
		return true
	})
	if took := time.Since(begun); !result.Cancelled || took > 10*time.Second {
		t.Errorf("bash: cancelled is %v, after %v", result.Cancelled, took)
	}
	p.end()
}

func TestAbortKeepsTheQueue(t *testing.T) {
	type queue struct{ Steering, FollowUp []string }
	h := newHome(t)
	p := h.start(t)
	abortWithQueue := func() {
		t.Helper()
		p.send(`{"id":"p","type":"prompt","message":"SLOW 1000\nSAY a b c d e f g h i j k l m n o p"}`)
		p.event("message_update")
		p.send(`{"id":"s","type":"steer","message":"SAY steered"}`)
		p.response("s")
		p.send(`{"id":"f","type":"follow_up","message":"SAY followed"}`)
		p.response("f")
		p.send(`{"id":"a","type":"abort"}`)
		p.event("agent_settled")
		p.response("a")
	}

	abortWithQueue()
	p.send(`{"id":"c","type":"clear_queue"}`)
	var cleared queue
	if err := json.Unmarshal(p.response("c").Data, &cleared); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(cleared.Steering, []string{"SAY steered"}) || !slices.Equal(cleared.FollowUp, []string{"SAY followed"}) {
		t.Errorf("clear_queue gave back %+v", cleared)
	}

	abortWithQueue()
	p.send(`{"id":"n","type":"prompt","message":"SAY next"}`)
	p.event("agent_settled")
	p.send(`{"id":"m","type":"get_messages"}`)
	var data struct {
		Messages []struct {
			Role    string
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(p.response("m").Data, &data); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range data.Messages {
		if m.Role == "user" {
			said = append(said, m.Content[0].Text)
		}
	}
	if want := []string{"SAY next", "SAY steered", "SAY followed"}; !slices.Equal(said[len(said)-3:], want) {
		t.Errorf("the last prompts are %q, want %q", said, want)
	}
	p.end()
}

// A session that is open in one process cannot be written by another, and a
// lock that a killed process left is no obstacle.
func TestSessionIsLocked(t *testing.T) {
	h := newHome(t)
	first := h.start(t, "--session", "shared.jsonl")
	first.send(`{"id":"p","type":"prompt","message":"SAY one"}`)
	first.event("agent_settled")

	second := exec.CommandContext(t.Context(), piBinary, "--mode", "rpc", "--provider", "mock", "--session", "shared.jsonl")
	second.Dir, second.Env = h.work, first.cmd.Env
	var stdout, stderr strings.Builder
	second.Stdout, second.Stderr = &stdout, &stderr
	if err := second.Run(); err == nil {
		t.Error("a second process opened the session")
	}
	if stdout.Len() > 0 || !strings.Contains(stderr.String(), "shared.jsonl") {
		t.Errorf("the second process wrote %q to stdout and %q to stderr", stdout.String(), stderr.String())
	}

	first.kill()
	third := h.start(t, "--session", "shared.jsonl")
	third.send(`{"id":"p","type":"prompt","message":"SAY two"}`)
	third.event("agent_settled")
	third.end()
	data, err := os.ReadFile(filepath.Join(h.work, "shared.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"SAY one", "SAY two"} {
		if !strings.Contains(string(data), text) {
			t.Errorf("the session lacks %q", text)
		}
	}
}
