package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

var (
	version1 = []string{
		`{"type":"session","id":"old-1","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/work","extra":{"a":1}}`,
		`{"type":"message","timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":"q1","timestamp":1},"extra":true}`,
		`{"type":"message","timestamp":"2025-11-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"a1"}],"provider":"mock","model":"m1","stopReason":"stop","timestamp":2}}`,
		`not JSON`,
		`{"type":"compaction","timestamp":"2025-11-01T10:00:03.000Z","summary":"S","firstKeptEntryIndex":2,"tokensBefore":5}`,
		`{"type":"message","timestamp":"2025-11-01T10:00:04.000Z","message":{"role":"hookMessage","customType":"x","content":"hooked","display":true,"timestamp":3}}`,
		`{"type":"martian","z":1}`,
	}
	version2 = []string{
		`{"type":"session","version":2,"id":"old-2","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/work"}`,
		q1, a1, `{"half`,
		`{"type":"message","id":"aaaa0003","parentId":"aaaa0002","timestamp":"2025-11-01T10:00:03.000Z","message":{"role":"hookMessage","customType":"x","content":"hooked","display":true,"timestamp":3}}`,
	}
)

func TestMigration(t *testing.T) {
	cases := []struct {
		name    string
		lines   []string
		context string
	}{
		{"version 1", version1, "compactionSummary S; assistant a1; custom hooked"},
		{"version 2", version2, "user q1; assistant a1; custom hooked"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.lines...)
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
			before := read(t, path)
			l := open(t, path)
			if l.Header().Version != 3 {
				t.Errorf("version %d, want 3", l.Header().Version)
			}
			if got := contextOf(l); got != c.context {
				t.Errorf("context %q, want %q", got, c.context)
			}
			if got := len(l.Branch(l.Leaf())); got != len(l.Entries()) {
				t.Errorf("%d of %d entries are on the branch", got, len(l.Entries()))
			}
			if read(t, path) != before {
				t.Error("opening changed the file")
			}
			again, err := store.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if outline(again.Entries()) != outline(l.Entries()) {
				t.Error("a second load gives other ids")
			}

			must(t, l, said("next"))
			must(t, l, answered("answer"))
			checkReload(t, l)
			checkMigrated(t, path, c.lines)
			if got := read(t, path+".old"); got != before {
				t.Errorf("the old file was not kept: %s", got)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the mode changed: %v %v", info.Mode(), err)
			}
			if temps, _ := filepath.Glob(path + ".*.tmp"); len(temps) > 0 {
				t.Errorf("left behind: %v", temps)
			}
		})
	}
}

// checkMigrated looks for every line of the old file in the new one: changed
// only where the version asks for it.
func checkMigrated(t *testing.T, path string, old []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(read(t, path), "\n"), "\n")
	if len(lines) != len(old)+2 {
		t.Fatalf("%d lines, want %d and two that were appended", len(lines), len(old))
	}
	for i, line := range old {
		got := strings.ReplaceAll(lines[i], `"custom"`, `"hookMessage"`)
		got = strings.Replace(got, `"version":3`, `"version":2`, 1)
		if !strings.HasPrefix(got, strings.TrimSuffix(line, "}")) {
			t.Errorf("line %d: got  %s\nwant %s and more", i+1, lines[i], line)
		}
	}
}

// A migration that cannot be written leaves the old file, and is done with the
// next entry that can.
func TestMigrationThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "s.jsonl")
	before := strings.Join(version2, "\n") + "\n"
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	away := filepath.Dir(path) + "-away"
	if err := os.Rename(filepath.Dir(path), away); err != nil {
		t.Fatal(err)
	}
	var failed *store.WriteError
	if _, err := l.Append(said("first")); !errors.As(err, &failed) || failed.Held != 1 {
		t.Fatalf("got %v, want a WriteError", err)
	}
	if err := os.Rename(away, filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if read(t, path) != before {
		t.Error("the old file was changed")
	}
	must(t, l, said("second"))
	checkReload(t, l)
	if got := read(t, path+".old"); got != before {
		t.Errorf("the old file was not kept: %s", got)
	}
}

func TestMigrationOfADeletedFile(t *testing.T) {
	path := write(t, version2...)
	l := open(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	must(t, l, said("next"))
	checkReload(t, l)
}

// contextOf writes the context at the leaf in one line.
func contextOf(l *store.Log) string {
	var parts []string
	for _, item := range l.Context(l.Leaf()) {
		m := item.Message()
		parts = append(parts, string(m.Role())+" "+message.TextOf(m))
	}
	return strings.Join(parts, "; ")
}
