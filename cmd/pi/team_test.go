package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inTeam starts the binary in examples/team, as somebody who has just cloned
// it.
func inTeam(t *testing.T) home {
	t.Helper()
	h := newHome(t)
	dir, err := filepath.Abs("../../examples/team")
	if err != nil {
		t.Fatal(err)
	}
	h.work = dir
	return h
}

// environmentWithGo lets the binary build extensions as the tests were built.
func (h home) environmentWithGo(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS").Output()
	if err != nil {
		t.Fatal(err)
	}
	env := h.environment(t)
	for i, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS"} {
		env = append(env, name+"="+strings.Split(string(out), "\n")[i])
	}
	return env
}

func (p *process) commands() []string {
	p.t.Helper()
	var data struct {
		Commands []struct {
			Name, Source string
			SourceInfo   struct{ Origin string }
		}
	}
	if err := json.Unmarshal(p.ask("commands", `{"type":"get_commands"}`), &data); err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, c := range data.Commands {
		names = append(names, c.Name+" "+c.Source+" "+c.SourceInfo.Origin)
	}
	return names
}

// say sends a prompt and gives the text of the answer.
func (p *process) say(message string) string {
	p.t.Helper()
	text, err := json.Marshal(message)
	if err != nil {
		p.t.Fatal(err)
	}
	p.ask("say", `{"type":"prompt","message":`+string(text)+`}`)
	p.event("agent_settled")
	var data struct{ Text string }
	if err := json.Unmarshal(p.ask("text", `{"type":"get_last_assistant_text"}`), &data); err != nil {
		p.t.Fatal(err)
	}
	return data.Text
}

// TestTeamUntrusted opens a stranger's repository: its rules are read, and
// nothing of it runs or is offered.
func TestTeamUntrusted(t *testing.T) {
	h := inTeam(t)
	p := h.start(t)
	p.settle()
	if got := p.commands(); len(got) > 0 {
		t.Errorf("there are %q", got)
	}
	if got := string(p.ask("x", `{"type":"get_extensions"}`)); strings.Contains(got, "house") {
		t.Errorf("there are the extensions %s", got)
	}
	if d := p.diagnostics(); len(d) != 1 || !mention(d, ".pi/settings.json", ".pi/extensions", ".pi/skills", ".pi/prompts", ".pi/rules", "pi trust") {
		t.Errorf("the diagnostics are %q", d)
	}
	p.say("SAY hi")
	p.end()
	system := string(h.server.Requests()[0].Body)
	if !strings.Contains(system, "Rules of this repository") || strings.Contains(system, "release-notes") {
		t.Errorf("the model is told %s", system)
	}
	if n := strings.Count(p.stderr.String(), "\n"); n != 1 || !strings.Contains(p.stderr.String(), "pi trust") {
		t.Errorf("stderr says %s", p.stderr.String())
	}
}

// TestTeam opens it with --approve: commands, skills, rules, settings, the
// package and the extension are there.
func TestTeam(t *testing.T) {
	h := inTeam(t)
	h.env = h.environmentWithGo(t)
	p := h.start(t, "--approve")
	p.settle()
	want := []string{
		"owner extension top-level", "review prompt top-level", "commit prompt package", "skill:release-notes skill top-level", "skill:error-texts skill package",
	}
	if got := p.commands(); !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
	if d := p.diagnostics(); len(d) > 0 {
		t.Errorf("the diagnostics are %q", d)
	}
	var state struct{ ThinkingLevel string }
	if err := json.Unmarshal(p.ask("s", `{"type":"get_state"}`), &state); err != nil || state.ThinkingLevel != "low" {
		t.Errorf("the level is %+v, %v", state, err)
	}

	skill := filepath.Join(h.work, ".pi", "skills", "release-notes")
	p.say("SAY hi")
	system := string(h.server.Requests()[0].Body)
	for _, text := range []string{"Rules of this repository", "release-notes", "error-texts", "Say who owns a file", skill + "/SKILL.md"} {
		if !strings.Contains(system, text) {
			t.Errorf("the model is not told %q", text)
		}
	}

	// A prompt with arguments, a skill, and its script, which the model finds
	// from the skill's folder.
	p.say("/review service/store.go")
	p.say("/review service/store.go 'the names'")
	p.say("/skill:release-notes\nfor 1.2")
	last := h.lastUserTexts()
	for i, text := range []string{"Look at errors and their texts first.", "Look at the names first.", "References are relative to " + skill + "."} {
		if got := last[len(last)-3+i]; !strings.Contains(got, text) {
			t.Errorf("%q was sent as %q", text, got)
		}
	}
	if got := p.say(`TOOL bash {"command": "sh .pi/skills/release-notes/scripts/changes.sh | head -n 1; echo done"}`); !strings.Contains(got, "done") {
		t.Errorf("the script of the skill says %q", got)
	}

	// A rule: the call is not made, and the model is told why.
	p.send(`{"id":"r","type":"prompt","message":"TOOL write {\"path\": \"service/new.go\", \"content\": \"func f() { panic(1) }\"}"}`)
	if f := p.event("ttsr_triggered"); !strings.Contains(string(f.raw), "no-panic") {
		t.Errorf("there are the rules %s", f.raw)
	}
	p.event("agent_settled")
	if last := h.lastUserTexts(); !strings.Contains(last[len(last)-1], "must not panic") {
		t.Errorf("the model was told %q", last[len(last)-1])
	}
	if _, err := os.Stat(filepath.Join(h.work, "service", "new.go")); err == nil {
		t.Fatal("the file was written")
	}

	// The extension: its command, its tool, and its gate.
	p.send(`{"id":"o","type":"prompt","message":"/owner service/api/x.go"}`)
	if f := p.event("extension_ui_request"); !strings.Contains(string(f.raw), "grace owns service/api/x.go") {
		t.Errorf("the command says %s", f.raw)
	}
	p.response("o")
	if got := p.say(`TOOL owner_of {"path": "service/store.go"}`); !strings.Contains(got, "ada owns service/store.go") {
		t.Errorf("the tool says %q", got)
	}
	before := read(t, filepath.Join(h.work, "service", "names.go"))
	if got := p.say(`TOOL write {"path": "service/names.go", "content": "x"}`); !strings.Contains(got, "is generated") {
		t.Errorf("the gate says %q", got)
	}
	if read(t, filepath.Join(h.work, "service", "names.go")) != before {
		t.Fatal("the generated file was changed")
	}
	p.end()
}

// TestTeamPrinted has print mode show what a command of an extension tells.
func TestTeamPrinted(t *testing.T) {
	h := inTeam(t)
	h.env = h.environmentWithGo(t)
	if got := h.pi(t, "--approve", "-p", "--provider", "demo", "/owner service/api/x.go"); !strings.HasSuffix(got, "grace owns service/api/x.go\n") {
		t.Errorf("it prints %q", got)
	}
}

// TestTeamImportsOnlyTheSDK keeps the extension what an author can write.
func TestTeamImportsOnlyTheSDK(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{join .Imports "\n"}}`, ".")
	cmd.Dir = "../../examples/team/.pi/extensions/house"
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, name := range strings.Fields(string(out)) {
		if strings.Contains(name, ".") {
			ours = append(ours, name)
		}
	}
	if !slices.Equal(ours, []string{"github.com/seed-54e836f5/pi/sdk"}) {
		t.Errorf("it imports %q", ours)
	}
}

// lastUserTexts lists the texts of the last user message of each request.
func (h home) lastUserTexts() []string {
	var list []string
	for _, r := range h.server.Requests() {
		var body struct {
			Messages []struct {
				Role    string
				Content []struct{ Type, Text string }
			}
		}
		if json.Unmarshal(r.Body, &body) != nil {
			continue
		}
		text := ""
		for _, m := range body.Messages {
			if m.Role == "user" {
				text = ""
				for _, c := range m.Content {
					text += c.Text
				}
			}
		}
		list = append(list, text)
	}
	return list
}
