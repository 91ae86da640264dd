package sdk

import (
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
)

// Session reads the conversation, and adds what an extension may add. It
// belongs to a Context; see there for what happens when the session is
// replaced.
type Session struct{ c *Context }

// Entry is one entry of the session file.
type Entry struct {
	Type      string  `json:"type"` // message, custom, custom_message, compaction, label, ...
	ID        string  `json:"id"`
	ParentID  *string `json:"parentId"`  // nil: a root
	Timestamp string  `json:"timestamp"` // ISO 8601
	// Message is set when Type is message.
	Message Message `json:"-"`
	// CustomType and Data are set when Type is custom, CustomType also for
	// custom_message.
	CustomType string          `json:"customType,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
	// Raw is the whole entry as it stands in the file.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Entry) UnmarshalJSON(data []byte) error {
	type fields Entry
	wire := struct {
		*fields
		Message json.RawMessage `json:"message"`
	}{fields: (*fields)(e)}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	e.Raw = append(json.RawMessage(nil), data...)
	if e.Type != "message" || len(wire.Message) == 0 {
		return nil
	}
	var err error
	if e.Message, err = message.Decode(wire.Message); err != nil {
		return fmt.Errorf("entry %s: %w", e.ID, err)
	}
	return nil
}

// TreeNode is an entry with those that follow it.
type TreeNode struct {
	Entry          Entry
	Children       []*TreeNode // oldest first; nil: none
	Label          string      // empty: none
	LabelTimestamp string      // ISO 8601: when the label was set
}

// Entries lists all entries in the order in which they were written, also
// those of branches that were left.
func (s *Session) Entries() ([]Entry, error) { return s.entries(proto.MethodEntries, nil) }

// EntriesSince lists the entries behind the one of the id.
func (s *Session) EntriesSince(id string) ([]Entry, error) {
	return s.entries(proto.MethodEntries, proto.EntriesArgs{Since: &id})
}

// Branch lists the entries from the root to the leaf: the conversation as it
// stands.
func (s *Session) Branch() ([]Entry, error) { return s.entries(proto.MethodBranch, nil) }

// BranchTo lists the entries from the root to the one of the id.
func (s *Session) BranchTo(id string) ([]Entry, error) {
	return s.entries(proto.MethodBranch, proto.BranchArgs{EntryID: &id})
}

func (s *Session) entries(method string, arguments any) ([]Entry, error) {
	var answer struct {
		Entries []Entry `json:"entries"`
	}
	err := s.c.call(method, arguments, &answer)
	return answer.Entries, err
}

// Leaf is the id of the entry that the next one will follow; empty in an empty
// session.
func (s *Session) Leaf() (string, error) {
	branch, err := s.Branch()
	if err != nil || len(branch) == 0 {
		return "", err
	}
	return branch[len(branch)-1].ID, nil
}

// Tree lists the roots, with all that follows them.
func (s *Session) Tree() ([]*TreeNode, error) {
	tree, err := get[proto.Tree](s.c, proto.MethodTree, nil)
	if err != nil {
		return nil, err
	}
	var roots []*TreeNode
	nodes := make([]TreeNode, len(tree.Nodes))
	for i, from := range tree.Nodes {
		node := &nodes[i]
		node.Label, node.LabelTimestamp = from.Label, from.LabelTimestamp
		if err := json.Unmarshal(from.Entry, &node.Entry); err != nil {
			return nil, fmt.Errorf("%s: node %d: %w", proto.MethodTree, i, err)
		}
		switch {
		case from.Parent < 0:
			roots = append(roots, node)
		case from.Parent < i:
			nodes[from.Parent].Children = append(nodes[from.Parent].Children, node)
		default:
			return nil, fmt.Errorf("%s: node %d stands before its parent, %d", proto.MethodTree, i, from.Parent)
		}
	}
	return roots, nil
}

// Messages is the conversation as the model sees it.
func (s *Session) Messages() (Messages, error) {
	return get[Messages](s.c, proto.MethodMessages, nil)
}

// Label is the label of an entry; empty: it has none.
func (s *Session) Label(entryID string) (string, error) {
	roots, err := s.Tree()
	if err != nil {
		return "", err
	}
	for len(roots) > 0 {
		node := roots[len(roots)-1]
		if node.Entry.ID == entryID {
			return node.Label, nil
		}
		roots = append(roots[:len(roots)-1], node.Children...)
	}
	return "", nil
}

// File is the path of the session file; empty: it is kept in memory.
func (s *Session) File() (string, error) {
	state, err := s.c.State()
	return state.SessionFile, err
}

// ID is the session's id.
func (s *Session) ID() (string, error) {
	state, err := s.c.State()
	return state.SessionID, err
}

// Name is the session's name; empty: it has none.
func (s *Session) Name() (string, error) {
	state, err := s.c.State()
	return state.SessionName, err
}

// SetName names the session.
func (s *Session) SetName(name string) error {
	return s.c.call(proto.MethodSetName, proto.SetNameArgs{Name: name}, nil)
}

// SetLabel labels an entry; an empty label removes it.
func (s *Session) SetLabel(entryID, label string) error {
	return s.c.call(proto.MethodSetLabel, proto.SetLabelArgs{EntryID: entryID, Label: label}, nil)
}

// AppendEntry keeps data in the session file, as JSON, without the model
// seeing it. Read it back from Branch when a session starts.
func (s *Session) AppendEntry(customType string, data any) (Entry, error) {
	encoded, err := message.Marshal(data)
	if err != nil {
		return Entry{}, fmt.Errorf("append entry %s: %w", customType, err)
	}
	return get[Entry](s.c, proto.MethodAppendEntry, proto.AppendEntryArgs{CustomType: customType, Data: encoded})
}
