package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

const (
	header = `{"type":"session","version":3,"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/work"}`
	q1     = `{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"q1"}],"timestamp":1}}`
	a1     = `{"type":"message","id":"aaaa0002","parentId":"aaaa0001","timestamp":"2025-11-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"a1"}],"provider":"mock","model":"m1","stopReason":"stop","timestamp":2}}`
)

func entry(id, parent, text string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2025-11-01T10:00:03.000Z","message":{"role":"user","content":"` + text + `","timestamp":3}}`
}

// outline writes entries as id<parent.
func outline(entries []store.Entry) string {
	var parts []string
	for _, e := range entries {
		parts = append(parts, e.ID+"<"+e.ParentID)
	}
	return strings.Join(parts, " ")
}

func TestOpenOddFiles(t *testing.T) {
	cases := []struct {
		name    string
		lines   []string
		entries string
		branch  string // from the root to the leaf
		roots   int
	}{
		{"header alone", nil, "", "", 0},
		{"plain", []string{q1, a1}, "aaaa0001< aaaa0002<aaaa0001", "aaaa0001< aaaa0002<aaaa0001", 1},
		{"blank and garbage lines", []string{"", q1, "   ", "garbage", `{"half":`, "\x00\x00\x00", "[1]", "null", `"s"`, a1, "{}"},
			"aaaa0001< aaaa0002<aaaa0001", "aaaa0001< aaaa0002<aaaa0001", 1},
		{"lines with carriage returns", []string{q1 + "\r", a1 + "\r"}, "aaaa0001< aaaa0002<aaaa0001", "aaaa0001< aaaa0002<aaaa0001", 1},
		{"unknown type", []string{q1, `{"type":"martian","id":"m","parentId":"aaaa0001","z":1}`}, "aaaa0001< m<aaaa0001", "aaaa0001< m<aaaa0001", 1},
		{"an entry without an id", []string{q1, `{"type":"message","message":{"role":"user","content":"x"}}`, a1},
			"aaaa0001< aaaa0002<aaaa0001", "aaaa0001< aaaa0002<aaaa0001", 1},
		{"a second header", []string{q1, header, a1}, "aaaa0001< aaaa0002<aaaa0001", "aaaa0001< aaaa0002<aaaa0001", 1},
		{"missing parent", []string{q1, entry("b", "gone", "orphan")}, "aaaa0001< b<gone", "b<gone", 2},
		{"parent of itself", []string{entry("b", "b", "self")}, "b<b", "b<b", 1},
		{"parents in a circle", []string{entry("b", "c", "x"), entry("c", "b", "y"), entry("d", "c", "z")}, "b<c c<b d<c", "b<c c<b d<c", 1},
		{"parent of itself at the end", []string{q1, a1, entry("b", "b", "self")}, "aaaa0001< aaaa0002<aaaa0001 b<b", "aaaa0001< aaaa0002<aaaa0001", 2},
		{"parents in a circle at the end", []string{q1, a1, entry("b", "c", "x"), entry("c", "b", "y")},
			"aaaa0001< aaaa0002<aaaa0001 b<c c<b", "aaaa0001< aaaa0002<aaaa0001", 2},
		{"a branch below a circle", []string{q1, a1, entry("b", "c", "x"), entry("c", "b", "y"), entry("d", "c", "z"), entry("e", "d", "z")},
			"aaaa0001< aaaa0002<aaaa0001 b<c c<b d<c e<d", "aaaa0001< aaaa0002<aaaa0001", 2},
		{"a circle before a sound end", []string{q1, entry("b", "b", "self"), a1}, "aaaa0001< b<b aaaa0002<aaaa0001", "aaaa0001< aaaa0002<aaaa0001", 2},
		{"parent comes later", []string{q1, entry("b", "c", "x"), entry("c", "aaaa0001", "y"), entry("d", "b", "z")},
			"aaaa0001< b<c c<aaaa0001 d<b", "b<c d<b", 2},
		{"one id twice", []string{entry("b", "null", "x"), entry("c", "b", "y"), entry("b", "c", "z"), entry("d", "b", "w")},
			"b< c<b b<c d<b", "b< c<b b<c d<b", 1},
		{"the leaf is the last line, on whatever branch", []string{q1, a1, entry("b", "aaaa0001", "other")},
			"aaaa0001< aaaa0002<aaaa0001 b<aaaa0001", "aaaa0001< b<aaaa0001", 1},
		{"two roots", []string{q1, entry("b", "null", "second")}, "aaaa0001< b<", "b<", 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, append([]string{header}, c.lines...)...)
			before := read(t, path)
			l := open(t, path)
			if got := outline(l.Entries()); got != c.entries {
				t.Errorf("entries %s, want %s", got, c.entries)
			}
			if got := outline(l.Branch(l.Leaf())); got != c.branch {
				t.Errorf("branch %s, want %s", got, c.branch)
			}
			if got := len(l.Tree()); got != c.roots {
				t.Errorf("%d roots, want %d", got, c.roots)
			}
			if got := countNodes(l.Tree()); got != len(l.Entries()) {
				t.Errorf("the tree has %d entries of %d", got, len(l.Entries()))
			}
			if read(t, path) != before {
				t.Error("opening changed the file")
			}
			must(t, l, said("next"))
			if got := read(t, path); !strings.HasPrefix(got, before) {
				t.Error("appending changed what was there")
			}
			checkReload(t, l)
		})
	}
}

func countNodes(nodes []*store.Node) int {
	n := len(nodes)
	for _, node := range nodes {
		n += countNodes(node.Children)
	}
	return n
}

func TestOpenHeaders(t *testing.T) {
	cases := []struct {
		name, line string
		want       store.Header
	}{
		{"version 9", `{"type":"session","version":9,"id":"x","timestamp":"T","cwd":"/w","parentSession":"/p","new":[1]}`,
			store.Header{Type: "session", Version: 9, ID: "x", Timestamp: "T", Cwd: "/w", ParentSession: "/p"}},
		{"another order, blanks", ` { "cwd" : "/w", "id" : "x", "version" : 3, "type" : "session" } `,
			store.Header{Type: "session", Version: 3, ID: "x", Cwd: "/w"}},
		{"byte order mark", "\xef\xbb\xbf" + `{"type":"session","version":3,"id":"x"}`, store.Header{Type: "session", Version: 3, ID: "x"}},
		{"a version that is no number", `{"type":"session","version":"3","id":"x"}`, store.Header{Type: "session", Version: 3, ID: "x"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.line, q1)
			before := read(t, path)
			l := open(t, path)
			if got := l.Header(); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			must(t, l, said("next"))
			if got := read(t, path); !strings.HasPrefix(got, before) {
				t.Errorf("the file was changed to %s", got)
			}
		})
	}
}

func TestOpenRefusesWhatIsNoSession(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long")
	if err := os.WriteFile(long, bytes.Repeat([]byte("x"), 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		"text":                  write(t, "some notes", header),
		"JSON of another use":   write(t, `{"name":"x"}`, `{"type":"message","id":"a"}`),
		"no id":                 write(t, `{"type":"session","version":3}`),
		"an id of another kind": write(t, `{"type":"session","version":3,"id":5}`),
		"entry first":           write(t, q1, header),
		"half a header":         write(t, header[:40]),
		"line feed alone":       write(t, ""),
		"binary":                write(t, "\x7fELF\x02\x01\x01\x00"),
		"a long line":           long,
		"folder":                dir,
	}
	for name, path := range cases {
		t.Run(name, func(t *testing.T) {
			before, _ := os.ReadFile(path)
			if _, err := store.Open(path); !errors.Is(err, store.ErrNotSession) {
				t.Errorf("Open: got %v, want ErrNotSession", err)
			} else if !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the file: %v", err)
			}
			if _, err := store.Read(path); !errors.Is(err, store.ErrNotSession) {
				t.Errorf("Read: got %v, want ErrNotSession", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			if _, err := os.Stat(lockOf(path)); !errors.Is(err, fs.ErrNotExist) {
				t.Error("a lock file was left behind")
			}
		})
	}
}

func TestOpenMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone.jsonl")
	for _, open := range []func(string) (*store.Log, error){store.Open, store.Read} {
		if _, err := open(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want an error that wraps fs.ErrNotExist", err)
		}
	}
	if _, err := os.Stat(lockOf(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a lock file was left behind")
	}
}

func TestOpenEmptyFileStartsASession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if l.Path() != path || l.Header().Cwd != cwd || !l.Persisted() || !l.Locked() {
		t.Errorf("path %s, header %+v, persisted %v, locked %v", l.Path(), l.Header(), l.Persisted(), l.Locked())
	}
	if got := read(t, path); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, `{"type":"session","version":3,`) {
		t.Errorf("the file holds %q, want a header", got)
	}
	must(t, l, said("q"))
	checkReload(t, l)
}

func TestRawIsReadyForTheWire(t *testing.T) {
	l := open(t, write(t, header, entry("b", "null", "a\u2028b\u2029c"), entry("c", "b", "bad \xff byte"), " { \"type\" : \"x\", \"id\" : \"d\" } "))
	want := []string{`a\u2028b\u2029c`, "bad \uFFFD byte", `{ "type" : "x", "id" : "d" }`}
	for i, e := range l.Entries() {
		if !strings.Contains(string(e.Raw), want[i]) {
			t.Errorf("entry %s: %s does not hold %s", e.ID, e.Raw, want[i])
		}
	}
	if m, err := l.Entries()[0].Message(); err != nil || message.TextOf(m) != "a\u2028b\u2029c" {
		t.Errorf("the text changed: %q %v", message.TextOf(m), err)
	}
}

func TestOpenThroughALink(t *testing.T) {
	path := write(t, header, q1)
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	l := open(t, link)
	if l.Path() != link {
		t.Errorf("path %s, want it as it was given", l.Path())
	}
	var locked *store.LockedError
	if _, err := store.Open(path); !errors.As(err, &locked) {
		t.Errorf("the file is not locked under its own name: %v", err)
	}
	must(t, l, said("next"))
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if !strings.Contains(read(t, path), "next") {
		t.Error("the entry did not reach the file")
	}
}
