package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/core/session"
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
	tree, leafID := s.session.Tree()
	return &wire.Tree{Tree: treeNodes(tree), LeafID: leafID}, nil
}

func treeNodes(nodes []*session.TreeNode) []*wire.TreeNode {
	out := make([]*wire.TreeNode, len(nodes))
	for i, node := range nodes {
		out[i] = &wire.TreeNode{
			Entry: node.Entry, Children: treeNodes(node.Children), Label: node.Label, LabelTimestamp: node.LabelTimestamp,
		}
	}
	return out
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
