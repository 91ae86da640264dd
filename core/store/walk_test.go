package store_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// Whatever way a session took, a fresh load of its file says the same as the
// log that lived through it.
func TestFreshLoadAfterALongWay(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := walker{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), log: create(t)}
			must(t, w.log, said("first"))
			if err := w.log.Persist(); err != nil {
				t.Fatal(err)
			}
			for step := range 400 {
				w.step(step)
			}
			w.compare()
		})
	}
}

type walker struct {
	t   *testing.T
	rnd *rand.Rand
	log *store.Log
}

// some gives any entry of the session.
func (w *walker) some() store.Entry {
	entries := w.log.Entries()
	return entries[w.rnd.IntN(len(entries))]
}

func (w *walker) step(n int) {
	text := fmt.Sprintf("step %d 例え\u2028", n)
	switch k := w.rnd.IntN(100); {
	case k < 30:
		must(w.t, w.log, said(text))
	case k < 60:
		must(w.t, w.log, answered(text))
	case k < 68:
		must(w.t, w.log, failed(text))
	case k < 74:
		must(w.t, w.log, store.CustomMessage{CustomType: "x", Content: message.PlainContent(text)})
	case k < 80:
		must(w.t, w.log, store.Label{TargetID: w.some().ID, Label: []string{"", text}[k%2]})
	case k < 84:
		must(w.t, w.log, store.SessionInfo{Name: text})
	case k < 88:
		must(w.t, w.log, store.ModelChange{Provider: "mock", ModelID: text})
	case k < 91:
		must(w.t, w.log, store.Compaction{Summary: text, FirstKeptEntryID: w.some().ID})
	case k < 96:
		if err := w.log.SetLeaf(w.some().ID); err != nil {
			w.t.Fatal(err)
		}
		must(w.t, w.log, store.BranchSummary{FromID: w.some().ID, Summary: text})
	case k < 98:
		w.compare()
	default:
		w.forkOrReopen(k == 98)
	}
}

// forkOrReopen goes on in another log: a fork, or this file opened again.
func (w *walker) forkOrReopen(fork bool) {
	path := w.log.Path()
	if fork {
		next, err := w.log.Fork(store.ForkOptions{LeafID: w.log.Leaf(), Dir: w.t.TempDir()})
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = next.Close() })
		if err := next.Persist(); err != nil {
			w.t.Fatal(err)
		}
		if got, want := contextOf(next), contextOf(w.log); got != want {
			w.t.Errorf("the fork's context is %s\nwant %s", got, want)
		}
		w.log = next
		return
	}
	if err := w.log.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.log = open(w.t, path)
}

func (w *walker) compare() {
	w.t.Helper()
	fresh, err := store.Read(w.log.Path())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range []store.Entry{w.some(), w.some(), w.log.Entries()[len(w.log.Entries())-1]} {
		got, want := fresh.Context(e.ID), w.log.Context(e.ID)
		if len(got) != len(want) {
			w.t.Fatalf("at %s: %d messages, want %d", e.ID, len(got), len(want))
		}
		for i := range got {
			if string(got[i].Raw()) != string(want[i].Raw()) || got[i].Kept != want[i].Kept {
				w.t.Errorf("at %s: message %d is %s, want %s", e.ID, i, got[i].Raw(), want[i].Raw())
			}
		}
		if got, want := fresh.BranchState(e.ID), w.log.BranchState(e.ID); got != want {
			w.t.Errorf("at %s: state %+v, want %+v", e.ID, got, want)
		}
	}
	if got, want := draw(fresh.Tree()), draw(w.log.Tree()); got != want {
		w.t.Errorf("tree %s\nwant %s", got, want)
	}
	if fresh.Name() != w.log.Name() || !reflect.DeepEqual(fresh.Totals(), w.log.Totals()) {
		w.t.Errorf("name %q, totals %+v; want %q, %+v", fresh.Name(), fresh.Totals(), w.log.Name(), w.log.Totals())
	}
}
