package store_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

func said(text string) store.MessageBody {
	return store.MessageBody{Message: message.NewUser(text, nil, 1767323045000)}
}

func answered(text string) store.MessageBody {
	return store.MessageBody{Message: &message.Assistant{
		Content: []message.Block{message.TextBlock(text)}, API: "anthropic-messages", Provider: "mock", Model: "m1",
		StopReason: message.StopStop, Timestamp: 1767323046000,
	}}
}

func failed(text string) store.MessageBody {
	b := answered(text)
	b.Message.(*message.Assistant).StopReason = message.StopError
	return b
}

// must appends and fails the test if that fails.
func must(t testing.TB, l *store.Log, body store.Body) store.Entry {
	t.Helper()
	e, err := l.Append(body)
	if err != nil {
		t.Fatalf("append %T: %v", body, err)
	}
	return e
}

func create(t testing.TB) *store.Log {
	t.Helper()
	l, err := store.Create(store.CreateOptions{Dir: filepath.Join(t.TempDir(), "sessions"), Cwd: "/work"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func open(t testing.TB, path string) *store.Log {
	t.Helper()
	l, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// write makes a session file of lines.
func write(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// checkReload compares the log with what a fresh load of its file finds.
func checkReload(t testing.TB, l *store.Log) {
	t.Helper()
	fresh, err := store.Read(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	got, want := fresh.Entries(), l.Entries()
	if len(got) != len(want) {
		t.Fatalf("a fresh load has %d entries, want %d", len(got), len(want))
	}
	for i := range want {
		if string(got[i].Raw) != string(want[i].Raw) || got[i].ParentID != want[i].ParentID {
			t.Errorf("entry %d: a fresh load has %s, want %s", i, got[i].Raw, want[i].Raw)
		}
	}
	if fresh.Leaf() != want[len(want)-1].ID {
		t.Errorf("a fresh load has the leaf %s, want the last entry %s", fresh.Leaf(), want[len(want)-1].ID)
	}
}

func TestCreateTouchesNothingBeforePersist(t *testing.T) {
	l := create(t)
	must(t, l, said("hello"))
	if _, err := os.Stat(filepath.Dir(l.Path())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder exists before Persist: %v", err)
	}
	if l.Persisted() || l.Locked() {
		t.Error("the session says that it is on disk")
	}
	name := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_` + l.ID() + `\.jsonl$`)
	if base := filepath.Base(l.Path()); !name.MatchString(base) {
		t.Errorf("file name %s does not match %s", base, name)
	}
	if v7 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`); !v7.MatchString(l.ID()) {
		t.Errorf("id %s is no UUID of version 7", l.ID())
	}
}

func TestPersistWritesWhatIsThereAndThenEachEntry(t *testing.T) {
	l := create(t)
	must(t, l, store.ModelChange{Provider: "mock", ModelID: "m1"})
	must(t, l, said("hello"))
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(read(t, l.Path()), "\n"); got != 3 {
		t.Errorf("after Persist the file has %d lines, want header and two entries", got)
	}
	must(t, l, answered("hi"))
	if got := strings.Count(read(t, l.Path()), "\n"); got != 4 {
		t.Errorf("after Append the file has %d lines, want 4", got)
	}
	checkReload(t, l)
	for path, want := range map[string]fs.FileMode{l.Path(): 0o600, filepath.Dir(l.Path()): 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

func TestPersistDoesNotOverwrite(t *testing.T) {
	dir := t.TempDir()
	l, err := store.Create(store.CreateOptions{Dir: dir, ID: "chosen"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Path(), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Persist(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want an error that wraps fs.ErrExist", err)
	}
	if got := read(t, l.Path()); got != "mine" {
		t.Errorf("the file was changed to %q", got)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestCreateRefusesIDsThatArePaths(t *testing.T) {
	for _, id := range []string{"../x", "a/b", `a\b`} {
		if _, err := store.Create(store.CreateOptions{Dir: t.TempDir(), ID: id}); err == nil {
			t.Errorf("id %q was accepted", id)
		}
	}
}

func TestEntryShape(t *testing.T) {
	usage := &message.Usage{Input: 1, Output: 2, TotalTokens: 3}
	const cost = `"usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`
	cases := []struct {
		body store.Body
		want string
	}{
		{said("a < b & c"), `"type":"message","ID","message":{"role":"user","content":[{"type":"text","text":"a < b & c"}],"timestamp":1767323045000}`},
		{store.ModelChange{Provider: "mock", ModelID: "m2"}, `"type":"model_change","ID","provider":"mock","modelId":"m2"`},
		{store.ThinkingLevelChange{Level: "high"}, `"type":"thinking_level_change","ID","thinkingLevel":"high"`},
		{store.Compaction{Summary: "S", FirstKeptEntryID: "aaaa0001", TokensBefore: 9, Details: json.RawMessage(`{"readFiles":[]}`), Usage: usage},
			`"type":"compaction","ID","summary":"S","firstKeptEntryId":"aaaa0001","tokensBefore":9,"details":{"readFiles":[]},` + cost + `,"fromHook":false`},
		{store.BranchSummary{FromID: "aaaa0001", Summary: "S", Usage: usage, FromHook: true},
			`"type":"branch_summary","ID","fromId":"aaaa0001","summary":"S",` + cost + `,"fromHook":true`},
		{store.Custom{CustomType: "x", Data: json.RawMessage(`{"n":[1]}`)}, `"type":"custom","ID","customType":"x","data":{"n":[1]}`},
		{store.Custom{CustomType: "x"}, `"type":"custom","ID","customType":"x"`},
		{store.CustomMessage{CustomType: "x", Content: message.PlainContent("c"), Display: true, Details: json.RawMessage(`1`)},
			`"type":"custom_message","ID","customType":"x","content":"c","display":true,"details":1`},
		{store.Label{TargetID: "aaaa0001", Label: "here"}, `"type":"label","ID","targetId":"aaaa0001","label":"here"`},
		{store.Label{TargetID: "aaaa0001"}, `"type":"label","ID","targetId":"aaaa0001"`},
		{store.SessionInfo{Name: "n"}, `"type":"session_info","ID","name":"n"`},
	}
	l := store.InMemory(store.CreateOptions{Cwd: "/work"})
	id := regexp.MustCompile(`"id":"[0-9a-f]{8}","parentId":(null|"[0-9a-f]{8}"),"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
	parent := ""
	for _, c := range cases {
		e := must(t, l, c.body)
		if got := id.ReplaceAllString(string(e.Raw), `"ID"`); got != "{"+c.want+"}" {
			t.Errorf("%T: got  %s\nwant {%s}", c.body, got, c.want)
		}
		if e.ParentID != parent {
			t.Errorf("%T: parent %q, want %q", c.body, e.ParentID, parent)
		}
		parent = e.ID
	}
}

func TestAppendRefusesWhatIsNotJSON(t *testing.T) {
	l := create(t)
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	before := read(t, l.Path())
	if _, err := l.Append(store.Custom{CustomType: "x", Data: json.RawMessage(`{"half`)}); err == nil {
		t.Error("data that is no JSON was accepted")
	}
	if len(l.Entries()) != 0 || l.Leaf() != "" || read(t, l.Path()) != before {
		t.Error("a refused entry left a trace")
	}
}

func TestAppendAfterCloseAndOnReadOnly(t *testing.T) {
	l := create(t)
	must(t, l, said("q"))
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := l.Append(said("late")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
	if err := l.Persist(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Persist after Close: %v", err)
	}
	ro, err := store.Read(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ro.Append(said("no")); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Append on a log for reading: %v", err)
	}
	if err := ro.SetLeaf(""); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("SetLeaf on a log for reading: %v", err)
	}
	if err := ro.Persist(); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Persist on a log for reading: %v", err)
	}
}

func TestInMemoryNeverTouchesTheDisk(t *testing.T) {
	l := store.InMemory(store.CreateOptions{Dir: t.TempDir(), Cwd: "/work", ParentSession: "/p.jsonl"})
	must(t, l, said("q"))
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	if l.Path() != "" || l.Persisted() {
		t.Errorf("path %q, persisted %v", l.Path(), l.Persisted())
	}
	h := l.Header()
	if h.Type != "session" || h.Version != 3 || h.ID != l.ID() || h.Cwd != "/work" || h.ParentSession != "/p.jsonl" {
		t.Errorf("header %+v", h)
	}
}

func TestNameAndLabels(t *testing.T) {
	l := store.InMemory(store.CreateOptions{})
	q := must(t, l, said("q"))
	if l.Name() != "" || l.Label(q.ID) != "" {
		t.Error("a new session has a name or labels")
	}
	must(t, l, store.SessionInfo{Name: "  first  "})
	must(t, l, store.Label{TargetID: q.ID, Label: "mark"})
	if l.Name() != "first" || l.Label(q.ID) != "mark" {
		t.Errorf("name %q, label %q", l.Name(), l.Label(q.ID))
	}
	must(t, l, store.SessionInfo{Name: ""})
	must(t, l, store.Label{TargetID: q.ID})
	if l.Name() != "" || l.Label(q.ID) != "" {
		t.Errorf("name %q, label %q, want both taken away", l.Name(), l.Label(q.ID))
	}
}

// Readers see whole entries while several goroutines append, and the file has
// them in the order that memory has.
func TestConcurrentUse(t *testing.T) {
	l := create(t)
	must(t, l, said("q"))
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	const writers, each = 4, 50
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if _, err := l.Append(answered("a")); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range each {
				entries := l.Entries()
				if last := entries[len(entries)-1]; last.ID == "" || len(last.Raw) == 0 {
					t.Error("half an entry")
				}
				if got := l.Context(l.Leaf()); len(got) == 0 {
					t.Error("empty context")
				}
				l.Tree()
			}
		})
	}
	wg.Wait()
	if got, want := len(l.Branch(l.Leaf())), 1+writers*each; got != want {
		t.Errorf("the branch has %d entries, want %d: entries must be one chain", got, want)
	}
	checkReload(t, l)
}
