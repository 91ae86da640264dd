package export

import "github.com/seed-54e836f5/pi/core/store"

// segment is a chain of entries without a branch in it. The page shows one
// path of segments at a time.
type segment struct {
	number   int
	parent   *segment // nil: it begins at the root
	children []*segment
	entries  []store.Entry
	// siblings are the segments that begin at the same place, itself included,
	// and index is where it stands among them.
	siblings []*segment
	index    int
	active   bool // it is on the path that is shown first
	items    []outlineItem
}

// split cuts the tree of a session into segments, parents before children.
func split(log *store.Log, leaf string) []*segment {
	shown := shownFirst(log, leaf)
	var all []*segment
	type branch struct {
		parent *segment
		nodes  []*store.Node
	}
	todo := []branch{{nil, log.Tree()}}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		var siblings []*segment
		for _, node := range b.nodes {
			s := &segment{number: len(all), parent: b.parent, index: len(siblings)}
			siblings = append(siblings, s)
			all = append(all, s)
			next := follow(s, node)
			s.active = shown[s.entries[0].ID]
			if len(next) > 0 {
				todo = append(todo, branch{s, next})
			}
		}
		for _, s := range siblings {
			s.siblings = siblings
		}
		if b.parent != nil {
			b.parent.children = siblings
		}
	}
	return all
}

// shownFirst are the ids of the entries on the way to a leaf, empty for the
// log's, or, where that is before the root, to the last entry.
func shownFirst(log *store.Log, leaf string) map[string]bool {
	if leaf == "" {
		leaf = log.Leaf()
	}
	if entries := log.Entries(); leaf == "" && len(entries) > 0 {
		leaf = entries[len(entries)-1].ID
	}
	shown := map[string]bool{}
	for _, e := range log.Branch(leaf) {
		shown[e.ID] = true
	}
	return shown
}

// follow takes the entries up to the next branch into a segment, and gives
// what comes there.
func follow(s *segment, node *store.Node) []*store.Node {
	for {
		s.entries = append(s.entries, node.Entry)
		if len(node.Children) != 1 {
			return node.Children
		}
		node = node.Children[0]
	}
}

// mainWay is the way on from a segment that the outline does not indent: the one
// that is shown first, or else the last; nil: it ends here.
func mainWay(siblings []*segment) *segment {
	for _, s := range siblings {
		if s.active {
			return s
		}
	}
	if len(siblings) == 0 {
		return nil
	}
	return siblings[len(siblings)-1]
}
