package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
)

// disk is a file system that can be told to fail.
type disk struct {
	open     error // of opening; nil: it works
	room     int   // bytes that can still be written
	truncate error
	writes   int // calls of Write so far
}

type diskFile struct {
	*os.File
	disk *disk
}

func (d *disk) openHandle(name string, flag int) (handle, error) {
	if d.open != nil {
		return nil, d.open
	}
	f, err := os.OpenFile(name, flag|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return diskFile{f, d}, nil
}

func (f diskFile) Write(p []byte) (int, error) {
	f.disk.writes++
	n := min(len(p), f.disk.room)
	f.disk.room -= n
	if n, err := f.File.Write(p[:n]); err != nil {
		return n, err
	}
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f diskFile) Truncate(size int64) error {
	if f.disk.truncate != nil {
		return f.disk.truncate
	}
	return f.File.Truncate(size)
}

const enough = 1 << 30

// onDisk makes a session on a disk that works so far.
func onDisk(t *testing.T) (*Log, *disk) {
	t.Helper()
	d := &disk{room: enough}
	before := openHandle
	openHandle = d.openHandle
	t.Cleanup(func() { openHandle = before })
	l, err := Create(CreateOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if _, err := l.Append(text("first")); err != nil {
		t.Fatal(err)
	}
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	return l, d
}

func text(s string) Body { return MessageBody{message.NewUser(s, nil, 1)} }

// checkFile compares the file with the log, line by line.
func checkFile(t *testing.T, l *Log) {
	t.Helper()
	data, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, line := range l.lines() {
		want.Write(line)
		want.WriteByte('\n')
	}
	if string(data) != want.String() {
		t.Errorf("the file is\n%s\nwant\n%s", data, want.String())
	}
}

func wantHeld(t *testing.T, err error, held int) {
	t.Helper()
	var failed *WriteError
	if !errors.As(err, &failed) || failed.Held != held || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want a WriteError with %d entries held back", err, held)
	}
}

// Whatever part of a line reaches a full disk, no other program finds half a
// line, and when there is room again nothing is missing.
func TestFullDisk(t *testing.T) {
	for _, truncate := range []error{nil, syscall.EIO} {
		for room := range 130 {
			l, d := onDisk(t)
			d.room, d.truncate = room, truncate
			e, err := l.Append(text("second"))
			wantHeld(t, err, 1)
			if got, ok := l.Entry(e.ID); !ok || l.Leaf() != e.ID || len(got.Raw) == 0 {
				t.Fatal("the entry is not in memory")
			}
			if data, _ := os.ReadFile(l.Path()); truncate == nil && data[len(data)-1] != '\n' {
				t.Errorf("room %d: half a line is left: %q", room, data)
			}
			d.room = 0
			_, err = l.Append(text("third"))
			wantHeld(t, err, 2)
			d.room = 200 // the second entry and a part of the third
			_, err = l.Append(text("fourth"))
			wantHeld(t, err, 2)
			d.room = enough
			if _, err := l.Append(text("fifth")); err != nil {
				t.Fatalf("room %d: %v", room, err)
			}
			checkFile(t, l)
		}
	}
}

func TestCloseWritesWhatWasHeldBack(t *testing.T) {
	l, d := onDisk(t)
	d.room = 10
	_, err := l.Append(text("second"))
	wantHeld(t, err, 1)
	d.room = enough
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	checkFile(t, l)
}

func TestCloseReportsWhatIsLost(t *testing.T) {
	l, d := onDisk(t)
	d.room = 10
	_, err := l.Append(text("second"))
	wantHeld(t, err, 1)
	wantHeld(t, l.Close(), 1)
}

// Another program, without a lock, wrote behind our half line.
func TestForeignWriteAfterAFailure(t *testing.T) {
	l, d := onDisk(t)
	foreign := `{"type":"custom","id":"ffff0001","parentId":null,"timestamp":"T"}` + "\n"
	d.room = 20
	d.truncate = errors.New("not now")
	_, err := l.Append(text("second"))
	wantHeld(t, err, 1)
	appendTo(t, l.Path(), "\n"+foreign)
	d.room = enough
	if _, err := l.Append(text("third")); err != nil {
		t.Fatal(err)
	}
	fresh, err := Read(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range fresh.Entries() {
		texts = append(texts, e.Type)
	}
	if _, ok := fresh.Entry("ffff0001"); !ok {
		t.Errorf("the other program's entry is gone: %v", texts)
	}
	for _, e := range l.Entries() {
		if _, ok := fresh.Entry(e.ID); !ok {
			t.Errorf("entry %s is not on disk: %v", e.Raw, texts)
		}
	}
}

func TestPersistOnAFullDiskLeavesNothing(t *testing.T) {
	d := &disk{room: 30}
	before := openHandle
	openHandle = d.openHandle
	defer func() { openHandle = before }()
	dir := t.TempDir()
	l, err := Create(CreateOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(text("first")); err != nil {
		t.Fatal(err)
	}
	if err := l.Persist(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want ENOSPC", err)
	}
	if names, _ := filepath.Glob(dir + "/*"); len(names) > 0 || l.Persisted() {
		t.Errorf("left behind: %v, persisted: %v", names, l.Persisted())
	}
	d.room = enough
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	checkFile(t, l)
	_ = l.Close()
}

func TestUnwritableFile(t *testing.T) {
	l, d := onDisk(t)
	path := l.Path()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d.open = fs.ErrPermission
	l, err := Open(path)
	if err != nil {
		t.Fatalf("a file that can only be read must open: %v", err)
	}
	_, err = l.Append(text("second"))
	var failed *WriteError
	if !errors.As(err, &failed) || !errors.Is(err, fs.ErrPermission) || failed.Path != path {
		t.Errorf("got %v, want a WriteError about %s", err, path)
	}
	d.open = nil
	if _, err := l.Append(text("third")); err != nil {
		t.Fatal(err)
	}
	checkFile(t, l)
	_ = l.Close()
}

func TestOneWritePerEntry(t *testing.T) {
	l, d := onDisk(t)
	if d.writes != 1 {
		t.Errorf("header and entries took %d writes, want 1", d.writes)
	}
	d.writes = 0
	if _, err := l.Append(text(strings.Repeat("long ", 1_000_000))); err != nil {
		t.Fatal(err)
	}
	if d.writes != 1 {
		t.Errorf("an entry took %d writes, want 1", d.writes)
	}
}

// What other programs do to the file while it is open.
func TestFileChangedUnderUs(t *testing.T) {
	cases := []struct {
		name   string
		change func(t *testing.T, path string)
		// whole says that the file must hold exactly the log afterwards.
		whole bool
		fails string // part of the error; empty: none
	}{
		{"deleted", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, true, ""},
		{"deleted with its folder", func(t *testing.T, path string) {
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		}, true, ""},
		{"emptied", func(t *testing.T, path string) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}, true, ""},
		{"replaced by a copy, as editors do", func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			replace(t, path, string(data))
		}, true, ""},
		{"replaced by a copy without the last line feed", func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			replace(t, path, strings.TrimSuffix(string(data), "\n"))
		}, true, ""},
		{"appended to", func(t *testing.T, path string) { appendTo(t, path, `{"type":"x","id":"f1"}`+"\n") }, false, ""},
		{"half a line appended", func(t *testing.T, path string) { appendTo(t, path, `{"type":"x","id"`) }, false, ""},
		{"replaced by another session", func(t *testing.T, path string) {
			replace(t, path, `{"type":"session","version":3,"id":"other"}`+"\n")
		}, false, "another program has put another file in its place"},
		{"replaced by something else", func(t *testing.T, path string) { replace(t, path, "notes\n") }, false, "not a session file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, _ := onDisk(t)
			c.change(t, l.Path())
			before, _ := os.ReadFile(l.Path())
			_, err := l.Append(text("second"))
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("got %v, want an error that says %q", err, c.fails)
				}
				if after, _ := os.ReadFile(l.Path()); string(after) != string(before) {
					t.Error("a file that is not ours was changed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Append(text("third")); err != nil {
				t.Fatal(err)
			}
			if c.whole {
				checkFile(t, l)
			}
			fresh, err := Read(l.Path())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range l.Entries() {
				if got, _ := fresh.Entry(e.ID); string(got.Raw) != string(e.Raw) {
					t.Errorf("entry %s is not on disk", e.Raw)
				}
			}
		})
	}
}

func appendTo(t *testing.T, path, data string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
