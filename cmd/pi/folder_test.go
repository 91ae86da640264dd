package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var stationProgram = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(buildDir, "stations")
	return dir, build(dir, "./testdata/extensions/stations")
})

// station puts an extension of some name into a folder of extensions.
func station(t *testing.T, extensions, name string, env ...string) {
	t.Helper()
	program, err := stationProgram()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := json.Marshal(map[string]any{"command": []string{program}, "env": append(env, "STATION="+name)})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(extensions, name, "extension.json"), string(manifest))
}

// land is two projects, a and b, each with an extension, settings and a
// template of its own, and an extension of the user's.
type land struct {
	home
	a, b, log, veto string
}

func newLand(t *testing.T) land {
	t.Helper()
	l := land{home: newHome(t)}
	dir := t.TempDir()
	l.a, l.b, l.log, l.veto = filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "log"), filepath.Join(dir, "veto")
	env := []string{"STATIONS=" + l.log, "VETO=" + l.veto}
	station(t, filepath.Join(l.agent, "extensions"), "user", env...)
	for name, project := range map[string]string{"a": l.a, "b": l.b} {
		station(t, filepath.Join(project, ".pi", "extensions"), name, env...)
		write(t, filepath.Join(project, ".pi", "prompts", "of"+name+".md"), "SAY "+name)
	}
	write(t, filepath.Join(l.a, ".pi", "settings.json"), `{"shellCommandPrefix": "echo as in a", "compaction": {"enabled": false}, "defaultTools": ["bash", "grep"]}`)
	write(t, filepath.Join(l.b, ".pi", "settings.json"), `{"shellCommandPrefix": "echo as in b", "steeringMode": "all", "defaultTools": ["-write"]}`)
	l.work = l.a
	return l
}

// look is what a client sees of the folder that the session works in.
func (p *process) look() string {
	p.t.Helper()
	var state struct {
		SteeringMode          string
		AutoCompactionEnabled bool
	}
	var bash struct{ Output string }
	var all struct {
		Commands []struct{ Name, Source string }
	}
	var up struct {
		Extensions []struct{ Name, State string }
	}
	for command, into := range map[string]any{"get_state": &state, "get_commands": &all, "get_extensions": &up} {
		if err := json.Unmarshal(p.ask("look", `{"type":"`+command+`"}`), into); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := json.Unmarshal(p.ask("look", `{"type":"bash","command":"true"}`), &bash); err != nil {
		p.t.Fatal(err)
	}
	seen := fmt.Sprintf("%s, compaction %v, %s;", state.SteeringMode, state.AutoCompactionEnabled, strings.TrimSpace(bash.Output))
	for _, c := range all.Commands {
		seen += " /" + c.Name
	}
	for _, e := range up.Extensions {
		seen += " " + e.Name + ":" + e.State
	}
	return seen
}

func (l land) tools(p *process) string {
	p.t.Helper()
	p.say("SAY hi")
	requests := l.server.Requests()
	var body struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(requests[len(requests)-1].Body, &body); err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, tool := range body.Tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

func (l land) went(t *testing.T) []string {
	return strings.Split(strings.TrimSpace(read(t, l.log)), "\n")
}

const (
	inA = "one-at-a-time, compaction false, as in a; /user /a /ofa user:running a:running"
	inB = "all, compaction true, as in b; /user /b /ofb user:running b:running"
)

// TestASessionRunsWithWhatItsFolderHas switches between two trusted projects:
// settings, templates and extensions are those of the folder, and extensions
// see each start and end once.
func TestASessionRunsWithWhatItsFolderHas(t *testing.T) {
	l := newLand(t)
	l.pi(t, "trust", l.a)
	l.pi(t, "trust", l.b)
	p := l.start(t)
	p.settle()
	if got := p.look(); got != inA {
		t.Errorf("in a there is %s", got)
	}
	if got := l.tools(p); got != "bash grep user a" {
		t.Errorf("in a the model has %s", got)
	}
	sessionInA := l.fileOf(p)

	there := fmt.Sprintf(`{"type":"switch_session","sessionPath":%q}`, sessionIn(t, l.b))
	write(t, l.veto, "")
	if got := string(p.ask("no", there)); got != `{"cancelled":true}` {
		t.Errorf("with a veto it is %s", got)
	}
	if got := p.look(); got != inA {
		t.Errorf("after a veto there is %s", got)
	}
	if err := os.Remove(l.veto); err != nil {
		t.Fatal(err)
	}
	p.send(fmt.Sprintf(`{"id":"gone","type":"switch_session","sessionPath":%q}`, filepath.Join(l.b, "gone.jsonl")))
	if f := p.response("gone"); f.Success {
		t.Error("a missing session was opened")
	}
	if got := p.look(); got != inA {
		t.Errorf("after a failure there is %s", got)
	}

	p.ask("there", there)
	if got := p.look(); got != inB {
		t.Errorf("in b there is %s", got)
	}
	if got := l.tools(p); got != "read bash edit user b" {
		t.Errorf("in b the model has %s", got)
	}
	p.ask("new", `{"type":"new_session"}`)
	p.ask("back", fmt.Sprintf(`{"type":"switch_session","sessionPath":%q}`, sessionInA))
	if got := p.look(); got != inA {
		t.Errorf("back in a there is %s", got)
	}
	if got := l.tools(p); got != "bash grep user a" {
		t.Errorf("back in a the model has %s", got)
	}
	p.end()

	want := []string{
		"user start startup in a, trusted true", "a start startup in a, trusted true",
		"user shutdown reload in a", "a shutdown reload in a", "user start reload in a, trusted true", "a start reload in a, trusted true",
		"user shutdown resume in a", "a shutdown resume in a", "user start resume in b, trusted true", "b start resume in b, trusted true",
		"user shutdown new in b", "b shutdown new in b", "user start new in b, trusted true", "b start new in b, trusted true",
		"user shutdown resume in b", "b shutdown resume in b", "user start resume in a, trusted true", "a start resume in a, trusted true",
	}
	got := l.went(t)
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("extensions saw\n\t%s\nand should have seen\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	if last := got[len(want):]; len(last) != 2 || !slices.Contains(last, "user shutdown quit in a") || !slices.Contains(last, "a shutdown quit in a") {
		t.Errorf("at the end they saw %q", last)
	}
}

// TestAnExtensionThatWasLeftAddsNothing has commands that switch the session and
// add something there: the user's extension goes on and may, the project's
// ends with the command.
func TestAnExtensionThatWasLeftAddsNothing(t *testing.T) {
	l := newLand(t)
	l.pi(t, "trust", l.a)
	l.pi(t, "trust", l.b)
	p := l.start(t)
	p.settle()
	there := sessionIn(t, l.b)
	p.send(fmt.Sprintf(`{"id":"go","type":"prompt","message":"/a %s"}`, there))
	p.until(func(f frame) bool {
		return f.Type == "extension_error" && strings.Contains(f.Error, "nothing more is taken")
	})
	p.response("go")
	if got := p.look(); got != inB {
		t.Errorf("in b there is %s", got)
	}
	if got := l.tools(p); got != "read bash edit user b" {
		t.Errorf("in b the model has %s", got)
	}
	p.ask("go", fmt.Sprintf(`{"type":"prompt","message":"/user %s"}`, there))
	if got := p.look(); got != strings.Replace(inB, "/user", "/user /late", 1) {
		t.Errorf("with what the user's extension added there is %s", got)
	}
	p.end()
}

func (l land) fileOf(p *process) string {
	p.t.Helper()
	var state struct{ SessionFile string }
	if err := json.Unmarshal(p.ask("file", `{"type":"get_state"}`), &state); err != nil {
		p.t.Fatal(err)
	}
	return state.SessionFile
}

// TestNothingOfAnUntrustedFolderIsUsed switches from a trusted project to one
// that nobody has decided about.
func TestNothingOfAnUntrustedFolderIsUsed(t *testing.T) {
	l := newLand(t)
	l.pi(t, "trust", l.a)
	p := l.start(t)
	p.settle()
	p.ask("there", fmt.Sprintf(`{"type":"switch_session","sessionPath":%q}`, sessionIn(t, l.b)))
	if got := p.look(); got != "one-at-a-time, compaction true, ; /user user:running" {
		t.Errorf("there is %s", got)
	}
	if d := p.diagnostics(); !mention(d, ".pi/extensions", "pi trust "+l.b) {
		t.Errorf("the diagnostics are %q", d)
	}
	p.end()
	if went := l.went(t); slices.ContainsFunc(went, func(s string) bool { return strings.HasPrefix(s, "b ") }) {
		t.Errorf("it was started: %q", went)
	}

	// A decision while pi runs counts from the next reload on.
	p = l.start(t, "--session", sessionIn(t, l.b))
	p.settle()
	l.pi(t, "trust", l.b)
	p.ask("reload", `{"type":"reload"}`)
	if got := p.look(); got != inB {
		t.Errorf("after the reload there is %s", got)
	}
	p.end()
}

// TestADecisionCanBeCutShort aborts while an extension of the user thinks about
// the folder that the session goes to.
func TestADecisionCanBeCutShort(t *testing.T) {
	for _, end := range []string{"abort", "end of input"} {
		t.Run(end, func(t *testing.T) {
			h := newHome(t)
			theirs, _ := project(t, "theirs")
			asked := h.decide(t, "hang")
			p := h.start(t)
			p.settle()
			p.send(fmt.Sprintf(`{"id":"there","type":"switch_session","sessionPath":%q}`, sessionIn(t, theirs)))
			for len(asked()) == 0 { // a question to pi a turn
				p.ask("alive", `{"type":"get_state"}`)
			}
			if end == "abort" {
				p.send(`{"id":"stop","type":"abort"}`)
				if f := p.response("there"); !f.Success {
					t.Errorf("the switch: %s", f.Error)
				}
				if got, d := p.prompts(), p.diagnostics(); got != "" || !mention(d, theirs, "not loaded") {
					t.Errorf("there are %q, and the diagnostics are %q", got, d)
				}
			}
			p.end()
		})
	}
}

// TestNamesThatNoToolHas are told as soon as all extensions are up, once each,
// and no longer than nobody brings the tool.
func TestNamesThatNoToolHas(t *testing.T) {
	l := newLand(t)
	p := l.start(t, "--tools", "read,user,late,Grep", "--exclude-tools", "sudo,bash")
	p.settle()
	known := "read, bash, edit, write, grep, find, ls, user"
	d := p.diagnostics()
	if !mention(d, "--tools", `"Grep"`, known) || !mention(d, "--tools", `"late"`, known) || !mention(d, "--exclude-tools", `"sudo"`, known) {
		t.Errorf("the diagnostics are %q", d)
	}
	if mention(d, `names "user"`) || mention(d, `names "bash"`) {
		t.Errorf("what is there is told of: %q", d)
	}
	p.ask("late", `{"type":"set_host_tools","tools":[{"name":"late","description":"d","parameters":{"type":"object"}}]}`)
	if d := p.diagnostics(); mention(d, `names "late"`) || !mention(d, `names "Grep"`) {
		t.Errorf("with the client's tool the diagnostics are %q", d)
	}
	p.settle()
	p.end()
	for _, name := range []string{"Grep", "late", "sudo"} {
		if n := strings.Count(p.stderr.String(), fmt.Sprintf("names %q", name)); n != 1 {
			t.Errorf("of %s it was told %d times: %s", name, n, p.stderr.String())
		}
	}
}

// TestSettingsCountTheSameInEveryMode: what a person set holds however pi is
// driven, and nothing is put before the model that nobody sees.
func TestSettingsCountTheSameInEveryMode(t *testing.T) {
	l := newLand(t)
	l.pi(t, "trust", l.a)
	for _, mode := range []string{"rpc", "json", "text"} {
		t.Run(mode, func(t *testing.T) {
			if mode == "rpc" {
				p := l.start(t)
				p.settle()
				p.say("SAY hi")
				p.end()
			} else {
				l.pi(t, "--mode", mode, "--provider", "mock", "--model", "m1", "SAY hi")
			}
			requests := l.server.Requests()
			var body struct {
				Tools    []struct{ Name string }
				Messages []struct {
					Role    string
					Content []struct{ Text string }
				}
			}
			if err := json.Unmarshal(requests[len(requests)-1].Body, &body); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range body.Tools {
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != "bash grep user a" {
				t.Errorf("the model has %s", got)
			}
			if len(body.Messages) != 1 || len(body.Messages[0].Content) != 1 || body.Messages[0].Content[0].Text != "SAY hi" {
				t.Errorf("the model is told %+v", body.Messages)
			}
		})
	}
}
