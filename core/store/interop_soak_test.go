//go:build interop

package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// Sessions that lived long open there, with the same entries, the same tree
// and the same conversation for the model; they go on there, and come back.
//
// INTEROP_SESSIONS is a pattern of their files, which the soak makes:
//
//	go test ./cmd/pi -run TestSoak -args -soak 400 -soakkeep /tmp/soak
//	INTEROP_SESSIONS='/tmp/soak/sessions/*.jsonl' INTEROP_AGENTS=… \
//		go test -tags interop -run SoakedOpenThere ./core/store
func TestSoakedOpenThere(t *testing.T) {
	files, err := filepath.Glob(os.Getenv("INTEROP_SESSIONS"))
	if err != nil || len(files) == 0 {
		t.Fatalf("INTEROP_SESSIONS names no file: %v", err)
	}
	for _, agent := range referenceAgents(t) {
		t.Run(agent.name, func(t *testing.T) {
			p := newPlace(t, agent)
			for _, file := range files {
				path := filepath.Join(p.root, filepath.Base(file))
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
				t.Run(filepath.Base(file), func(t *testing.T) { openThere(t, p, path) })
			}
		})
	}
}

func openThere(t *testing.T, p place, path string) {
	ours, err := store.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	r := p.start(t, "--session", path)
	v := r.view()
	compareEntries(t, v.Entries[:len(ours.Entries())], ours) // it may note its model behind them
	compareSaid(t, ours, v)
	r.prompt("SAY from there")
	v = r.view()
	r.stop()

	back := open(t, path)
	compareEntries(t, v.Entries, back)
	compareSaid(t, back, v)
	must(t, back, said("SAY from here"))
	must(t, back, answered("from here"))
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
	r = p.start(t, "--session", path)
	compareSaid(t, back, r.view())
	r.stop()
}

// compareSaid compares the tree, and what the model is sent of the
// conversation. What both leave out of that may be listed or not.
func compareSaid(t *testing.T, l *store.Log, v view) {
	t.Helper()
	var nodes []treeNode
	if err := json.Unmarshal(v.Tree, &nodes); err != nil {
		t.Fatal(err)
	}
	if got, want := draw(l.Tree()), drawNodes(nodes); got != want {
		t.Errorf("our tree is  %s\ntheirs %s", got, want)
	}
	var raws []json.RawMessage
	for _, item := range l.Context(v.LeafID) {
		raws = append(raws, item.Raw())
	}
	ours, theirs := forModel(t, raws), forModel(t, v.Messages)
	for i := range max(len(ours), len(theirs)) {
		if i >= len(ours) || i >= len(theirs) {
			t.Errorf("we send the model %d messages, they %d", len(ours), len(theirs))
			return
		}
		if !sameMessage(t, ours[i], theirs[i]) {
			t.Errorf("message %d: we send  %s\nthey %s", i, ours[i], theirs[i])
		}
	}
}

// forModel is what the model is sent of messages, without what the agents
// differ in. An answer that the token limit cut off is left out by them as
// well, in the process that saw the prompt behind it, but not by one that loads
// the file. And 0.84.0 says the summary of an earlier compaction again where
// the last one kept messages from before it; 1.6.0 and ours do not.
func forModel(t *testing.T, raws []json.RawMessage) []json.RawMessage {
	t.Helper()
	var list []message.Message
	for i, raw := range raws {
		m, err := message.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && m.Role() == message.RoleCompactionSummary {
			continue
		}
		if n := len(list); n > 0 && m.Role() == message.RoleUser {
			if last, ok := list[n-1].(*message.Assistant); ok && last.IsCutOff() {
				list = list[:n-1]
			}
		}
		list = append(list, m)
	}
	var out []json.RawMessage
	var errs []error
	for _, m := range message.ForModel(list) {
		raw, err := message.Marshal(m)
		errs, out = append(errs, err), append(out, raw)
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return out
}
