// Package store keeps sessions: a log of entries that form a tree, held in
// memory and written through to a file of JSON lines. It creates, opens,
// migrates, forks, lists and finds such files.
//
// The file format is that of the reference agents, version 3; files of either
// can be opened by the other. Entry types and fields that this package does
// not know survive, because lines are kept as they are.
//
// It imports the standard library, core/message, gofrs/flock and google/uuid,
// and must not import anything else of this module.
package store

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-54e836f5/pi/core/message"
)

// Log is one session. All methods may be called from any goroutine. Those that
// read never wait for the disk; those that write wait for each other, so that
// the order in the file is the order in memory.
type Log struct {
	header    Header
	headerRaw []byte // the header's line
	path      string // "": in memory only
	readOnly  bool

	// writing is held by whoever adds to the log, over the write to the disk
	// too: two writers must not overtake each other. It is taken before mu.
	writing sync.Mutex
	file    *file // nil: nothing is on disk (yet)

	// mu guards what is below. It is never held over the disk.
	mu      sync.RWMutex
	entries []Entry
	parents []int32          // index of each entry's parent; -1: a root, or the parent is missing
	byID    map[string]int32 // the last entry of that id
	leaf    int32            // -1: before the root
	labels  map[string]label
	name    string
	closed  bool

	counting sync.Mutex // guards what follows; taken before mu
	totals   Totals     // of the first counted entries
	counted  int
}

type label struct{ text, timestamp string }

// CreateOptions describes a new session.
type CreateOptions struct {
	Dir           string // folder that gets the file; made when needed
	Path          string // file to be made, instead of one in Dir; "": Dir counts
	Cwd           string
	ID            string // "": a new UUID
	ParentSession string // "": none
}

// Create makes a session whose file does not exist yet: Path is known, but
// nothing is on disk before Persist.
func Create(o CreateOptions) (*Log, error) {
	l := InMemory(o)
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("create session in %s: %w", o.Dir, err)
	}
	if !isSessionID(l.header.ID) {
		return nil, fmt.Errorf("create session: id %q: up to 128 letters, digits, dots, _ and - are expected, a letter or digit first and last", l.header.ID)
	}
	l.path = filepath.Join(dir, fileName(l.header))
	if o.Path != "" {
		if l.path, err = filepath.Abs(o.Path); err != nil {
			return nil, fmt.Errorf("create session %s: %w", o.Path, err)
		}
	}
	return l, nil
}

// isSessionID says whether an id can be part of a file's name, and is one that
// other agents take.
func isSessionID(id string) bool {
	alphanumeric := func(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }
	if id == "" || len(id) > 128 || !alphanumeric(id[0]) || !alphanumeric(id[len(id)-1]) {
		return false
	}
	for i := range len(id) {
		if !alphanumeric(id[i]) && !strings.ContainsRune("._-", rune(id[i])) {
			return false
		}
	}
	return true
}

// InMemory makes a session that never has a file; Dir is not used.
func InMemory(o CreateOptions) *Log {
	return newLog(newHeader(o))
}

func newHeader(o CreateOptions) Header {
	id := o.ID
	if id == "" {
		id = newSessionID()
	}
	return Header{
		Type:          TypeSession,
		Version:       Version,
		ID:            id,
		Timestamp:     timestamp(time.Now()),
		Cwd:           o.Cwd,
		ParentSession: o.ParentSession,
	}
}

func newLog(h Header) *Log {
	raw, err := message.Marshal(h)
	if err != nil {
		panic("a header of strings does not encode: " + err.Error())
	}
	return &Log{header: h, headerRaw: wireSafe(raw), byID: map[string]int32{}, leaf: -1, labels: map[string]label{}}
}

// newSessionID makes a UUID that sorts by time.
func newSessionID() string {
	id, err := uuid.NewV7()
	if err != nil {
		// The system's random source does not fail on any supported system.
		panic("no random bytes for a session id: " + err.Error())
	}
	return id.String()
}

func timestamp(t time.Time) string { return t.UTC().Format(timestampLayout) }

func fileName(h Header) string {
	return strings.NewReplacer(":", "-", ".", "-").Replace(h.Timestamp) + "_" + h.ID + ".jsonl"
}

// ID is the session's id.
func (l *Log) ID() string { return l.header.ID }

// Path is the session's file, absolute; empty for a session in memory. The
// file may not exist yet, see Persisted.
func (l *Log) Path() string { return l.path }

// Header is the session's header.
func (l *Log) Header() Header { return l.header }

// Append adds an entry below the leaf and makes it the leaf. Once Persist was
// called it is written before Append returns, with one write.
//
// A *WriteError means that the entry was added and is returned, but is not on
// disk yet. With any other error nothing was added: the body cannot be
// encoded, or the log is closed or read only.
func (l *Log) Append(body Body) (Entry, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	e, err := l.add(body, timestamp(time.Now()))
	if err != nil || l.file == nil {
		return e, err
	}
	return e, l.file.append(l, e.Raw)
}

// add puts an entry into memory. The caller holds writing, so that the leaf
// does not move while the entry is encoded.
func (l *Log) add(body Body, timestamp string) (Entry, error) {
	if l.readOnly {
		return Entry{}, ErrReadOnly
	}
	if l.isClosed() {
		return Entry{}, ErrClosed
	}
	raw, err := encodeEntry(l.newEntryID(), l.Leaf(), timestamp, body)
	if err != nil {
		return Entry{}, err
	}
	parsed, ok := parseLine(wireSafe(raw))
	if !ok {
		return Entry{}, fmt.Errorf("encode entry of type %s: the result is not JSON", body.entryType())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index(parsed)
	return l.entries[l.leaf], nil
}

// newEntryID makes eight hex digits that the log does not have yet.
func (l *Log) newEntryID() string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails
		id := hex.EncodeToString(b[:])
		if _, taken := l.byID[id]; !taken {
			return id
		}
	}
}

// index adds a parsed line as the last entry and makes it the leaf. A parent
// counts only if it came before: that leaves no cycles to guard against.
func (l *Log) index(p line) {
	e, at := p.entry, int32(len(l.entries))
	parent := int32(-1)
	if p.parent != nil {
		if i, known := l.byID[string(p.parent)]; known {
			parent, e.ParentID = i, l.entries[i].ID
		} else {
			e.ParentID = string(p.parent)
		}
	}
	l.entries = append(l.entries, e)
	l.parents = append(l.parents, parent)
	l.byID[e.ID] = at
	l.leaf = at
	switch e.Type {
	case TypeLabel:
		var b Label
		if e.Decode(&b) == nil {
			l.setLabel(b, e.Timestamp)
		}
	case TypeSessionInfo:
		var b SessionInfo
		if e.Decode(&b) == nil {
			l.name = strings.TrimSpace(b.Name)
		}
	}
}

func (l *Log) setLabel(b Label, timestamp string) {
	if b.Label == "" {
		delete(l.labels, b.TargetID)
		return
	}
	l.labels[b.TargetID] = label{b.Label, timestamp}
}

// Persist writes the header and the entries so far to a new file, which no
// other process may have made meanwhile; from then on entries are written as
// they are appended. It takes the file's lock, see Open. When it fails, nothing
// is left on disk and it may be tried again. For a session in memory, and for
// one that is on disk already, it does nothing.
func (l *Log) Persist() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	switch {
	case l.readOnly:
		return ErrReadOnly
	case l.isClosed():
		return ErrClosed
	case l.path == "" || l.file != nil:
		return nil
	}
	f, err := createFile(l)
	if err != nil {
		return fmt.Errorf("create session file %s: %w", l.path, err)
	}
	l.file = f
	return nil
}

// Persisted says whether the session has a file that entries are written to.
func (l *Log) Persisted() bool {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.file != nil
}

// Locked says whether other processes are kept from opening the session. It is
// false before Persist, and where no lock can be had: in a folder that cannot
// be written to, on a file system without locks.
func (l *Log) Locked() bool {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.file != nil && l.file.lock != nil
}

// Close writes entries that were held back, gives the lock up and closes the
// file. A log that was closed can still be read. Close may be called twice.
func (l *Log) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	f := l.file
	l.file = nil
	if f == nil {
		return nil
	}
	return f.close(l)
}

func (l *Log) isClosed() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.closed
}

// snapshot gives the entries so far. The slice is only ever appended to, so
// that it may be read without the lock.
func (l *Log) snapshot() []Entry {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.entries[:len(l.entries):len(l.entries)]
}

// workingDir is the process's working directory, empty when it is gone.
func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
