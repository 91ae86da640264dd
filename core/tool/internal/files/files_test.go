package files_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed-54e836f5/pi/core/tool/internal/files"
)

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	write(t, filepath.Join(dir, "@scope", "pkg.js"), "")
	for path, want := range map[string]string{
		"a.txt":           filepath.Join(dir, "a.txt"),
		"./sub/../a.txt":  filepath.Join(dir, "a.txt"),
		"@a.txt":          filepath.Join(dir, "a.txt"),
		"@scope/pkg.js":   filepath.Join(dir, "@scope", "pkg.js"),
		"@other/pkg.js":   filepath.Join(dir, "other", "pkg.js"),
		"~":               home,
		"~/b.txt":         filepath.Join(home, "b.txt"),
		"@~/b.txt":        filepath.Join(home, "b.txt"),
		"~b.txt":          filepath.Join(dir, "~b.txt"),
		"":                dir,
		home + "/x/../y":  filepath.Join(home, "y"),
		"@" + home + "/y": filepath.Join(home, "y"),
	} {
		if got := files.Resolve(dir, path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

func TestTargetOf(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "")
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	real, err := files.Target(filepath.Join(dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"path":"a.txt"}`:       real,
		`{"path":"./b/../link"}`: real,
		`{"path":"new.txt"}`:     filepath.Join(filepath.Dir(real), "new.txt"),
		`{"path":""}`:            "",
		`{"path":5}`:             "",
		`{}`:                     "",
	} {
		if got := files.TargetOf(dir, []byte(arguments)); got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}

func TestFindLookalikes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"Screen Shot at 9.41\u202fAM.png", "Marie\u2019s notes.txt", "cafe\u0301.txt", "two\u00a0a", "two\u2009a"} {
		write(t, filepath.Join(dir, name), "x")
	}
	for asked, want := range map[string]string{
		"Screen Shot at 9.41 AM.png": "Screen Shot at 9.41\u202fAM.png",
		"Marie's notes.txt":          "Marie\u2019s notes.txt",
		"café.txt":                   "cafe\u0301.txt",
		"two\u00a0a":                 "two\u00a0a",
	} {
		if got, info, err := files.Find(dir, asked); err != nil || got != filepath.Join(dir, want) || info.Size() != 1 {
			t.Errorf("%q: %q, %v", asked, got, err)
		}
	}
	for _, asked := range []string{"two a", "none.txt"} {
		if got, _, err := files.Find(dir, asked); !errors.Is(err, fs.ErrNotExist) || got != filepath.Join(dir, asked) || !strings.Contains(err.Error(), got) {
			t.Errorf("%q: %q, %v", asked, got, err)
		}
	}
}

func TestTarget(t *testing.T) {
	dir := noLinks(t, t.TempDir())
	write(t, filepath.Join(dir, "folder", "file"), "x")
	for name, to := range map[string]string{"link": "folder/file", "link2": "link", "dangling": "folder/none", "linkdir": "folder", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"folder/file":          "folder/file",
		"link":                 "folder/file",
		"link2":                "folder/file",
		"dangling":             "folder/none",
		"linkdir/file":         "folder/file",
		"linkdir/new/deep/one": "folder/new/deep/one",
		"none":                 "none",
	} {
		if got, err := files.Target(filepath.Join(dir, path)); err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s: %s, %v; want %s", path, got, err, want)
		}
	}
	if _, err := files.Target(filepath.Join(dir, "loop")); err == nil {
		t.Error("a link to itself has a target")
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := files.Replace(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o751); err != nil {
		t.Fatal(err)
	}
	before := stat(t, path)
	if err := files.Replace(path, []byte("two")); err != nil {
		t.Fatal(err)
	}
	after := stat(t, path)
	if after.Mode() != before.Mode() || os.SameFile(before, after) {
		t.Errorf("mode %v, want %v; same file %v, want another", after.Mode(), before.Mode(), os.SameFile(before, after))
	}
	if content, _ := os.ReadFile(path); string(content) != "two" {
		t.Errorf("content %q", content)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("something was left behind: %v", entries)
	}
}

func TestReplaceRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	for path, want := range map[string]string{".": "folder, not a file", "file/below": "is a file, not a folder", "gone/file": "no such file or folder"} {
		if err := files.Replace(filepath.Join(dir, path), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		unlock, err := files.Lock(ctx, "/a")
		if err != nil {
			t.Fatal(err)
		}
		other, err := files.Lock(ctx, "/b")
		if err != nil {
			t.Fatal(err)
		}
		other()
		got := make(chan error, 1)
		go func() {
			_, err := files.Lock(ctx, "/a")
			got <- err
		}()
		synctest.Wait()
		select {
		case err := <-got:
			t.Fatalf("two hold the lock: %v", err)
		default:
		}
		cancel()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("waiting ended with %v", err)
		}
		unlock()
		again, err := files.Lock(t.Context(), "/a")
		if err != nil {
			t.Fatal(err)
		}
		again()
	})
}

func TestLockKeepsWritersApart(t *testing.T) {
	var all sync.WaitGroup
	inside := 0
	for range 16 {
		all.Go(func() {
			for range 100 {
				unlock, err := files.Lock(t.Context(), "/same")
				if err != nil {
					t.Error(err)
					return
				}
				inside++
				if inside != 1 {
					t.Errorf("%d writers at once", inside)
				}
				inside--
				unlock()
			}
		})
	}
	all.Wait()
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func noLinks(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
