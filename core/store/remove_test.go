package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

func written(t *testing.T, dir string) *store.Log {
	t.Helper()
	log, err := store.Create(store.CreateOptions{Dir: dir, Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(store.MessageBody{Message: message.NewUser("hi", nil, 1)}); err != nil {
		t.Fatal(err)
	}
	if err := log.Persist(); err != nil {
		t.Fatal(err)
	}
	return log
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	log := written(t, dir)
	var locked *store.LockedError
	if err := store.Remove(log.Path()); !errors.As(err, &locked) {
		t.Errorf("one that is open: %v", err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log.Path()+".old", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Remove(log.Path()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left is %v, %v", left, err)
	}
	if err := store.Remove(log.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is gone: %v", err)
	}
	notes := filepath.Join(dir, "notes.jsonl")
	if err := os.WriteFile(notes, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Remove(notes); !errors.Is(err, store.ErrNotSession) {
		t.Errorf("something else: %v", err)
	}
	if _, err := os.Stat(notes); err != nil {
		t.Error(err)
	}
}

func TestRemoveByALink(t *testing.T) {
	dir := t.TempDir()
	log := written(t, filepath.Join(dir, "there"))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.jsonl")
	if err := os.Symlink(log.Path(), link); err != nil {
		t.Fatal(err)
	}
	if err := store.Remove(link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, log.Path()} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}

func TestSweep(t *testing.T) {
	root := t.TempDir()
	live := written(t, filepath.Join(root, "sub"))
	defer func() { _ = live.Close() }()
	old := time.Now().Add(-2 * time.Hour)
	files := map[string]bool{
		".gone.jsonl.lock": true, "sub/.gone.jsonl.lock": true, ".x.jsonl.1.tmp": true, ".x.jsonl.2.tmp": false, "sub/.notes.txt.lock": false,
	}
	for name, swept := range files {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, []byte(" 1 host\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if swept {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, err := store.Sweep(root)
	if err != nil || len(list) != 3 {
		t.Errorf("%q, %v", list, err)
	}
	for name, swept := range files {
		if _, err := os.Stat(filepath.Join(root, name)); swept == (err == nil) {
			t.Errorf("%s: swept is not %v", name, swept)
		}
	}
	if !live.Locked() {
		t.Error("the lock of a live session is gone")
	}
	if _, err := live.Append(store.MessageBody{Message: message.NewUser("on", nil, 2)}); err != nil {
		t.Error(err)
	}
}
