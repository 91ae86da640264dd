package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/store"
)

// A disk that fails stops nobody: clients are told, once, and told again when
// everything is written.
func TestStorageTrouble(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	r := newRig(t, nil, onDisk(dir))
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // in the way of the folder
		t.Fatal(err)
	}
	r.run("p")
	r.run("q")
	wantLines(t, r.conversation(), "user: p", "assistant stop: ok", "user: q", "assistant stop: ok")
	troubles := r.Lines("agent_", "turn_", "message_")
	if len(troubles) != 1 || !strings.HasPrefix(troubles[0], "storage_error ") || !strings.Contains(troubles[0], r.File()) || !strings.Contains(troubles[0], `"healed":false`) {
		t.Errorf("clients hear %q", troubles)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	r.Reset()
	r.run("s")
	if troubles := r.Lines("agent_", "turn_", "message_"); len(troubles) != 1 || !strings.Contains(troubles[0], `"healed":true`) {
		t.Errorf("clients hear %q", troubles)
	}
	log, err := store.Read(r.File())
	if err != nil {
		t.Fatal(err)
	}
	var stored []string
	for _, item := range log.Context(log.Leaf()) {
		stored = append(stored, scripted.Message(item.Message()))
	}
	wantLines(t, stored, r.conversation()...)
}
