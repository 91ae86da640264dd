package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"
)

// headLimit is how far into a file its first line may reach.
const headLimit = 1 << 20

// Open loads a session file and locks it: until Close, no other process can
// open it. Files of version 1 and 2 are migrated; the file itself changes with
// the first Append. An empty file becomes a new session of the process's
// working directory. Lines that are no entries are kept in the file and not
// listed. The leaf is the last entry whose parents do not lead in a circle.
//
// The error wraps ErrNotSession for a file that holds something else, is a
// *LockedError when another process (or this one) has it open, and wraps
// fs.ErrNotExist for a missing file. The file is unchanged then.
func Open(path string) (*Log, error) {
	l, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", path, err)
	}
	return l, nil
}

// Read loads a session file to look at it: without a lock, also while another
// process has it open. Nothing can be appended; Fork makes a session that can.
func Read(path string) (*Log, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		var l *Log
		if l, _, err = load(path); err == nil {
			l.path, l.readOnly = path, true
			return l, nil
		}
	}
	return nil, fmt.Errorf("read session %s: %w", path, err)
}

func open(path string) (*Log, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	// The head is read before the lock is taken: nothing is left beside a file
	// that is not ours.
	if _, err := readHead(name); err != nil && !errors.Is(err, errEmpty) {
		return nil, err
	}
	lock, err := acquireLock(name)
	if err != nil {
		return nil, err
	}
	l, f, err := loadOrInit(name)
	if err != nil {
		lock.release()
		return nil, err
	}
	l.path = path
	l.file = f
	f.lock = lock
	return l, nil
}

func loadOrInit(name string) (*Log, *file, error) {
	l, f, err := load(name)
	if !errors.Is(err, errEmpty) {
		return l, f, err
	}
	l = InMemory(CreateOptions{Cwd: workingDir()})
	f = &file{name: name}
	if f.handle, err = openHandle(name, 0); err != nil {
		return nil, nil, err
	}
	if f.size, err = writeLines(f.handle, l.lines()); err != nil {
		_ = f.handle.Truncate(0)
		_ = f.handle.Close()
		return nil, nil, err
	}
	return l, f, nil
}

// errEmpty is the error of load for a file without a byte in it.
var errEmpty = errors.New("file is empty")

// readHead reads the header of a file, and no more of the file than that takes.
func readHead(name string) (line, error) {
	f, _, err := openRegular(name)
	if err != nil {
		return line{}, err
	}
	defer func() { _ = f.Close() }()
	return readHeadFrom(f)
}

func readHeadFrom(r io.Reader) (line, error) {
	buf := make([]byte, 0, 4096)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		if i := bytes.IndexByte(buf[len(buf):len(buf)+n], '\n'); i >= 0 {
			return parseHead(buf[:len(buf)+i])
		}
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF) && len(buf) == 0:
			return line{}, errEmpty
		case errors.Is(err, io.EOF):
			return parseHead(buf)
		case err != nil:
			return line{}, err
		case len(buf) > headLimit:
			return line{}, fmt.Errorf("%w: the first line is longer than %d bytes", ErrNotSession, headLimit)
		case len(buf) == cap(buf):
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
}

// parseHead reads a header line.
func parseHead(raw []byte) (line, error) {
	head, ok := parseLine(wireSafe(bytes.TrimPrefix(raw, []byte("\uFEFF"))))
	if !ok || head.entry.Type != TypeSession || head.entry.ID == "" {
		return line{}, fmt.Errorf("%w: the first line is no session header", ErrNotSession)
	}
	h := &head.header
	h.Type, h.ID, h.Timestamp = TypeSession, head.entry.ID, head.entry.Timestamp
	h.Version = 1
	if v := head.version; v.end > 0 {
		h.Version = Version
		if n, err := strconv.Atoi(string(head.entry.Raw[v.start:v.end])); err == nil {
			h.Version = n
		}
	}
	return head, nil
}

// openRegular opens a file that has a beginning and an end: what is no regular
// file might never end, or block.
func openRegular(name string) (*os.File, int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%w: it is no regular file", ErrNotSession)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// load reads a whole file into one buffer that the entries then share.
func load(name string) (*Log, *file, error) {
	f, size, err := openRegular(name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	if _, err := readHeadFrom(f); err != nil {
		return nil, nil, err
	}
	if size > math.MaxInt {
		return nil, nil, fmt.Errorf("%d bytes are too many for this system", size)
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return parse(name, data[:n])
}

// parse indexes the lines of a file.
func parse(name string, data []byte) (*Log, *file, error) {
	first, rest, _ := bytes.Cut(data, []byte{'\n'})
	head, err := parseHead(first)
	if err != nil {
		return nil, nil, err
	}
	l := newLog(head.header)
	l.headerRaw = head.entry.Raw
	count := bytes.Count(rest, []byte{'\n'}) + 1
	l.entries = make([]Entry, 0, count)
	l.parents = make([]int32, 0, count)
	l.byID = make(map[string]int32, count)
	f := &file{name: name, size: int64(len(data)), unfinished: data[len(data)-1] != '\n'}

	m := newMigration(head)
	safe := isWireSafe(rest)
	for len(rest) > 0 {
		var raw []byte
		raw, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if !safe {
			raw = wireSafe(raw)
		}
		parsed, ok := parseLine(raw)
		if ok && parsed.entry.Type != TypeSession {
			ok = m.entry(&parsed)
		}
		if ok && parsed.entry.Type != TypeSession && parsed.entry.ID != "" {
			l.index(parsed)
		}
		m.keep(raw, parsed, ok)
	}
	l.leaf = l.soundLeaf()
	if m != nil {
		l.header.Version = Version
		l.headerRaw = m.lines[0]
		f.migrated = m.lines
	}
	return l, f, nil
}

// soundLeaf gives the last entry whose chain of parents ends at a root. One
// that is its own parent, or whose parents lead in a circle, would hide the
// conversation before it. In a file without a sound entry it is the last one,
// so that something is seen of it.
func (l *Log) soundLeaf() int32 {
	last := int32(len(l.entries)) - 1
	seen := make([]bool, len(l.entries)) // by any chain so far: they all failed
	for leaf := last; leaf >= 0; leaf-- {
		at := leaf
		for at >= 0 && !seen[at] {
			seen[at] = true
			at = l.namedParent(at)
		}
		if at < 0 {
			return leaf
		}
	}
	return last
}

// namedParent is the entry that another names as its parent, also one that
// comes after it, which index takes for missing; -1: a root, or there is none.
func (l *Log) namedParent(at int32) int32 {
	if parent := l.parents[at]; parent >= 0 {
		return parent
	}
	if parent, known := l.byID[l.entries[at].ParentID]; known {
		return parent
	}
	return -1
}

func isWireSafe(data []byte) bool {
	return utf8.Valid(data) && !bytes.Contains(data, []byte("\u2028")) && !bytes.Contains(data, []byte("\u2029"))
}
