package store

import (
	"fmt"
	"time"
)

// ForkOptions says what a fork takes over and where it goes.
type ForkOptions struct {
	// LeafID is the last entry of the path that is taken over; "": nothing is.
	LeafID string
	Dir    string // folder that gets the file; "": the fork stays in memory
	Cwd    string // "": that of the original
	ID     string // "": a new UUID
}

// Fork makes a session of the path from the root to an entry. Entries keep
// their ids and times. Labels that the original has on them, and that were set
// elsewhere, are set again at the end. The new session is not on disk before
// Persist, whether or not the original is.
//
// The error wraps ErrEntryNotFound for a LeafID that the log does not have.
func (l *Log) Fork(o ForkOptions) (*Log, error) {
	path := l.Branch(o.LeafID)
	if path == nil && o.LeafID != "" {
		return nil, fmt.Errorf("fork session: %w", entryNotFound(o.LeafID))
	}
	create := CreateOptions{Dir: o.Dir, Cwd: o.Cwd, ID: o.ID, ParentSession: l.path}
	if create.Cwd == "" {
		create.Cwd = l.header.Cwd
	}
	var (
		fork *Log
		err  error
	)
	if o.Dir == "" {
		fork = InMemory(create)
	} else if fork, err = Create(create); err != nil {
		return nil, fmt.Errorf("fork session: %w", err)
	}
	for _, e := range path {
		p := line{entry: e}
		if e.ParentID != "" {
			p.parent = []byte(e.ParentID)
		}
		fork.index(p)
	}
	if err := fork.copyLabels(l, path); err != nil {
		return nil, err
	}
	return fork, nil
}

// copyLabels sets the labels of the original that its fork lacks, as of the
// time when they were set.
func (l *Log) copyLabels(from *Log, path []Entry) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	for _, e := range path {
		from.mu.RLock()
		mark := from.labels[e.ID]
		from.mu.RUnlock()
		if mark.text == l.Label(e.ID) {
			continue
		}
		at := mark.timestamp
		if at == "" {
			at = timestamp(time.Now())
		}
		if _, err := l.add(Label{TargetID: e.ID, Label: mark.text}, at); err != nil {
			return fmt.Errorf("fork session: label of entry %s: %w", e.ID, err)
		}
	}
	return nil
}
