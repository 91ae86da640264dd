package store

import (
	"cmp"
	"slices"
)

// Node is an entry in its place in the tree.
type Node struct {
	Entry          Entry
	Children       []*Node // by their times, oldest first; nil: none
	Label          string  // "": none
	LabelTimestamp string  // time of the entry that set the label
}

// Leaf is the id of the entry below which the next one goes; empty: the next
// entry is a root.
func (l *Log) Leaf() string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.leaf < 0 {
		return ""
	}
	return l.entries[l.leaf].ID
}

// SetLeaf moves the leaf to an entry; "" puts it before the root. Nothing is
// written: the file's leaf is its last entry.
func (l *Log) SetLeaf(id string) error {
	if l.readOnly {
		return ErrReadOnly
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	at := int32(-1)
	if id != "" {
		var known bool
		if at, known = l.byID[id]; !known {
			return entryNotFound(id)
		}
	}
	l.leaf = at
	return nil
}

// Entry gives the entry of an id.
func (l *Log) Entry(id string) (Entry, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, known := l.byID[id]
	if !known {
		return Entry{}, false
	}
	return l.entries[i], true
}

// Entries lists all entries in the order they were appended. The slice is
// shared: it must not be changed.
func (l *Log) Entries() []Entry { return l.snapshot() }

// Since lists the entries appended after the one named. An id that the log
// does not have, also "", is an error that wraps ErrEntryNotFound.
func (l *Log) Since(id string) ([]Entry, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, known := l.byID[id]
	if !known {
		return nil, entryNotFound(id)
	}
	return l.entries[i+1 : len(l.entries) : len(l.entries)], nil
}

// Branch lists the entries from the root to the one named, in that order. It
// is nil for "" and for an id that the log does not have.
func (l *Log) Branch(leafID string) []Entry {
	l.mu.RLock()
	defer l.mu.RUnlock()
	path := l.pathTo(leafID)
	if path == nil {
		return nil
	}
	out := make([]Entry, len(path))
	for i, at := range path {
		out[i] = l.entries[at]
	}
	return out
}

// pathTo gives the indexes of the entries from the root to the one named.
func (l *Log) pathTo(leafID string) []int32 {
	at, known := l.byID[leafID]
	if !known {
		return nil
	}
	var path []int32
	for ; at >= 0; at = l.parents[at] {
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}

// Tree gives the roots of the tree in the order they were appended. Entries
// whose parent is missing are roots.
func (l *Log) Tree() []*Node {
	l.mu.RLock()
	defer l.mu.RUnlock()
	nodes := make([]Node, len(l.entries))
	var roots []*Node
	for i, e := range l.entries {
		mark := l.labels[e.ID]
		nodes[i] = Node{Entry: e, Label: mark.text, LabelTimestamp: mark.timestamp}
		if p := l.parents[i]; p >= 0 {
			nodes[p].Children = append(nodes[p].Children, &nodes[i])
		} else {
			roots = append(roots, &nodes[i])
		}
	}
	for i := range nodes {
		if c := nodes[i].Children; len(c) > 1 {
			slices.SortStableFunc(c, func(a, b *Node) int { return cmp.Compare(a.Entry.Timestamp, b.Entry.Timestamp) })
		}
	}
	return roots
}

// Label is the mark of an entry; empty: none.
func (l *Log) Label(id string) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.labels[id].text
}

// Name is the session's name: that of the last session_info entry, whatever
// its branch; empty: none.
func (l *Log) Name() string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.name
}
