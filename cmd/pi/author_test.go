package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixtureExtension builds one of the programs in testdata/extensions.
func fixtureExtension(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := buildFixtures(path, "./testdata/extensions/"+name); err != nil {
		t.Fatal(err)
	}
	return path
}

// An extension that does not answer holds up the completion, for a while, and
// nothing else.
func TestCompletionOfArguments(t *testing.T) {
	p := newHome(t).start(t, "--extension", fixtureExtension(t, "author"))
	p.send(`{"id":"c","type":"complete_command","name":"deploy","prefix":"st"}`)
	const want = `{"completions":[{"value":"staging","label":"Staging","description":"for tests"},{"value":"st","label":"st"}]}`
	if f := p.response("c"); string(f.Data) != want {
		t.Errorf("got %s %s, want %s", f.Data, f.Error, want)
	}
	p.send(`{"id":"h","type":"complete_command","name":"deploy","prefix":"hang"}`)
	p.send(`{"id":"n","type":"complete_command","name":"handover"}`)
	p.send(`{"id":"u","type":"complete_command","name":"nonsense"}`)
	p.send(`{"id":"s","type":"set_session_name","name":"x"}`)
	answers := map[any]frame{}
	var order []any
	for len(answers) < 4 {
		f := p.event("response")
		answers[f.ID] = f
		order = append(order, f.ID)
	}
	if slices.Index(order, "h") != 3 {
		t.Errorf("the answers came in the order %v", order)
	}
	if f := answers["n"]; string(f.Data) != `{"completions":[]}` {
		t.Errorf("a command without completion gives %s %s", f.Data, f.Error)
	}
	if f := answers["u"]; f.Success || !strings.Contains(f.Error, `"nonsense"`) {
		t.Errorf("an unknown command gives %+v", f)
	}
	if f := answers["h"]; f.Success || !strings.Contains(f.Error, "extension author: the completion of the command deploy did not answer within 2s") {
		t.Errorf("a slow extension gives %s", f.raw)
	}
	p.send(`{"id":"d","type":"complete_command","name":"deploy","prefix":"die"}`)
	if f := p.response("d"); f.Success || !strings.Contains(f.Error, "no places left") {
		t.Errorf("an extension that dies gives %s", f.raw)
	}
	p.end()
}

// What a command gives a new session is there when the session starts, in its
// file, and in front of the first prompt.
func TestNewSessionThatIsSetUp(t *testing.T) {
	h := newHome(t)
	p := h.start(t, "--extension", fixtureExtension(t, "author"))
	p.send(`{"id":"p","type":"prompt","message":"SAY one"}`)
	p.event("agent_settled")
	p.send(`{"id":"o","type":"get_state"}`)
	old := state(t, p.response("o"))
	p.send(`{"id":"h","type":"prompt","message":"/handover the tests"}`)
	var notices []string
	p.until(func(f frame) bool {
		var notice struct{ Message string }
		if f.Type == "extension_ui_request" && json.Unmarshal(f.raw, &notice) == nil {
			notices = append(notices, notice.Message)
		}
		return f.Type == "response" && f.ID == "h"
	})
	if got := strings.Join(notices, "; "); got != `start new: "handed over" with 2 messages; handed over` {
		t.Errorf("the notices are %s", got)
	}
	p.send(`{"id":"n","type":"get_state"}`)
	now := state(t, p.response("n"))
	if now.SessionName != "handed over" || now.MessageCount != 2 || now.SessionFile == old.SessionFile {
		t.Errorf("the state is %+v", now)
	}
	var types []string
	file, err := os.ReadFile(now.SessionFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		var entry struct{ Type, ParentSession string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Type == "session" && entry.ParentSession != old.SessionFile {
			t.Errorf("the header is %s", line)
		}
		types = append(types, entry.Type)
	}
	if got := strings.Join(types, " "); got != "session model_change thinking_level_change session_info message custom_message custom" {
		t.Errorf("the file has %s", got)
	}
	p.send(`{"id":"q","type":"prompt","message":"SAY two"}`)
	p.event("agent_settled")
	requests := h.server.Requests()
	if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "what matters: the tests") || !strings.Contains(body, "a note") || strings.Contains(body, "SAY one") {
		t.Errorf("the model was asked %s", body)
	}
	p.end()
}

type sessionState struct {
	SessionFile, SessionName string
	MessageCount             int
}

func state(t *testing.T, f frame) sessionState {
	t.Helper()
	var s sessionState
	if err := json.Unmarshal(f.Data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}
