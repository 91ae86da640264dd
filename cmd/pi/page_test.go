package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExport writes the live session as a page over rpc.
func TestExport(t *testing.T) {
	h := newHome(t)
	p := h.start(t)
	export := func(name string) frame {
		t.Helper()
		command := `{"id":"x","type":"export_html"}`
		if name != "" {
			command = fmt.Sprintf(`{"id":"x","type":"export_html","outputPath":%q}`, name)
		}
		p.send(command)
		return p.response("x")
	}
	if f := export(""); f.Success || !strings.Contains(f.Error, "nothing to export") {
		t.Errorf("before anything was said: %+v", f)
	}
	p.ask("p", `{"type":"prompt","message":"SAY a page"}`)
	p.event("agent_settled")
	var state struct{ SessionFile string }
	if err := json.Unmarshal(p.ask("s", `{"type":"get_state"}`), &state); err != nil {
		t.Fatal(err)
	}
	usual := "pi-session-" + strings.TrimSuffix(filepath.Base(state.SessionFile), ".jsonl") + ".html"
	for name, want := range map[string]string{
		"":                               filepath.Join(h.work, usual),
		"below.html":                     filepath.Join(h.work, "below.html"),
		filepath.Join(h.agent, "a.html"): filepath.Join(h.agent, "a.html"),
		"~/home.html":                    filepath.Join(h.agent, "home.html"), // HOME is the agent folder here
	} {
		f := export(name)
		var data struct{ Path string }
		if err := json.Unmarshal(f.Data, &data); err != nil || data.Path != want {
			t.Errorf("%q gives %+v, %v; want %s", name, f, err, want)
			continue
		}
		if page := read(t, want); !strings.Contains(page, "a page") || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
			t.Errorf("%q: the page is %.100s", name, page)
		}
	}
	// What cannot be written says why, and leaves nothing behind.
	for _, name := range []string{"no/such/folder.html", "."} {
		if f := export(name); f.Success || f.Error == "" {
			t.Errorf("%q gives %+v", name, f)
		}
	}
	p.end()
	if left, err := filepath.Glob(filepath.Join(h.work, ".pi-session-*")); err != nil || len(left) > 0 {
		t.Errorf("left is %q, %v", left, err)
	}

	p = h.start(t, "--no-session")
	p.ask("p", `{"type":"prompt","message":"SAY a page"}`)
	p.event("agent_settled")
	if f := export(""); f.Success || !strings.Contains(f.Error, "in memory") {
		t.Errorf("in memory only: %+v", f)
	}
	p.end()
	if _, err := os.Stat(filepath.Join(h.agent, "home.html")); err != nil {
		t.Error(err)
	}
}
