//go:build interop

package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// picture is a PNG of one pixel.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const filler = "SAY alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega"

// Sessions that the agents write open here, and say the same.
func TestInteropTheirsOpenHere(t *testing.T) {
	for _, agent := range referenceAgents(t) {
		t.Run(agent.name, func(t *testing.T) {
			p := newPlace(t, agent)
			r := p.start(t)
			for _, s := range []struct {
				name string
				play func(*running)
			}{{"conversation", playConversation}, {"tree", playTree}, {"compaction", playCompaction}, {"fork", playFork}, {"clone", playClone}} {
				s.play(r)
				v, file := r.view(), r.file()
				t.Run(s.name, func(t *testing.T) { checkTheirs(t, file, v) })
				if os.Getenv("INTEROP_RECORD") != "" {
					record(t, p, s.name, file, v)
				}
			}
			r.stop()
		})
	}
}

func checkTheirs(t *testing.T, file string, v view) {
	l, err := store.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Entries()) != len(v.Entries) {
		t.Fatalf("%d entries, want %d", len(l.Entries()), len(v.Entries))
	}
	for i, e := range l.Entries() {
		if !equalJSON(t, e.Raw, v.Entries[i]) {
			t.Errorf("entry %d: got  %s\nwant %s", i, e.Raw, v.Entries[i])
		}
	}
	compareWithView(t, l, v.Name, v.LeafID, v.Messages, v.Tree)
}

func playConversation(r *running) {
	r.ask("prompt", map[string]any{"message": "SAY A picture.", "images": []any{map[string]any{"type": "image", "data": picture, "mimeType": "image/png"}}})
	r.prompt("THINK a thought\nTOOL bash {\"command\":\"echo hi\"}\nTHEN\nTOOL read {\"path\":\"a.txt\"}\nTHEN\nSAY Done.")
	r.ask("bash", map[string]any{"command": "echo from the client"})
	r.ask("bash", map[string]any{"command": "echo unseen", "excludeFromContext": true})
	r.ask("set_thinking_level", map[string]any{"level": "high"})
	r.ask("set_model", map[string]any{"provider": "mock", "modelId": "m2"})
	r.prompt("SAY Naïve 例えば \u2028 \"quoted\"")
	r.ask("set_session_name", map[string]any{"name": "A name"})
	r.prompt("/note a note of an extension")
	r.prompt("FAIL 529 1\nSAY recovered")
	r.prompt("/mark 0 start")
}

func playTree(r *running) {
	r.ask("new_session", nil)
	r.prompt("SAY one")
	r.prompt("SAY two")
	r.prompt("/nav 1")
	r.prompt("SAY other")
	r.prompt("/nav 1 sum")
	r.prompt("SAY third")
	r.prompt("/mark 0 begin")
	r.prompt("/mark 1 left")
	r.prompt("/mark 1")
}

func playCompaction(r *running) {
	r.ask("new_session", nil)
	for range 4 {
		r.prompt(filler)
	}
	r.ask("compact", map[string]any{"customInstructions": "letters"})
	r.prompt("SAY after")
	for range 3 {
		r.prompt(filler)
	}
	r.ask("compact", nil)
	r.prompt("SAY at the end")
}

func playFork(r *running) {
	var list struct{ Messages []struct{ EntryID string } }
	if err := json.Unmarshal(r.ask("get_fork_messages", nil), &list); err != nil {
		r.t.Fatal(err)
	}
	r.ask("fork", map[string]any{"entryId": list.Messages[len(list.Messages)-1].EntryID})
	r.prompt("SAY in the fork")
}

func playClone(r *running) {
	r.ask("clone", nil)
	r.prompt("SAY in the clone")
}

// record keeps a session and the agent's view of it, without what belongs to
// the machine, and without the words of the agent itself.
func record(t *testing.T, p place, name, file string, v view) {
	t.Helper()
	dir := filepath.Join("testdata", "sessions", p.agent.name)
	err := os.MkdirAll(dir, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	var tree []treeNode
	if err := json.Unmarshal(v.Tree, &tree); err != nil {
		t.Fatal(err)
	}
	if v.Tree, err = json.Marshal(tree); err != nil {
		t.Fatal(err)
	}
	v.Messages = withoutSystem(t, v.Messages)
	viewed, err := message.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for suffix, text := range map[string]string{".jsonl": read(t, file), ".view.json": string(viewed) + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name+suffix), []byte(cleaned(p, text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	summaries = regexp.MustCompile(`"summary":"(?:[^"\\]|\\.)*"`)
	folders   = regexp.MustCompile(`--tmp-[^/"]*--/`)
	texts     = regexp.MustCompile(`"(\w+)":"(?:[^"\\]|\\.)*"`)
)

func cleaned(p place, text string) string {
	text = strings.ReplaceAll(text, p.root, "/home/user")
	text = folders.ReplaceAllString(text, "--home-user-work--/")
	text = summaries.ReplaceAllString(text, `"summary":"A summary."`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.Contains(line, `"role":"system"`) {
			lines[i] = texts.ReplaceAllStringFunc(line, withoutProse)
		}
	}
	return strings.Join(lines, "\n")
}

// withoutProse empties the text of a member of a system prompt.
func withoutProse(member string) string {
	name := texts.FindStringSubmatch(member)[1]
	switch name {
	case "type", "id", "parentId", "timestamp", "role", "name", "summary", "firstKeptEntryId":
		return member
	}
	return `"` + name + `":""`
}

func equalJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// Sessions that are written here open there, say the same, go on, and come
// back.
func TestInteropOursOpenThere(t *testing.T) {
	for _, agent := range referenceAgents(t) {
		t.Run(agent.name, func(t *testing.T) {
			p := newPlace(t, agent)
			l := ourSession(t, p)
			path := l.Path()
			r := p.start(t, "--session", path)
			compareEntries(t, r.view().Entries, l)
			v := r.view()
			compareWithView(t, l, v.Name, v.LeafID, v.Messages, v.Tree)
			r.prompt("SAY from there")
			r.stop()

			back := open(t, path)
			for i, e := range l.Entries() {
				if string(back.Entries()[i].Raw) != string(e.Raw) {
					t.Errorf("entry %d was changed to %s", i, back.Entries()[i].Raw)
				}
			}
			items := back.Context(back.Leaf())
			if got := message.TextOf(items[len(items)-1].Message()); got != "from there" {
				t.Errorf("the last message is %q", got)
			}
			must(t, back, said("SAY from here"))
			must(t, back, answered("from here"))
			if err := back.Close(); err != nil {
				t.Fatal(err)
			}

			r = p.start(t, "--session", path)
			v = r.view()
			compareEntries(t, v.Entries, back)
			compareWithView(t, back, v.Name, v.LeafID, v.Messages, v.Tree)
			r.ask("clone", nil)
			r.prompt("SAY in the clone")
			v, file := r.view(), r.file()
			r.stop()
			checkTheirs(t, file, v)
		})
	}
}

func compareEntries(t *testing.T, theirs []json.RawMessage, l *store.Log) {
	t.Helper()
	entries := l.Entries()
	if len(theirs) != len(entries) {
		t.Fatalf("they have %d entries, we %d", len(theirs), len(entries))
	}
	for i, e := range entries {
		if !equalJSON(t, theirs[i], e.Raw) {
			t.Errorf("entry %d: they have %s\nwe %s", i, theirs[i], e.Raw)
		}
	}
}

// ourSession writes a session with every kind of entry, a branch and a
// compaction.
func ourSession(t *testing.T, p place) *store.Log {
	t.Helper()
	cwd := filepath.Join(p.root, "work")
	l, err := store.Create(store.CreateOptions{Dir: store.DirFor(filepath.Join(p.root, "agent"), cwd), Cwd: cwd})
	if err != nil {
		t.Fatal(err)
	}
	call := message.Block{Type: message.BlockToolCall, ID: "toolu_1", Name: "bash", Arguments: []byte(`{"command":"ls"}`)}
	thought := message.Block{Type: message.BlockThinking, Thinking: "hm", ThinkingSignature: "c2ln"}
	usage := message.Usage{Input: 10, Output: 5, TotalTokens: 15}
	assistant := func(stop message.StopReason, blocks ...message.Block) store.Body {
		return store.MessageBody{Message: &message.Assistant{
			Content: blocks, API: "anthropic-messages", Provider: "mock", Model: "m1", Usage: usage, StopReason: stop, Timestamp: 1767323046000,
		}}
	}
	zero := 0
	for _, body := range []store.Body{
		store.ModelChange{Provider: "mock", ModelID: "m1"},
		store.ThinkingLevelChange{Level: "low"},
		store.MessageBody{Message: message.NewUser("SAY A picture.", []message.Block{message.ImageBlock(picture, "image/png")}, 1767323045000)},
		assistant(message.StopToolUse, thought, message.TextBlock("I look."), call),
		store.MessageBody{Message: &message.ToolResult{ToolCallID: "toolu_1", ToolName: "bash", Content: []message.Block{message.TextBlock("a.txt\n")}, Timestamp: 1767323047000}},
		assistant(message.StopStop, message.TextBlock("One file.")),
	} {
		must(t, l, body)
	}
	branch := l.Leaf()
	left := must(t, l, said("SAY left"))
	must(t, l, answered("left"))
	if err := l.SetLeaf(branch); err != nil {
		t.Fatal(err)
	}
	must(t, l, store.BranchSummary{FromID: left.ID, Summary: "What was left.", Details: []byte(`{"readFiles":[],"modifiedFiles":[]}`), Usage: &usage})
	must(t, l, store.Label{TargetID: left.ID, Label: "left"})
	kept := must(t, l, said("SAY 例えば \u2028 <&>"))
	for _, body := range []store.Body{
		answered("例えば"),
		store.SessionInfo{Name: "Written here"},
		store.Compaction{Summary: "What came before.", FirstKeptEntryID: kept.ID, TokensBefore: 100, Details: []byte(`{"readFiles":["a.txt"],"modifiedFiles":[]}`), Usage: &usage},
		store.MessageBody{Message: &message.BashExecution{Command: "pwd", Output: "/\n", ExitCode: &zero, Timestamp: 1767323048000}},
		store.Custom{CustomType: "state", Data: []byte(`{"n":1}`)},
		store.CustomMessage{CustomType: "note", Content: message.PlainContent("a note"), Display: true, Details: []byte(`{"d":1}`)},
		said("SAY last"),
		answered("last"),
	} {
		must(t, l, body)
	}
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}
