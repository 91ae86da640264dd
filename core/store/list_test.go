package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/store"
)

func TestDirFor(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/me/project": "--home-me-project--",
		"/":                "----",
		`C:\Users\me`:      "--C--Users-me--",
		"/a b/ü":           "--a b-ü--",
	} {
		if got := store.DirFor("agent", cwd); got != filepath.Join("agent", "sessions", want) {
			t.Errorf("%s: got %s, want %s", cwd, got, want)
		}
	}
}

// sessions makes a folder of sessions, each changed a minute after the one
// before it.
type sessions struct {
	t    *testing.T
	root string
	at   time.Time
}

func newSessions(t *testing.T) *sessions {
	return &sessions{t: t, root: filepath.Join(t.TempDir(), "sessions"), at: time.Now().Add(-time.Hour)}
}

func (s *sessions) add(folder, name string, lines ...string) string {
	s.t.Helper()
	path := filepath.Join(s.root, folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.at = s.at.Add(time.Minute)
	if err := os.Chtimes(path, s.at, s.at); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func headerOf(id, cwd string) string {
	return fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2025-11-01T10:00:00.000Z","cwd":%q,"parentSession":"/p"}`, id, cwd)
}

func TestList(t *testing.T) {
	s := newSessions(t)
	older := s.add("--work--", "2025_abc.jsonl", headerOf("abc", "/work"),
		`{"type":"session_info","id":"1","parentId":null,"name":"first"}`, a1, q1, "garbage", entry("c", "aaaa0001", "q2"),
		`{"type":"session_info","id":"2","parentId":"1","name":" last "}`, `{"type":"message","id":"torn`)
	newer := s.add("", "2025_def.jsonl", headerOf("def", "/other"))
	s.add("--work--", "notes.jsonl", "no session")
	s.add("--work--", "2025_abc.jsonl.old", headerOf("old", "/work"))
	s.add("--work--", ".2025_abc.jsonl.lock", " 1 host")
	s.add(filepath.Join("--work--", "deeper"), "2025_ghi.jsonl", headerOf("ghi", "/work"))
	if err := os.Mkdir(filepath.Join(s.root, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}

	list, err := store.List(s.root)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Path != newer || list[1].Path != older {
		t.Fatalf("got %+v, want %s and %s", list, newer, older)
	}
	got := list[1]
	info, err := os.Stat(older)
	if err != nil {
		t.Fatal(err)
	}
	want := store.Summary{
		Path: older, ID: "abc", Cwd: "/work", Name: "last", ParentSession: "/p", Messages: 3, FirstMessage: "q1",
		Created: time.Date(2025, 11, 1, 10, 0, 0, 0, time.UTC), Modified: info.ModTime(), Size: info.Size(),
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if list, err := store.List(filepath.Join(s.root, "missing")); err != nil || len(list) != 0 {
		t.Errorf("a missing folder: %v %v", list, err)
	}
}

func TestListLongLines(t *testing.T) {
	s := newSessions(t)
	s.add("", "1_a.jsonl", headerOf("a", "/w"), entry("x", "null", strings.Repeat("long ", 100_000)), entry("y", "x", "second"))
	list, err := store.List(s.root)
	if err != nil || len(list) != 1 || list[0].Messages != 2 || len(list[0].FirstMessage) != 499_999 {
		t.Errorf("got %d sessions, %v", len(list), err)
	}
}

func TestLatest(t *testing.T) {
	s := newSessions(t)
	if got, err := store.Latest(s.root); got != "" || err != nil {
		t.Errorf("a missing folder: %q %v", got, err)
	}
	s.add("", "1_a.jsonl", headerOf("a", "/w"))
	want := s.add("", "0_b.jsonl", headerOf("b", "/w"))
	s.add("", "9_notes.jsonl", "no session")
	s.add("sub", "9_c.jsonl", headerOf("c", "/w"))
	if got, err := store.Latest(s.root); got != want || err != nil {
		t.Errorf("got %q %v, want %s", got, err, want)
	}
}

func TestFind(t *testing.T) {
	s := newSessions(t)
	here := filepath.Base(store.DirFor("", "/work"))
	abc1 := s.add(here, "1_abc1.jsonl", headerOf("abc1", "/work"))
	abc2 := s.add(here, "2_abc2.jsonl", headerOf("abc2", "/work"))
	far := s.add("--far--", "3_abc3.jsonl", headerOf("abc3", "/far"))
	s.add("--far--", "4_xyz1.jsonl", headerOf("xyz1", "/far"))
	whole := s.add("--far--", "5_xyz.jsonl", headerOf("xyz", "/far"))
	renamed := s.add("--far--", "my session.jsonl", headerOf("named1", "/far"))
	flat := s.add("", "6_flat1.jsonl", headerOf("flat1", "/far"))
	s.add(here, "7_copy.jsonl", headerOf("dup1", "/work"))
	copied := s.add(here, "8_copy2.jsonl", headerOf("dup1", "/work"))

	for name, want := range map[string]string{
		"abc1": abc1, "abc2": abc2, "abc3": far, "xyz": whole, "named": renamed, "flat": flat, "dup": copied,
		"/x/y.jsonl": "/x/y.jsonl", "sub/y": "/work/sub/y", "y.jsonl": "/work/y.jsonl", "../y.jsonl": "/y.jsonl",
	} {
		if got, err := store.Find(s.root, "/work", name); got != want || err != nil {
			t.Errorf("%s: got %q %v, want %s", name, got, err, want)
		}
	}
	var ambiguous *store.AmbiguousError
	if _, err := store.Find(s.root, "/work", "abc"); !errors.As(err, &ambiguous) || len(ambiguous.IDs) != 2 || !strings.Contains(err.Error(), "abc1") {
		t.Errorf("abc: got %v, want both ids of this folder", err)
	}
	for _, name := range []string{"", "nope"} {
		if _, err := store.Find(s.root, "/work", name); !errors.Is(err, store.ErrNoSession) {
			t.Errorf("%q: got %v, want ErrNoSession", name, err)
		}
	}
}

func TestFindExact(t *testing.T) {
	s := newSessions(t)
	s.add("a", "1_task-12.jsonl", headerOf("task-12", "/work"))
	s.add("b", "2_task-1.jsonl", headerOf("task-1", "/far"))
	renamed := s.add("a", "mine.jsonl", headerOf("named", "/work"))
	dir := filepath.Join(s.root, "a")
	if got, err := store.FindExact(dir, "named"); got != renamed || err != nil {
		t.Errorf("got %q %v", got, err)
	}
	for _, id := range []string{"task-1", "task", "name", "nope"} {
		if got, err := store.FindExact(dir, id); !errors.Is(err, store.ErrNoSession) {
			t.Errorf("%s: got %q %v, want ErrNoSession", id, got, err)
		}
	}
}

func TestIDOfANewSession(t *testing.T) {
	for id, fits := range map[string]bool{
		"a": true, "task-1": true, "A.b_c-9": true, strings.Repeat("x", 128): true,
		strings.Repeat("x", 129): false, "-a": false, "a.": false, ".a": false, "a b": false, "a\nb": false, "a/b": false, `a\b`: false, "é": false,
	} {
		if _, err := store.Create(store.CreateOptions{Dir: t.TempDir(), Cwd: "/work", ID: id}); (err == nil) != fits {
			t.Errorf("%q: %v", id, err)
		}
	}
}
