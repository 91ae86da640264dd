package store

import (
	"errors"
	"fmt"
)

var (
	// ErrNotSession is wrapped in the error of Open and Read for a file whose
	// first line is no session header. Such a file is never changed.
	ErrNotSession = errors.New("not a session file")
	// ErrEntryNotFound is wrapped in the errors of calls that name an entry
	// which the log does not have. The text is the wire's.
	ErrEntryNotFound = errors.New("Entry not found")
	// ErrReadOnly is the error of Append, Persist and SetLeaf on a log that
	// came from Read.
	ErrReadOnly = errors.New("session was opened for reading only")
	// ErrClosed is the error of Append and Persist after Close.
	ErrClosed = errors.New("session file is closed")
)

func entryNotFound(id string) error { return fmt.Errorf("%w: %s", ErrEntryNotFound, id) }

// LockedError says that another process has the session file open. The file
// can be looked at with Read, and forked from there.
type LockedError struct {
	Path string
	PID  int    // 0: the other process did not say
	Host string // empty: the other process did not say
}

// Error implements error.
func (e *LockedError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d on %s", e.PID, e.Host)
	}
	return fmt.Sprintf("session file %s is in use by %s: close it there, or fork the session", e.Path, holder)
}

// WriteError says that an entry is in the log but not on disk yet. The next
// Append writes what is missing first, so nothing is lost while the process
// lives.
type WriteError struct {
	Path string
	Held int // entries that are not on disk, the one just appended included
	Err  error
}

// Error implements error.
func (e *WriteError) Error() string {
	return fmt.Sprintf("write session file %s (%d entries held back in memory until it works): %v", e.Path, e.Held, e.Err)
}

// Unwrap gives the cause.
func (e *WriteError) Unwrap() error { return e.Err }
