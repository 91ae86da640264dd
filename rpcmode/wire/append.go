package wire

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/message"
)

// The long lists are written by hand: their items are JSON already, and to
// read them once more would double the time that a large session takes. Those
// that are not nested are not even copied.

// JSONParts gives the wire form in parts, behind the part head. The messages
// must be compact JSON, and are taken over.
func (m *Messages) JSONParts(head []byte) ([][]byte, error) {
	parts := list(append(head, `{"messages":[`...), m.Messages)
	return append(parts, []byte(`]}`)), nil
}

// JSONParts gives the wire form in parts, behind the part head. The entries
// must be compact JSON, and are taken over.
func (e *Entries) JSONParts(head []byte) ([][]byte, error) {
	parts := list(append(head, `{"entries":[`...), e.Entries)
	end, err := appendLeaf([]byte{']'}, e.LeafID)
	return append(parts, end), err
}

var comma = []byte{','}

// list is head, and the items with commas between them. There is room for two
// more parts.
func list(head []byte, items []json.RawMessage) [][]byte {
	parts := append(make([][]byte, 0, 2*len(items)+2), head)
	for i, item := range items {
		if i > 0 {
			parts = append(parts, comma)
		}
		parts = append(parts, item)
	}
	return parts
}

// AppendJSON appends the wire form. The entries must be compact JSON. A tree
// may be as deep as a session has entries.
func (t *Tree) AppendJSON(dst []byte) ([]byte, error) {
	dst, err := appendNodes(append(dst, `{"tree":`...), t.Tree)
	if err != nil {
		return nil, err
	}
	return appendLeaf(dst, t.LeafID)
}

func appendLeaf(dst []byte, leafID *string) ([]byte, error) {
	leaf, err := message.Marshal(leafID)
	if err != nil {
		return nil, err
	}
	return append(append(append(dst, `,"leafId":`...), leaf...), '}'), nil
}

func appendNodes(dst []byte, roots []*TreeNode) ([]byte, error) {
	type level struct {
		nodes []*TreeNode
		at    int // of the node that is being written
	}
	open := []level{{nodes: roots}}
	dst = append(dst, '[')
	for {
		l := &open[len(open)-1]
		if l.at < len(l.nodes) {
			if l.at > 0 {
				dst = append(dst, ',')
			}
			node := l.nodes[l.at]
			dst = append(append(append(dst, `{"entry":`...), node.Entry...), `,"children":[`...)
			open = append(open, level{nodes: node.Children})
			continue
		}
		dst = append(dst, ']')
		open = open[:len(open)-1]
		if len(open) == 0 {
			return dst, nil
		}
		l = &open[len(open)-1]
		var err error
		if dst, err = appendLabel(dst, l.nodes[l.at]); err != nil {
			return nil, err
		}
		dst = append(dst, '}')
		l.at++
	}
}

func appendLabel(dst []byte, node *TreeNode) ([]byte, error) {
	if node.Label == "" {
		return dst, nil
	}
	label, err := message.Marshal(struct {
		Label          string `json:"label"`
		LabelTimestamp string `json:"labelTimestamp,omitempty"`
	}{node.Label, node.LabelTimestamp})
	if err != nil {
		return nil, err
	}
	return append(append(dst, ','), label[1:len(label)-1]...), nil
}
