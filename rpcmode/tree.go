package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var treeRows = []row{
	{name: "get_entries", origin: piOnly, handler: answers(getEntries),
		doc: "Lists the entries of the session file, or those behind one already known."},
	{name: "get_tree", origin: piOnly, handler: answers(getTree),
		doc: "Gives the entries of the session as a tree."},
	{name: "navigate_tree", origin: added, handler: waits(navigateTree),
		doc: "Moves the leaf to another entry, on request with a summary of the branch that is left."},
	{name: "set_label", origin: added, handler: answers(setLabel),
		doc: "Labels an entry, or takes its label off."},
}

func getEntries(_ context.Context, s *server, p wire.GetEntries) (*wire.Entries, error) {
	entries, leafID, err := s.session.Entries(p.Since)
	return &wire.Entries{Entries: entries, LeafID: leafID}, err
}

func getTree(_ context.Context, s *server, _ wire.Empty) (*wire.Tree, error) {
	roots, leafID := s.session.Tree()
	return &wire.Tree{Tree: treeNodes(roots), LeafID: leafID}, nil
}

// treeNodes copies without recursion: a session is a chain of many thousand
// nodes.
func treeNodes(roots []*store.Node) []*wire.TreeNode {
	type pair struct {
		from *store.Node
		to   *wire.TreeNode
	}
	top := &wire.TreeNode{Children: []*wire.TreeNode{}}
	open := []pair{{&store.Node{Children: roots}, top}}
	for len(open) > 0 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		for _, child := range p.from.Children {
			node := &wire.TreeNode{Entry: child.Entry.Raw, Children: []*wire.TreeNode{}, Label: child.Label, LabelTimestamp: child.LabelTimestamp}
			p.to.Children = append(p.to.Children, node)
			open = append(open, pair{child, node})
		}
	}
	return top.Children
}

func navigateTree(ctx context.Context, s *server, p wire.NavigateTree) func() (wire.Navigated, error) {
	wait := s.session.NavigateTree(ctx, session.Navigate(p))
	return func() (wire.Navigated, error) {
		navigated, err := wait()
		return wire.Navigated(navigated), err
	}
}

func setLabel(_ context.Context, s *server, p wire.SetLabel) (wire.None, error) {
	return none, s.session.SetLabel(p.EntryID, p.Label)
}
