package store_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed-54e836f5/pi/core/store"
)

func TestForkKeepsThePath(t *testing.T) {
	l := open(t, write(t, header, q1, a1, `{"type":"martian","id":"m","parentId":"aaaa0002","z":1}`, entry("c", "m", "q2"), entry("d", "aaaa0001", "other branch")))
	dir := filepath.Join(t.TempDir(), "new", "folder")
	fork, err := l.Fork(store.ForkOptions{LeafID: "m", Dir: dir, Cwd: "/other"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = fork.Close() }()
	h := fork.Header()
	if h.ParentSession != l.Path() || h.Cwd != "/other" || h.ID == l.ID() || filepath.Dir(fork.Path()) != dir || fork.Persisted() {
		t.Errorf("header %+v, path %s, persisted %v", h, fork.Path(), fork.Persisted())
	}
	if got, want := outline(fork.Entries()), "aaaa0001< aaaa0002<aaaa0001 m<aaaa0002"; got != want || fork.Leaf() != "m" {
		t.Errorf("entries %s, leaf %s, want %s", got, fork.Leaf(), want)
	}
	for i, e := range fork.Entries() {
		if string(e.Raw) != string(l.Entries()[i].Raw) {
			t.Errorf("entry %s was changed: %s", e.ID, e.Raw)
		}
	}
	must(t, fork, said("mine"))
	must(t, l, said("theirs"))
	if err := fork.Persist(); err != nil {
		t.Fatal(err)
	}
	checkReload(t, fork)
	checkReload(t, l)
	if got := contextOf(fork); got != "user q1; assistant a1; user mine" {
		t.Errorf("context %s", got)
	}
}

func TestForkLabels(t *testing.T) {
	l := store.InMemory(store.CreateOptions{Cwd: "/work"})
	q := must(t, l, said("q1"))
	onPath := must(t, l, store.Label{TargetID: q.ID, Label: "on the path"})
	a := must(t, l, answered("a1"))
	must(t, l, said("beyond"))
	far := must(t, l, store.Label{TargetID: a.ID, Label: "set elsewhere"})
	must(t, l, store.Label{TargetID: far.ID, Label: "on what is left behind"})

	fork, err := l.Fork(store.ForkOptions{LeafID: a.ID})
	if err != nil {
		t.Fatal(err)
	}
	if fork.Label(q.ID) != "on the path" || fork.Label(a.ID) != "set elsewhere" || fork.Label(far.ID) != "" {
		t.Errorf("labels %q, %q, %q", fork.Label(q.ID), fork.Label(a.ID), fork.Label(far.ID))
	}
	entries := fork.Entries()
	if len(entries) != 4 || entries[1].ID != onPath.ID || entries[3].Timestamp != far.Timestamp {
		t.Errorf("entries %s: the label must come last, with its own time", outline(entries))
	}
	if fork.Path() != "" || fork.Header().Cwd != "/work" || fork.Header().ParentSession != "" {
		t.Errorf("path %q, header %+v", fork.Path(), fork.Header())
	}

	must(t, l, store.Label{TargetID: q.ID})
	if fork, err = l.Fork(store.ForkOptions{LeafID: a.ID}); err != nil || fork.Label(q.ID) != "" {
		t.Errorf("a label that was taken away is back: %q %v", fork.Label(q.ID), err)
	}
}

func TestForkKeepsTheContext(t *testing.T) {
	l := open(t, write(t, header, q1, a1, entry("c", "aaaa0002", "q2"), compaction("k", "c", `,"firstKeptEntryId":"aaaa0002"`), entry("e", "k", "q3")))
	fork, err := l.Fork(store.ForkOptions{LeafID: l.Leaf()})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := contextOf(fork), contextOf(l); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestForkOfNothing(t *testing.T) {
	l := store.InMemory(store.CreateOptions{})
	must(t, l, said("q"))
	fork, err := l.Fork(store.ForkOptions{})
	if err != nil || len(fork.Entries()) != 0 || fork.Leaf() != "" {
		t.Errorf("%d entries, %v", len(fork.Entries()), err)
	}
	if _, err := l.Fork(store.ForkOptions{LeafID: "gone"}); !errors.Is(err, store.ErrEntryNotFound) {
		t.Errorf("got %v, want ErrEntryNotFound", err)
	}
}
