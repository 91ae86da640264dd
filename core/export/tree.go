package export

import "github.com/seed-54e836f5/pi/core/store"

// segment is a chain of entries without a branch in it. The page shows one
// path of segments at a time.
type segment struct {
	number  int
	parent  *segment // nil: it begins at the root
	entries []store.Entry
	// siblings are the segments that begin at the same place, itself included,
	// and index is where it stands among them.
	siblings []*segment
	index    int
	active   bool // it is on the path to the leaf
}

// split cuts the tree of a session into segments, parents before children.
func split(log *store.Log) []*segment {
	active := map[string]bool{}
	for _, e := range log.Branch(log.Leaf()) {
		active[e.ID] = true
	}
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
			s.active = active[s.entries[0].ID]
			if len(next) > 0 {
				todo = append(todo, branch{s, next})
			}
		}
		for _, s := range siblings {
			s.siblings = siblings
		}
	}
	return all
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
