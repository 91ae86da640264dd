package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
)

const sessionSuffix = ".jsonl"

// Summary is what a list of sessions shows of one.
type Summary struct {
	Path          string
	ID            string
	Cwd           string
	Name          string // "": none was given
	ParentSession string
	Created       time.Time // zero: the header does not say
	Modified      time.Time // of the file
	Size          int64     // bytes
	Messages      int       // on all branches
	FirstMessage  string    // text of the first user message
}

// DirFor is the folder of the sessions of a working directory.
func DirFor(agentDir, cwd string) string {
	name := strings.TrimLeft(cwd, `/\`)
	name = strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(name)
	return filepath.Join(agentDir, "sessions", "--"+name+"--")
}

// List describes the sessions in a folder and in its subfolders one level down,
// the last changed first. Files that are no sessions, or cannot be read, are
// left out. A missing folder has none. Every file is read once, line by line,
// as many at a time as there are processors.
func List(root string) ([]Summary, error) {
	files, err := sessionFiles(root)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	summaries := make([]*Summary, len(files))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				if s, err := summarize(files[i]); err == nil {
					summaries[i] = &s
				}
			}
		})
	}
	readers.Wait()
	var list []Summary
	for _, s := range summaries {
		if s != nil {
			list = append(list, *s)
		}
	}
	return list, nil
}

// Latest is the path of the session in a folder that was changed last; empty
// when the folder has none.
func Latest(dir string) (string, error) {
	files, err := filesIn(dir)
	if err != nil {
		return "", fmt.Errorf("find the latest session: %w", err)
	}
	byTime(files)
	for _, f := range files {
		if _, err := readHead(f.path); err == nil {
			return f.path, nil
		}
	}
	return "", nil
}

// ErrNoSession is wrapped in the error of Find when nothing matches.
var ErrNoSession = errors.New("no such session")

// AmbiguousError says that the beginning of an id fits several sessions.
type AmbiguousError struct {
	Prefix string
	IDs    []string
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("session %q fits %d sessions, give more of the id: %s", e.Prefix, len(e.IDs), strings.Join(e.IDs, ", "))
}

// Find gives the path of the session that a user means. What holds a path
// separator or ends in .jsonl is a path, relative to cwd, and need not exist.
// Anything else is an id or the beginning of one: sessions in the folder of cwd
// come first, then those of other working directories under root, the sessions
// folder. Only headers are read, and those only of files whose names do not
// have the id.
func Find(root, cwd, idOrPath string) (string, error) {
	if strings.ContainsAny(idOrPath, `/\`) || strings.HasSuffix(idOrPath, sessionSuffix) {
		if filepath.IsAbs(idOrPath) {
			return filepath.Clean(idOrPath), nil
		}
		return filepath.Join(cwd, idOrPath), nil
	}
	if idOrPath == "" {
		return "", fmt.Errorf("%w: the id is empty", ErrNoSession)
	}
	files, err := sessionFiles(root)
	if err != nil {
		return "", fmt.Errorf("find session %s: %w", idOrPath, err)
	}
	here := filepath.Base(DirFor("", cwd))
	local, elsewhere := matching(files, idOrPath, here)
	if len(local) == 0 {
		local = elsewhere
	}
	return only(local, idOrPath)
}

// FindExact gives the path of the session in a folder that has an id, and not
// only begins with it. The error wraps ErrNoSession when there is none.
func FindExact(dir, id string) (string, error) {
	files, err := sessionFiles(dir)
	if err != nil {
		return "", fmt.Errorf("find session %s: %w", id, err)
	}
	found, _ := matching(files, id, "")
	found = slices.DeleteFunc(found, func(m match) bool { return m.id != id })
	return only(found, id)
}

type match struct{ id, path string }

// matching sorts the sessions whose id begins with prefix by whether they lie
// in the folder named here, or right in the root.
func matching(files []sessionFile, prefix, here string) (local, elsewhere []match) {
	for _, f := range files {
		id := f.id()
		if !strings.HasPrefix(id, prefix) {
			head, err := readHead(f.path)
			if err != nil || !strings.HasPrefix(head.header.ID, prefix) {
				continue
			}
			id = head.header.ID
		}
		if f.sub == "" || f.sub == here {
			local = append(local, match{id, f.path})
		} else {
			elsewhere = append(elsewhere, match{id, f.path})
		}
	}
	return local, elsewhere
}

// only picks the one match: a whole id before beginnings, the same id in
// several files (copies) counts once, and the last changed file stands for it.
func only(found []match, prefix string) (string, error) {
	var ids []string
	for _, m := range found {
		if m.id == prefix {
			return m.path, nil
		}
		if !slices.Contains(ids, m.id) {
			ids = append(ids, m.id)
		}
	}
	switch len(ids) {
	case 0:
		return "", fmt.Errorf("%w: no id begins with %q", ErrNoSession, prefix)
	case 1:
		return found[0].path, nil
	}
	return "", &AmbiguousError{Prefix: prefix, IDs: ids}
}

// sessionFile is a file that has a session's name.
type sessionFile struct {
	path string
	sub  string // folder below the root; "": in the root
	info fs.FileInfo
}

// id is the part of the file name behind the time; empty if it has none.
func (f sessionFile) id() string {
	_, id, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f.path), sessionSuffix), "_")
	return id
}

// sessionFiles finds the files in root and one level down, last changed first.
func sessionFiles(root string) ([]sessionFile, error) {
	files, err := filesIn(root)
	if err != nil {
		return nil, err
	}
	folders, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		// One folder that cannot be read must not hide the others.
		below, _ := filesIn(filepath.Join(root, folder.Name()))
		for _, f := range below {
			f.sub = folder.Name()
			files = append(files, f)
		}
	}
	byTime(files)
	return files, nil
}

func filesIn(dir string) ([]sessionFile, error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []sessionFile
	for _, name := range names {
		if !strings.HasSuffix(name.Name(), sessionSuffix) {
			continue
		}
		path := filepath.Join(dir, name.Name())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, sessionFile{path: path, info: info})
		}
	}
	return files, nil
}

func byTime(files []sessionFile) {
	slices.SortFunc(files, func(a, b sessionFile) int {
		if c := b.info.ModTime().Compare(a.info.ModTime()); c != 0 {
			return c
		}
		return strings.Compare(b.path, a.path)
	})
}

// summarize reads one file line by line, with memory for one line.
func summarize(f sessionFile) (Summary, error) {
	r, _, err := openRegular(f.path)
	if err != nil {
		return Summary{}, err
	}
	defer func() { _ = r.Close() }()
	if _, err := readHeadFrom(r); err != nil {
		return Summary{}, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return Summary{}, err
	}
	lines := newLineReader(r)
	first, err := lines.next()
	if err != nil {
		return Summary{}, err
	}
	head, err := parseHead(first)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Path: f.path, Modified: f.info.ModTime(), Size: f.info.Size()}
	s.fromHeader(head.header)
	for {
		raw, err := lines.next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return Summary{}, err
		}
		s.add(raw)
	}
}

func (s *Summary) fromHeader(h Header) {
	s.ID, s.Cwd, s.ParentSession = h.ID, h.Cwd, h.ParentSession
	s.Created, _ = time.Parse(time.RFC3339Nano, h.Timestamp)
}

func (s *Summary) add(raw []byte) {
	l, ok := parseLine(raw)
	if !ok {
		return
	}
	switch l.entry.Type {
	case TypeMessage:
		s.Messages++
		if s.FirstMessage != "" || l.entry.role != message.RoleUser {
			return
		}
		if m, err := l.entry.Message(); err == nil {
			s.FirstMessage = strings.TrimSpace(message.TextOf(m))
		}
	case TypeSessionInfo:
		var b SessionInfo
		if l.entry.Decode(&b) == nil {
			s.Name = strings.TrimSpace(b.Name)
		}
	}
}

// lineReader gives lines of any length, the last one also without a line feed.
// A line is good until the next call.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil && len(l.buf) == 0 {
			return part, nil
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil:
			return l.buf, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(l.buf)) > 0:
			return l.buf, nil
		default:
			return nil, err
		}
	}
}
