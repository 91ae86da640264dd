package store_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

// compareWithView compares a log with what a reference agent said about the
// same session. System prompts that later versions keep in the session are not
// compared: they stay in the file, and are no part of the conversation here.
func compareWithView(t *testing.T, l *store.Log, name, leafID string, messages []json.RawMessage, tree json.RawMessage) {
	t.Helper()
	if l.Name() != name || l.Leaf() != leafID {
		t.Errorf("name %q, leaf %s; want %q, %s", l.Name(), l.Leaf(), name, leafID)
	}
	var got []json.RawMessage
	for _, item := range l.Context(l.Leaf()) {
		got = append(got, item.Raw())
	}
	got, messages = withoutSystem(t, got), withoutSystem(t, messages)
	if len(got) != len(messages) {
		t.Errorf("%d messages, want %d", len(got), len(messages))
	}
	for i := range min(len(got), len(messages)) {
		if !sameMessage(t, got[i], messages[i]) {
			t.Errorf("message %d: got  %s\nwant %s", i, got[i], messages[i])
		}
	}
	var nodes []treeNode
	if err := json.Unmarshal(tree, &nodes); err != nil {
		t.Fatal(err)
	}
	if got, want := draw(l.Tree()), drawNodes(nodes); got != want {
		t.Errorf("tree: got  %s\nwant %s", got, want)
	}
}

// treeNode is the part of a node in the answer to get_tree that is compared.
type treeNode struct {
	Entry struct {
		ID string `json:"id"`
	} `json:"entry"`
	Label    string     `json:"label,omitempty"`
	Children []treeNode `json:"children"`
}

// drawNodes is draw for an agent's tree.
func drawNodes(nodes []treeNode) string {
	var parts []string
	for _, n := range nodes {
		s := n.Entry.ID
		if n.Label != "" {
			s += "[" + n.Label + "]"
		}
		if len(n.Children) > 0 {
			s += "(" + drawNodes(n.Children) + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func withoutSystem(t *testing.T, list []json.RawMessage) []json.RawMessage {
	t.Helper()
	var kept []json.RawMessage
	for _, raw := range list {
		var head struct {
			Role message.Role `json:"role"`
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			t.Fatal(err)
		}
		if head.Role != "system" {
			kept = append(kept, raw)
		}
	}
	return kept
}

// sameMessage compares messages. The time of one that the file does not hold as
// such is that of its entry here, and that of the moment in the agent.
func sameMessage(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y map[string]any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	switch role, _ := x["role"].(string); message.Role(role) {
	case message.RoleCustom, message.RoleBranchSummary, message.RoleCompactionSummary:
		delete(x, "timestamp")
		delete(y, "timestamp")
	}
	return reflect.DeepEqual(x, y)
}

// Sessions that the reference agents wrote, with what they said about them.
func TestSessionsOfTheReferenceAgents(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded sessions: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/sessions/"), func(t *testing.T) {
			recorded := read(t, file)
			var want struct {
				Name, LeafID string
				Messages     []json.RawMessage
				Tree         json.RawMessage
			}
			if err := json.Unmarshal([]byte(read(t, strings.TrimSuffix(file, ".jsonl")+".view.json")), &want); err != nil {
				t.Fatal(err)
			}
			path := write(t, strings.Split(strings.TrimSuffix(recorded, "\n"), "\n")...)
			l := open(t, path)
			if got, want := len(l.Entries()), strings.Count(recorded, "\n")-1; got != want {
				t.Errorf("%d entries, want one for each of %d lines", got, want)
			}
			compareWithView(t, l, want.Name, want.LeafID, want.Messages, want.Tree)
			for _, item := range l.Context(l.Leaf()) {
				if _, opaque := item.Message().(*message.Opaque); opaque && item.Role != "system" {
					t.Errorf("a message of role %s does not decode: %s", item.Role, item.Raw())
				}
			}
			must(t, l, said("next"))
			if got := read(t, path); !strings.HasPrefix(got, recorded) {
				t.Error("what the agent wrote was changed")
			}
			checkReload(t, l)
		})
	}
}
