package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/store"
)

// Whatever a file holds: it is refused and left alone, or it opens, every call
// comes back, what is appended is there after a reload, and nothing that was
// in the file has changed (but for a migration).
func FuzzOpen(f *testing.F) {
	for _, lines := range [][]string{
		{header, q1, a1},
		version1, version2,
		{header, q1, "garbage", entry("b", "b", "x"), entry("b", "c", "y"), entry("c", "b", "z")},
		{header, compaction("k", "k", `,"firstKeptEntryId":"k"`), other("context_edit", "e", "k", `,"targetId":"k","replacement":[]`)},
		{header, other("label", "l", "", `,"targetId":"l","label":"x"`), other("session_info", "n", "l", `,"name":7`)},
		{header[:30]}, {""}, {q1, header},
	} {
		text := strings.Join(lines, "\n")
		f.Add([]byte(text))
		f.Add([]byte(text + "\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := store.Open(path)
		if err != nil {
			if !errors.Is(err, store.ErrNotSession) {
				t.Errorf("unexpected error: %v", err)
			}
			if read(t, path) != string(data) {
				t.Error("a file that is no session was changed")
			}
			return
		}
		defer func() { _ = l.Close() }()
		checkCalls(t, l)
		must(t, l, said("one"))
		must(t, l, said("two"))
		if !strings.HasPrefix(read(t, path), string(data)) {
			if old, err := os.ReadFile(path + ".old"); err != nil || string(old) != string(data) {
				t.Error("what was in the file was changed, and is not kept beside it")
			}
		}
		checkReload(t, l)
	})
}

func checkCalls(t *testing.T, l *store.Log) {
	t.Helper()
	if got := countNodes(l.Tree()); got != len(l.Entries()) {
		t.Errorf("the tree has %d of %d entries", got, len(l.Entries()))
	}
	for _, e := range l.Entries() {
		if !json.Valid(e.Raw) || strings.ContainsAny(string(e.Raw), "\n\u2028\u2029") {
			t.Errorf("entry %q is not ready for the wire: %q", e.ID, e.Raw)
		}
		_, _ = e.Message()
		l.BranchState(e.ID)
		for _, item := range l.Context(e.ID) {
			if item.Message() == nil || !json.Valid(item.Raw()) {
				t.Errorf("item of entry %q: %q", item.EntryID, item.Raw())
			}
		}
	}
	fork, err := l.Fork(store.ForkOptions{LeafID: l.Leaf()})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(fork.Branch(fork.Leaf())), len(l.Branch(l.Leaf())); got < want {
		t.Errorf("the fork's branch has %d entries, want %d", got, want)
	}
}
