package main_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestARuleStopsAnAnswer follows what clients of both dialects see when a rule
// stops an answer and the model tries again.
func TestARuleStopsAnAnswer(t *testing.T) {
	for _, dialect := range []string{"pi", "xcsh"} {
		t.Run(dialect, func(t *testing.T) {
			h := newHome(t)
			write(t, filepath.Join(h.agent, "rules", "no-console.md"), "---\ncondition: console\\.log\n---\nSAY The logger it is.\n")
			p := h.start(t, "--dialect", dialect)
			p.send(`{"id":"1","type":"prompt","message":"SLOW 5\nSAY Use console.log here\nSAY and say much more about it"}`)
			var seen []string
			for len(seen) == 0 || seen[len(seen)-1] != "agent_settled" {
				f, err := p.next()
				if err != nil {
					t.Fatal(err)
				}
				name := f.Type
				if name == "message_update" && strings.Contains(string(f.raw), "much more") {
					t.Errorf("it was let through: %s", f.raw)
				}
				switch {
				case name == "message_end":
					for _, word := range []string{"aborted", "ttsr-injection"} {
						if strings.Contains(string(f.raw), word) {
							name += " " + word
						}
					}
				case name == "agent_end" && strings.Contains(string(f.raw), `"willRetry":true`):
					name += " again"
				}
				if !slices.Contains([]string{"ready", "response", "message_update", "queue_update"}, name) {
					seen = append(seen, name)
				}
			}
			want := []string{
				"agent_start", "turn_start", "message_start", "message_end",
				"message_start", "ttsr_triggered", "message_end aborted", "turn_end", "agent_end again",
				"agent_start", "turn_start", "message_start", "message_end ttsr-injection",
				"message_start", "message_end", "turn_end", "agent_end", "agent_settled",
			}
			if !slices.Equal(seen, want) {
				t.Errorf("clients saw\n%q\nwant\n%q", seen, want)
			}
			p.end()
			if n := len(h.server.Requests()); n != 2 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}
