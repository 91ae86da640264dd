package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeChunk is how much goes to the disk at once when a whole session is
// written. All but very large ones go in one write.
const writeChunk = 1 << 20

// file is the disk side of a log. Its methods are called with Log.writing held.
type file struct {
	name   string // without symbolic links
	handle handle // nil: not open for writing yet
	lock   *sessionLock
	size   int64 // of the file when we last wrote or looked
	// unfinished says that the file does not end in a line feed: what stands
	// behind the last one is kept, as a line of its own.
	unfinished bool
	held       []byte // lines that go before anything else
	heldCount  int    // entries in held
	begun      int    // bytes of held that are on disk already, less than a line
	// migrated is the new content of a file of an older version, line by line.
	// It takes the file's place with the first write; nil: nothing to do.
	migrated [][]byte
}

// handle is the part of *os.File that writing needs.
type handle interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Close() error
}

// openHandle opens a file for appending. Tests put a failing one in its place.
var openHandle = func(name string, flag int) (handle, error) {
	return os.OpenFile(name, flag|os.O_WRONLY|os.O_APPEND, 0o600)
}

// createFile makes the file of a log with everything the log has so far.
func createFile(l *Log) (*file, error) {
	dir := filepath.Dir(l.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	f := &file{name: filepath.Join(dir, filepath.Base(l.path))}
	if f.lock, err = acquireLock(f.name); err != nil {
		return nil, err
	}
	if err := f.create(l); err != nil {
		f.lock.release()
		return nil, err
	}
	return f, nil
}

// create writes the whole log to a new file, and removes it again on failure.
func (f *file) create(l *Log) error {
	h, err := openHandle(f.name, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	size, err := writeLines(h, l.lines())
	if err != nil {
		_ = h.Close()
		_ = os.Remove(f.name)
		return err
	}
	f.handle, f.size = h, size
	f.release()
	return nil
}

// lines are the header and all entries.
func (l *Log) lines() [][]byte {
	entries := l.snapshot()
	lines := make([][]byte, 0, len(entries)+1)
	lines = append(lines, l.headerRaw)
	for _, e := range entries {
		lines = append(lines, e.Raw)
	}
	return lines
}

func writeLines(w io.Writer, lines [][]byte) (size int64, err error) {
	var chunk []byte
	for i, line := range lines {
		chunk = append(append(chunk, line...), '\n')
		if len(chunk) < writeChunk && i < len(lines)-1 {
			continue
		}
		n, err := w.Write(chunk)
		size += int64(n)
		if err != nil {
			return size, err
		}
		chunk = chunk[:0]
	}
	return size, nil
}

// append writes an entry, after those that could not be written before.
func (f *file) append(l *Log, raw []byte) error {
	f.held = append(append(f.held, raw...), '\n')
	f.heldCount++
	if err := f.flush(l); err != nil {
		return &WriteError{Path: l.path, Held: f.heldCount, Err: err}
	}
	return nil
}

// flush writes what is held back.
func (f *file) flush(l *Log) error {
	if len(f.held) == 0 {
		return nil
	}
	if err := f.prepare(l); err != nil {
		return err
	}
	if len(f.held) == 0 {
		return nil // prepare has written the whole session anew
	}
	buf := f.held[f.begun:]
	if f.unfinished {
		buf = append([]byte{'\n'}, buf...)
	}
	n, err := f.handle.Write(buf)
	if err != nil {
		f.undo(n)
		return err
	}
	f.size += int64(n)
	f.release()
	return nil
}

// release forgets what was held back, and its memory if that is much.
func (f *file) release() {
	f.heldCount, f.begun, f.unfinished = 0, 0, false
	f.held = f.held[:0]
	if cap(f.held) > writeChunk {
		f.held = nil
	}
}

// undo settles a write of which only n bytes reached the disk. Whole lines stay;
// half a line is taken back, so that no other program finds it. Where that
// cannot be done, the next write goes on from there.
func (f *file) undo(n int) {
	if n > 0 && f.unfinished {
		n, f.unfinished = n-1, false
		f.size++
	}
	end := f.begun + n
	whole := bytes.LastIndexByte(f.held[:end], '\n') + 1
	f.heldCount -= bytes.Count(f.held[:whole], []byte{'\n'})
	f.held = f.held[whole:]
	f.size += int64(n)
	f.begun = end - whole
	if f.begun == 0 {
		return
	}
	start := f.size - int64(f.begun)
	info, err := f.handle.Stat()
	if err == nil && info.Size() == f.size && f.handle.Truncate(start) == nil {
		f.size, f.begun = start, 0
	}
}

// prepare makes sure that the handle is open on the file that has our name,
// and finds out whether somebody else has changed the file.
func (f *file) prepare(l *Log) error {
	if f.migrated != nil {
		return f.migrate(l)
	}
	named, err := os.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return f.recreate(l)
	}
	if err != nil {
		return err
	}
	if f.handle != nil {
		ours, err := f.handle.Stat()
		if err == nil && os.SameFile(ours, named) && named.Size() == f.size {
			return nil
		}
		if err != nil || !os.SameFile(ours, named) {
			if err := l.checkSame(f.name); err != nil {
				return err
			}
			_ = f.handle.Close()
			f.handle = nil
		}
	}
	if f.handle == nil {
		if f.handle, err = openHandle(f.name, 0); err != nil {
			f.handle = nil // not a typed nil
			return err
		}
	}
	if named.Size() != f.size {
		return f.lookAgain(l, named.Size())
	}
	return nil
}

// recreate writes the session anew after its file was deleted under us.
func (f *file) recreate(l *Log) error {
	if f.handle != nil {
		_ = f.handle.Close()
		f.handle = nil
	}
	if err := os.MkdirAll(filepath.Dir(f.name), 0o700); err != nil {
		return err
	}
	return f.create(l)
}

// lookAgain takes in that the file has another size than we left it with.
func (f *file) lookAgain(l *Log, size int64) error {
	if size == 0 {
		n, err := writeLines(f.handle, l.lines())
		if err != nil {
			_ = f.handle.Truncate(0)
			return err
		}
		f.size = n
		f.release()
		return nil
	}
	r, err := os.Open(f.name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	var last [1]byte
	if _, err := r.ReadAt(last[:], size-1); err != nil {
		return err
	}
	// Half a line of ours may have got company: it is left, and written anew.
	f.size, f.begun, f.unfinished = size, 0, last[0] != '\n'
	return nil
}

// checkSame refuses to go on in a file that another program has put in place of
// ours, unless it is still this session.
func (l *Log) checkSame(name string) error {
	head, err := readHead(name)
	if err != nil {
		return err
	}
	if head.header.ID != l.header.ID {
		return fmt.Errorf("another program has put another file in its place; move that file away to go on")
	}
	return nil
}

// close writes what is held back and gives up handle and lock.
func (f *file) close(l *Log) error {
	var err error
	if ferr := f.flush(l); ferr != nil {
		err = &WriteError{Path: l.path, Held: f.heldCount, Err: ferr}
	}
	if f.handle != nil {
		if cerr := f.handle.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("close session file %s: %w", l.path, cerr)
		}
	}
	f.lock.release()
	return err
}
