package store_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/store"
)

// lockOf is the hidden file that is locked while a session is open.
func lockOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

// holder starts a process that has a session open.
func holder(t *testing.T, path string) (cmd *exec.Cmd, release func()) {
	t.Helper()
	cmd = childProcess(t, "hold", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the other process said %q", lines.Text())
	}
	return cmd, func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the other process: %v", err)
		}
	}
}

func TestTwoProcesses(t *testing.T) {
	path := write(t, header, q1)
	cmd, release := holder(t, path)
	before := read(t, path)

	_, err := store.Open(path)
	var locked *store.LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("got %v, want a LockedError", err)
	}
	host, _ := os.Hostname()
	if locked.PID != cmd.Process.Pid || locked.Host != host || locked.Path != path {
		t.Errorf("got %+v, want process %d on %s", locked, cmd.Process.Pid, host)
	}
	l, err := store.Read(path)
	if err != nil {
		t.Fatalf("Read while another process has it: %v", err)
	}
	fork, err := l.Fork(store.ForkOptions{LeafID: l.Leaf(), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := fork.Persist(); err != nil {
		t.Errorf("a fork of a session that is in use: %v", err)
	}
	_ = fork.Close()
	if read(t, path) != before {
		t.Error("the file was changed")
	}

	release()
	must(t, open(t, path), said("now it is ours"))
}

func TestLockOfAKilledProcessIsFree(t *testing.T) {
	path := write(t, header, q1)
	cmd, _ := holder(t, path)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if _, err := os.Stat(lockOf(path)); err != nil {
		t.Fatalf("the test expects a lock file that was left behind: %v", err)
	}
	l := open(t, path)
	if !l.Locked() {
		t.Error("the session is not locked")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lockOf(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("Close left the lock file")
	}
}

func TestCreatedSessionsAreLocked(t *testing.T) {
	l := create(t)
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	var locked *store.LockedError
	if _, err := store.Open(l.Path()); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Fatalf("got %v, want a LockedError that names this process", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, l.Path())
}

// Clients list the folder, and take everything they see for a session.
func TestOpenSessionIsOneVisibleFile(t *testing.T) {
	l := create(t)
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Dir(l.Path()))
	if err != nil {
		t.Fatal(err)
	}
	var visible []string
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), ".") {
			visible = append(visible, f.Name())
		}
	}
	if len(visible) != 1 || visible[0] != filepath.Base(l.Path()) {
		t.Errorf("the folder shows %q while the session is open", visible)
	}
}

func TestLockedErrorWithoutAName(t *testing.T) {
	err := &store.LockedError{Path: "/s.jsonl"}
	if text := err.Error(); !strings.Contains(text, "another process") || !strings.Contains(text, "/s.jsonl") {
		t.Errorf("text %q", text)
	}
}

// Where no lock can be had the session is used without one.
func TestNoLockToBeHad(t *testing.T) {
	path := write(t, header, q1)
	if err := os.Mkdir(lockOf(path), 0o700); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	if l.Locked() {
		t.Error("the session says that it is locked")
	}
	must(t, l, said("next"))
	checkReload(t, l)
}
