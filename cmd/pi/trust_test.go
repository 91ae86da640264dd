package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// write makes a file with its folders.
func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read gives what a file has; "" without one.
func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// project makes a folder that has a prompt of some name, and an extension that
// leaves a file when it is started.
func project(t *testing.T, prompt string) (dir string, started func() bool) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, ".pi", "prompts", prompt+".md"), "SAY "+prompt)
	mark := filepath.Join(dir, "started")
	program := filepath.Join(dir, ".pi", "extensions", "mark")
	write(t, program, "#!/bin/sh\necho >"+mark+"\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, func() bool {
		_, err := os.Stat(mark)
		return err == nil
	}
}

// sessionIn makes a session file that works in a folder.
func sessionIn(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	header := fmt.Sprintf(`{"type":"session","version":3,"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2025-11-01T10:00:00.000Z","cwd":%q}`, dir)
	write(t, path, header+"\n")
	return path
}

// pi runs a subcommand to its end.
func (h home) pi(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), piBinary, args...)
	cmd.Dir, cmd.Env = h.work, h.environment(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("pi %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (p *process) ask(id, command string) json.RawMessage {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"id":%q,%s`, id, strings.TrimPrefix(command, "{")))
	f := p.response(id)
	if !f.Success {
		p.t.Fatalf("%s: %s", command, f.Error)
	}
	return f.Data
}

// prompts lists the templates that get_commands has, with their source.
func (p *process) prompts() string {
	p.t.Helper()
	var data struct {
		Commands []struct {
			Name, Source string
			SourceInfo   struct{ Source string }
		}
	}
	if err := json.Unmarshal(p.ask("commands", `{"type":"get_commands"}`), &data); err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, c := range data.Commands {
		if c.Source == "prompt" {
			names = append(names, c.Name+" "+c.SourceInfo.Source)
		}
	}
	return strings.Join(names, ", ")
}

func (p *process) diagnostics() []string {
	p.t.Helper()
	var data struct{ Diagnostics []string }
	if err := json.Unmarshal(p.ask("state", `{"type":"get_state"}`), &data); err != nil {
		p.t.Fatal(err)
	}
	return data.Diagnostics
}

// settle waits until the extensions are up and the session has begun.
func (p *process) settle() {
	p.t.Helper()
	p.ask("settled", `{"type":"reload"}`)
}

// mention says whether one of some sentences has all of the words.
func mention(sentences []string, words ...string) bool {
	return slices.ContainsFunc(sentences, func(s string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(s, w) })
	})
}

// TestEachFolderIsDecidedAboutForItself switches from a trusted project to a
// session in one that nobody has decided about, and back.
func TestEachFolderIsDecidedAboutForItself(t *testing.T) {
	for _, flag := range []string{"saved decision", "--approve"} {
		t.Run(flag, func(t *testing.T) {
			h := newHome(t)
			ours, _ := project(t, "ours")
			theirs, ran := project(t, "theirs")
			h.work = ours
			var args []string
			if flag == "--approve" {
				args = []string{flag}
			} else {
				h.pi(t, "trust")
			}
			write(t, filepath.Join(theirs, ".pi", "settings.json"), `{"prompts": ["../more"], "oops`)
			write(t, filepath.Join(theirs, "more", "more.md"), "more")

			p := h.start(t, args...)
			p.settle()
			if got := p.prompts(); got != "ours auto" {
				t.Errorf("in our project there are %q", got)
			}
			there := fmt.Sprintf(`{"type":"switch_session","sessionPath":%q}`, sessionIn(t, theirs))
			p.ask("there", there)
			if got := p.prompts(); got != "" {
				t.Errorf("in their project there are %q", got)
			}
			if d := p.diagnostics(); !mention(d, ".pi/prompts", "pi trust "+theirs) || mention(d, "settings.json:1") {
				t.Errorf("the diagnostics are %q", d)
			}
			p.ask("back", fmt.Sprintf(`{"type":"switch_session","sessionPath":%q}`, sessionIn(t, ours)))
			if got, d := p.prompts(), p.diagnostics(); got != "ours auto" || mention(d, theirs) {
				t.Errorf("back in our project there are %q, and the diagnostics are %q", got, d)
			}

			if ran() {
				t.Error("their extension was started")
			}
			h.pi(t, "trust", theirs)
			p.ask("there", there)
			if got, d := p.prompts(), p.diagnostics(); got != "theirs auto" || !mention(d, "settings.json:1") {
				t.Errorf("in their project, trusted, there are %q, and the diagnostics are %q", got, d)
			}
			p.end()
			if !ran() {
				t.Error("their extension was not started, trusted")
			}
			if n := strings.Count(p.stderr.String(), "pi trust "+theirs); n != 1 {
				t.Errorf("it was said %d times: %s", n, p.stderr.String())
			}
		})
	}
}

var deciderProgram = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(buildDir, "decider")
	return dir, build(dir, "./testdata/extensions/decider")
})

// decide gives the user an extension that decides about projects.
func (h home) decide(t *testing.T, decision string, env ...string) (asked func() []string) {
	t.Helper()
	program, err := deciderProgram()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "asked")
	manifest, err := json.Marshal(map[string]any{"command": []string{program}, "env": append(env, "DECISION="+decision, "ASKED="+log)})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.agent, "extensions", "decider", "extension.json"), string(manifest))
	return func() []string { return strings.Fields(read(t, log)) }
}

// TestExtensionsOfTheUserDecide covers projects that nobody has decided about,
// in every mode.
func TestExtensionsOfTheUserDecide(t *testing.T) {
	for _, c := range []struct {
		decision, prompts string
		runs              bool
	}{
		{"yes", "ours auto", true},
		{"no", "", false},
		{"undecided", "", false},
	} {
		t.Run(c.decision, func(t *testing.T) {
			h := newHome(t)
			var ran func() bool
			h.work, ran = project(t, "ours")
			asked := h.decide(t, c.decision)
			p := h.start(t)
			p.settle()
			if got := p.prompts(); got != c.prompts {
				t.Errorf("there are %q", got)
			}
			if d := p.diagnostics(); mention(d, ".pi/prompts", "not loaded") == c.runs {
				t.Errorf("the diagnostics are %q", d)
			}
			p.end()
			if got := asked(); !slices.Equal(got, []string{h.work}) {
				t.Errorf("it was asked about %q", got)
			}
			if ran() != c.runs {
				t.Errorf("the project's extension ran: %v", ran())
			}
			if n := strings.Count(p.stderr.String(), "not loaded"); c.runs != (n == 0) || n > 1 {
				t.Errorf("it was said %d times: %s", n, p.stderr.String())
			}
			if saved := read(t, filepath.Join(h.agent, "trust.json")); saved != "" {
				t.Errorf("it was remembered: %s", saved)
			}
		})
	}
	for _, mode := range []string{"json", "text"} {
		t.Run("yes in "+mode, func(t *testing.T) {
			h := newHome(t)
			h.work, _ = project(t, "ours")
			h.decide(t, "yes")
			if out := h.pi(t, "--mode", mode, "--provider", "mock", "--model", "m1", "/ours"); !strings.Contains(out, "ours") || strings.Contains(out, "not loaded") {
				t.Errorf("it says %s", out)
			}
		})
	}
}

// TestAHandlerHasTheTimeOfTheSettings waits no longer for a decision than the
// user wants to.
func TestAHandlerHasTheTimeOfTheSettings(t *testing.T) {
	h := newHome(t)
	write(t, filepath.Join(h.agent, "settings.json"), `{"extensionHookTimeoutMs": 100}`)
	h.work, _ = project(t, "ours")
	h.decide(t, "hang")
	p := h.start(t)
	if e := p.event("extension_error"); !strings.Contains(e.Error, "100ms") {
		t.Errorf("it is told %q", e.Error)
	}
	p.settle()
	if got, d := p.prompts(), p.diagnostics(); got != "" || !mention(d, ".pi/prompts", "not loaded") {
		t.Errorf("there are %q, and the diagnostics are %q", got, d)
	}
	p.end()
}

// TestADecisionIsRemembered asks once, saves what was said, and asks again
// when another folder is entered.
func TestADecisionIsRemembered(t *testing.T) {
	h := newHome(t)
	h.work, _ = project(t, "ours")
	other, _ := project(t, "other")
	asked := h.decide(t, "yes", "REMEMBER=1")
	p := h.start(t)
	p.settle()
	p.ask("there", fmt.Sprintf(`{"type":"switch_session","sessionPath":%q}`, sessionIn(t, other)))
	if got := p.prompts(); got != "other auto" {
		t.Errorf("in the other project there are %q", got)
	}
	p.end()
	p = h.start(t)
	p.settle()
	p.end()
	if got := asked(); !slices.Equal(got, []string{h.work, other}) {
		t.Errorf("it was asked about %q", got)
	}
	if got := h.pi(t, "trust", "--list"); !strings.Contains(got, "trusted  "+h.work) || !strings.Contains(got, "trusted  "+other) {
		t.Errorf("saved is %s", got)
	}
}

// TestExtensionsAreNotAskedWhatIsDecided covers flags and saved decisions.
func TestExtensionsAreNotAskedWhatIsDecided(t *testing.T) {
	for name, decide := range map[string]func(h home) []string{
		"--no-approve": func(home) []string { return []string{"--no-approve"} },
		"declined":     func(h home) []string { h.pi(t, "trust", "--decline"); return nil },
		"never": func(h home) []string {
			write(t, filepath.Join(h.agent, "settings.json"), `{"defaultProjectTrust": "never"}`)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			var ran func() bool
			h.work, ran = project(t, "ours")
			asked := h.decide(t, "yes")
			p := h.start(t, decide(h)...)
			p.settle()
			if got := p.prompts(); got != "" || len(asked()) > 0 || ran() {
				t.Errorf("there are %q, it was asked about %q, the extension ran: %v", got, asked(), ran())
			}
			p.end()
		})
	}
}

// TestAProjectHasNoSayAboutOthers puts the deciding extension into a trusted
// project.
func TestAProjectHasNoSayAboutOthers(t *testing.T) {
	h := newHome(t)
	h.work, _ = project(t, "ours")
	theirs, _ := project(t, "theirs")
	asked := h.decide(t, "yes")
	extension := filepath.Join("extensions", "decider")
	if err := os.Rename(filepath.Join(h.agent, extension), filepath.Join(h.work, ".pi", extension)); err != nil {
		t.Fatal(err)
	}
	p := h.start(t, "--approve")
	p.settle()
	p.ask("there", fmt.Sprintf(`{"type":"switch_session","sessionPath":%q}`, sessionIn(t, theirs)))
	if got := p.prompts(); got != "" || len(asked()) > 0 {
		t.Errorf("in their project there are %q; it was asked about %q", got, asked())
	}
	p.end()
}

// TestPlacesOfFlagsAndExtensions are where they were meant, and say who named
// them, also after the session went elsewhere.
func TestPlacesOfFlagsAndExtensions(t *testing.T) {
	h := newHome(t)
	elsewhere := t.TempDir()
	write(t, filepath.Join(h.work, "named", "flagged.md"), "x")
	write(t, filepath.Join(h.work, "prompt.txt"), "MARK of a system prompt")
	write(t, filepath.Join(elsewhere, "tips", "tip.md"), "x")
	h.decide(t, "undecided", "PROMPTS="+filepath.Join(elsewhere, "tips"))
	p := h.start(t, "--prompt-template", "named", "--append-system-prompt", "prompt.txt")
	p.settle()
	want := "flagged local, tip extension:decider"
	if got := p.prompts(); got != want {
		t.Errorf("there are %q, want %q", got, want)
	}
	p.ask("there", fmt.Sprintf(`{"type":"switch_session","sessionPath":%q}`, sessionIn(t, elsewhere)))
	if got := p.prompts(); got != want {
		t.Errorf("elsewhere there are %q, want %q", got, want)
	}
	p.ask("p", `{"type":"prompt","message":"SAY hi"}`)
	p.event("agent_settled")
	p.end()
	requests := h.server.Requests()
	if len(requests) != 1 || !strings.Contains(string(requests[0].Body), "MARK of a system prompt") {
		t.Error("the text of the flag was not found elsewhere")
	}
}
