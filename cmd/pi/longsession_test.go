package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
)

// withSmallWindow is newHome with a model whose window fills quickly.
func withSmallWindow(t *testing.T, window int, settings string) home {
	t.Helper()
	h := home{server: modelserver.Start(t), agent: t.TempDir(), work: t.TempDir()}
	models := fmt.Sprintf(`{"providers": {"mock": {"baseUrl": %q, "api": "anthropic-messages", "apiKey": "x", "models": [{"id": "m1", "contextWindow": %d, "maxTokens": 1000}]}}}`, h.server.URL, window)
	for name, text := range map[string]string{"models.json": models, "settings.json": settings} {
		if err := os.WriteFile(filepath.Join(h.agent, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

const keepLittle = `{"retry": {"baseDelayMs": 1}, "compaction": {"reserveTokens": 1000, "keepRecentTokens": 20}}`

// prompt sends a prompt and waits until it has settled.
func (p *process) prompt(text string) {
	p.t.Helper()
	raw, err := json.Marshal(map[string]string{"id": "p", "type": "prompt", "message": text})
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(string(raw))
	p.event("agent_settled")
}

// get reads what a command answers.
func (p *process) get(command string, data any) {
	p.t.Helper()
	if err := json.Unmarshal(p.ask("g", command), data); err != nil {
		p.t.Fatal(err)
	}
}

func TestTwoProcessesOneSession(t *testing.T) {
	h := newHome(t)
	first := h.start(t, "--session", "one.jsonl")
	first.prompt("SAY first")
	second := exec.CommandContext(t.Context(), piBinary, "--mode", "rpc", "--provider", "mock", "--session", "one.jsonl")
	second.Dir, second.Env = h.work, h.environment(t)
	var stderr strings.Builder
	second.Stderr = &stderr
	out, err := second.Output()
	if err == nil || second.ProcessState.ExitCode() != 1 || len(out) > 0 {
		t.Errorf("the second process ended with %v and wrote %q", err, out)
	}
	for _, want := range []string{"one.jsonl", fmt.Sprintf("process %d", first.cmd.Process.Pid), "fork"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("it does not say %q: %s", want, stderr.String())
		}
	}
	// A copy is free, and so is the session when its process is gone.
	fork := h.start(t, "--fork", "one.jsonl")
	fork.prompt("SAY in the fork")
	fork.end()
	first.kill()
	third := h.start(t, "--session", "one.jsonl")
	third.prompt("SAY third")
	third.end()
}

// However busy the session is, a client finds out how it is: in the middle of
// an answer, and in that of a compaction, where prompts are answered too and
// sent when it is over.
func TestStateIsToldMeanwhile(t *testing.T) {
	p := withSmallWindow(t, 100_000, keepLittle).start(t)
	states := func(id string, isCompacting bool) {
		t.Helper()
		var lines []string
		for i := range 50 {
			lines = append(lines, fmt.Sprintf(`{"id":"%s%d","type":"get_state"}`, id, i))
		}
		p.send(strings.Join(lines, "\n"))
		for i := range 50 {
			var state struct{ IsStreaming, IsCompacting bool }
			if err := json.Unmarshal(p.response(fmt.Sprintf("%s%d", id, i)).Data, &state); err != nil {
				t.Fatal(err)
			}
			if state.IsStreaming == isCompacting || state.IsCompacting != isCompacting {
				t.Fatalf("%s: the state is %+v", id, state)
			}
		}
	}
	p.prompt("SUMSLOW 2000\nBURST 10 100")
	p.send(`{"id":"h","type":"prompt","message":"BURST 10 100\nHANG"}`)
	p.event("message_update")
	states("run", false)
	p.send(`{"id":"a","type":"abort"}`)
	p.response("a")
	p.send(`{"id":"c","type":"compact"}`)
	p.event("compaction_start")
	states("compaction", true)
	p.send(`{"id":"q","type":"prompt","message":"SAY afterwards"}`)
	if f := p.until(func(f frame) bool { return f.ID == "q" || f.Type == "compaction_end" }); !f.Success {
		t.Errorf("a prompt during the compaction is answered with, or after, %s", f.raw)
	}
	p.event("compaction_end")
	p.event("agent_settled")
	if got := string(p.ask("l", `{"type":"get_last_assistant_text"}`)); !strings.Contains(got, "afterwards") {
		t.Errorf("the last answer is %s", got)
	}
	p.end()
}

// While a compaction is on, other commands are answered, and an abort ends it
// at once.
func TestAbortOfACompactionThatTakesLong(t *testing.T) {
	p := withSmallWindow(t, 100_000, keepLittle).start(t)
	p.prompt("SUMSLOW 60000\nBURST 10 100")
	p.prompt("BURST 10 100")
	p.send(`{"id":"c","type":"compact"}`)
	p.event("compaction_start")
	var state struct{ IsCompacting, IsStreaming bool }
	p.get(`{"type":"get_state"}`, &state)
	if !state.IsCompacting || state.IsStreaming {
		t.Errorf("the state is %+v", state)
	}
	p.ask("g", `{"type":"bash","command":"true"}`)
	begun := time.Now()
	p.send(`{"id":"a","type":"abort"}`)
	end := p.event("compaction_end")
	if !strings.Contains(string(end.raw), `"aborted":true`) {
		t.Errorf("it ends with %s", end.raw)
	}
	for answered := 0; answered < 2; answered++ {
		if f := p.event("response"); f.ID == "c" && f.Success {
			t.Error("a compaction that was aborted succeeded")
		}
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("the abort took %v", took)
	}
	p.end()
}

// A window that cannot be emptied costs a few summaries, and then a sentence.
func TestCompactionThatCannotHelp(t *testing.T) {
	h := withSmallWindow(t, 2000, `{"compaction": {"reserveTokens": 500, "keepRecentTokens": 1}}`)
	p := h.start(t, "--no-session")
	ends := ""
	for i := range 12 {
		p.send(fmt.Sprintf(`{"id":"p","type":"prompt","message":"USAGE 5000\nSAY answer %d"}`, i))
		p.until(func(f frame) bool {
			if f.Type == "compaction_end" {
				ends += string(f.raw)
			}
			return f.Type == "agent_settled"
		})
	}
	p.end()
	summaries := 0
	for _, r := range h.server.Requests() {
		if !strings.Contains(string(r.Body), `"tools"`) {
			summaries++
		}
	}
	if summaries == 0 || summaries > 6 {
		t.Errorf("12 prompts cost %d requests for summaries", summaries)
	}
	if !strings.Contains(ends, "compactions in a row") {
		t.Errorf("nobody is told why it stops: %s", ends)
	}
}

// A client that comes back after a restart gets all entries behind the one it
// saw last, also those that a compaction hides from the conversation.
func TestCatchingUpAfterACompaction(t *testing.T) {
	h := withSmallWindow(t, 100_000, keepLittle)
	p := h.start(t, "--session", "s.jsonl")
	p.prompt("SAY one")
	type entries struct {
		Entries []struct{ ID, Type string }
		LeafID  string
	}
	var seen, missed entries
	p.get(`{"type":"get_entries"}`, &seen)
	p.prompt("BURST 10 100")
	p.prompt("BURST 10 100")
	p.ask("g", `{"type":"compact"}`)
	p.end()

	p = h.start(t, "--session", "s.jsonl")
	p.get(fmt.Sprintf(`{"type":"get_entries","since":%q}`, seen.LeafID), &missed)
	var types []string
	for _, e := range missed.Entries {
		types = append(types, e.Type)
	}
	if want := []string{"message", "message", "message", "message", "compaction"}; !reflect.DeepEqual(types, want) || missed.LeafID != missed.Entries[len(missed.Entries)-1].ID {
		t.Errorf("behind %s are %q, and the leaf is %s", seen.LeafID, types, missed.LeafID)
	}
	p.send(`{"id":"u","type":"get_entries","since":"ffffffff"}`)
	if f := p.response("u"); f.Success || f.Error != "Entry not found: ffffffff" {
		t.Errorf("an id that nobody has: %+v", f)
	}
	p.end()
}

// What a compaction replaced stays replaced in copies of the session.
func TestCopiesKeepTheCompaction(t *testing.T) {
	for _, command := range []string{`{"type":"clone"}`, `{"type":"fork","entryId":"LAST"}`} {
		h := withSmallWindow(t, 100_000, keepLittle)
		p := h.start(t)
		p.prompt("SAY forgotten")
		p.prompt("BURST 10 100")
		p.prompt("SAY kept")
		p.ask("g", `{"type":"compact"}`)
		p.prompt("SAY after")
		var forks struct{ Messages []struct{ EntryID string } }
		p.get(`{"type":"get_fork_messages"}`, &forks)
		before := messagesOf(t, h)
		p.ask("x", strings.ReplaceAll(command, "LAST", forks.Messages[len(forks.Messages)-1].EntryID))
		p.prompt("SAY after")
		after := messagesOf(t, h)
		if !strings.Contains(before, modelserver.Summary) || strings.Contains(after, "SAY forgotten") {
			t.Errorf("%s: the model is sent %s", command, after)
		}
		if strings.Contains(command, "fork") && before != after {
			t.Errorf("the model is sent\n%s\nand, in the fork,\n%s", before, after)
		}
		if strings.Contains(command, "clone") && !strings.HasPrefix(after, strings.TrimSuffix(before, "]")) {
			t.Errorf("the model is sent\n%s\nand, in the clone,\n%s", before, after)
		}
		p.end()
	}
}

// messagesOf is what the model was sent last.
func messagesOf(t *testing.T, h home) string {
	t.Helper()
	requests := h.server.Requests()
	var body struct{ Messages []any }
	if err := json.Unmarshal(requests[len(requests)-1].Body, &body); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(withoutMarks(body.Messages))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The working folder may go away under a process: what needs it fails, and the
// rest goes on.
func TestWorkingFolderThatGoesAway(t *testing.T) {
	h := newHome(t)
	h.work = filepath.Join(h.work, "project")
	if err := os.Mkdir(h.work, 0o700); err != nil {
		t.Fatal(err)
	}
	p := h.start(t)
	p.prompt("SAY here")
	if err := os.RemoveAll(h.work); err != nil {
		t.Fatal(err)
	}
	p.send(`{"id":"b","type":"bash","command":"echo hi"}`)
	f := p.response("b")
	var data struct{ ExitCode *int }
	if err := json.Unmarshal(f.Data, &data); f.Success && (err != nil || data.ExitCode == nil || *data.ExitCode == 0) {
		t.Errorf("a command in no folder: %s", f.raw)
	}
	p.send(`{"id":"p","type":"prompt","message":"TOOL bash {\"command\":\"echo hi\"}\nTHEN\nSAY still here"}`)
	if f := p.event("tool_execution_end"); !strings.Contains(string(f.raw), `"isError":true`) {
		t.Errorf("a tool in no folder: %s", f.raw)
	}
	p.event("agent_settled")
	var last struct{ Text string }
	p.get(`{"type":"get_last_assistant_text"}`, &last)
	if last.Text != "still here" {
		t.Errorf("the last answer is %q", last.Text)
	}
	p.end()
}

// Which failures are asked again, as a client sees it.
func TestWhichFailuresAreRetried(t *testing.T) {
	for _, c := range []struct {
		orders string
		again  bool
	}{
		{"FAIL 408 1", true}, {"FAIL 409 1", true}, {"FAIL 429 1", true}, {"FAIL 500 1", true}, {"FAIL 502 1", true},
		{"FAIL 503 1", true}, {"FAIL 504 1", true}, {"FAIL 520 1", true}, {"FAIL 524 1", true}, {"FAIL 529 1", true},
		{"FAIL 400 1\nFAILMSG Overloaded: overloaded_error", true},
		{"CUT", true},
		{"FAIL 401 1", false}, {"FAIL 403 1", false}, {"FAIL 404 1", false},
		{"FAIL 429 1\nFAILMSG You exceeded your current quota: insufficient_quota", false},
		// Digits in ids and byte counts are no status.
		{"FAIL 400 1\nFAILMSG request req_529503 of 500 bytes is malformed", false},
	} {
		h := withSmallWindow(t, 100_000, keepLittle)
		p := h.start(t, "--no-session")
		raw, err := json.Marshal(map[string]string{"id": "p", "type": "prompt", "message": c.orders + "\nSAY ok"})
		if err != nil {
			t.Fatal(err)
		}
		p.send(string(raw))
		again, ends := 0, 0
		p.until(func(f frame) bool {
			switch f.Type {
			case "auto_retry_start":
				again++
			case "auto_retry_end":
				ends++
			}
			return f.Type == "agent_settled"
		})
		if c.again != (again > 0) || again > 0 && ends != 1 {
			t.Errorf("%q: asked again %d times, and told %d times of the end of that", c.orders, again, ends)
		}
		p.end()
	}
}

// What a service asks for is waited for, and an abort ends the wait. What
// nobody would wait for ends the run with a sentence instead.
func TestWaitsThatAServiceAsksFor(t *testing.T) {
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Format(http.TimeFormat)
	for asked, want := range map[string]int64{"30": 30_000, "soon": 1, "-5": 1, "99999999": 0, "1e400": 0, tomorrow: 0} {
		p := withSmallWindow(t, 100_000, keepLittle).start(t, "--no-session")
		raw, err := json.Marshal(map[string]string{"id": "p", "type": "prompt", "message": "FAIL 429 1\nRETRYAFTER " + asked + "\nSAY ok"})
		if err != nil {
			t.Fatal(err)
		}
		p.send(string(raw))
		var begun time.Time
		wait, said := int64(0), ""
		p.until(func(f frame) bool {
			switch f.Type {
			case "message_end":
				said = string(f.raw)
			case "auto_retry_start":
				var start struct{ DelayMS int64 }
				if err := json.Unmarshal(f.raw, &start); err != nil {
					t.Fatal(err)
				}
				wait, begun = start.DelayMS, time.Now()
				if wait > 1 {
					p.send(`{"id":"a","type":"abort"}`)
				}
			case "auto_retry_end":
				if aborted := strings.Contains(string(f.raw), `"success":false`); aborted != (wait > 1) || aborted && time.Since(begun) > 5*time.Second {
					t.Errorf("asked to wait %s: the wait ends after %v with %s", asked, time.Since(begun), f.raw)
				}
			}
			return f.Type == "agent_settled"
		})
		if wait != want {
			t.Errorf("asked to wait %s: the wait is %d ms, want %d", asked, wait, want)
		}
		if want == 0 && !strings.Contains(said, "asks to wait") {
			t.Errorf("asked to wait %s: the run ends with %s", asked, said)
		}
		p.end()
	}
}
