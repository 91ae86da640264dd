package client

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var errCutOff = errors.New("the JSON makes no sense or is cut off")

// scanner walks through JSON without a limit of its depth: the tree of a long
// session is deeper than encoding/json reads. It finds where values end, and
// does not check them.
type scanner struct {
	data []byte
	at   int
}

// splitObject gives the members of an object as they stand in line, whose
// memory they share.
func splitObject(line []byte) (map[string]json.RawMessage, error) {
	s := scanner{data: line}
	members := map[string]json.RawMessage{}
	err := s.object(func(name string) error {
		value, err := s.value()
		members[name] = value
		return err
	})
	return members, err
}

// object calls member behind each name; member takes the value.
func (s *scanner) object(member func(name string) error) error {
	return s.list('{', '}', func() error {
		quoted, err := s.value()
		if err != nil {
			return err
		}
		var name string
		if err := json.Unmarshal(quoted, &name); err != nil {
			return err
		}
		if s.peek() != ':' {
			return errCutOff
		}
		s.at++
		return member(name)
	})
}

func (s *scanner) list(first, last byte, item func() error) error {
	if s.peek() != first {
		return errCutOff
	}
	s.at++
	for s.peek() != last {
		if err := item(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.at++
		case last:
		default:
			return errCutOff
		}
	}
	s.at++
	return nil
}

// peek skips white space and gives the byte behind it; 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// value takes one value.
func (s *scanner) value() (json.RawMessage, error) {
	s.peek()
	start, depth := s.at, 0
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case '"':
			if !s.skipString() {
				return nil, errCutOff
			}
			if depth == 0 {
				return s.data[start:s.at], nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return s.ended(start)
			}
			if depth == 0 {
				s.at++
				return s.data[start:s.at], nil
			}
		case ',', ':':
			if depth == 0 {
				return s.ended(start)
			}
		}
		s.at++
	}
	if depth > 0 {
		return nil, errCutOff
	}
	return s.ended(start)
}

// ended gives a number or word that the next byte ends.
func (s *scanner) ended(start int) (json.RawMessage, error) {
	if word := bytes.TrimSpace(s.data[start:s.at]); len(word) > 0 {
		return word, nil
	}
	return nil, errCutOff
}

func (s *scanner) skipString() bool {
	for s.at++; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return true
		}
	}
	return false
}

// decodeTree reads the data of get_tree.
func decodeTree(data []byte) (wire.Tree, error) {
	var tree wire.Tree
	s := scanner{data: data}
	err := s.object(func(name string) (err error) {
		if name == "tree" {
			tree.Tree, err = s.nodes()
			return err
		}
		raw, err := s.value()
		if err == nil && name == "leafId" {
			err = json.Unmarshal(raw, &tree.LeafID)
		}
		return err
	})
	return tree, err
}

func (s *scanner) nodes() ([]*wire.TreeNode, error) {
	nodes := []*wire.TreeNode{}
	err := s.list('[', ']', func() error {
		node := &wire.TreeNode{}
		nodes = append(nodes, node)
		return s.object(func(name string) (err error) {
			if name == "children" {
				node.Children, err = s.nodes()
				return err
			}
			raw, err := s.value()
			if err != nil {
				return err
			}
			switch name {
			case "entry":
				node.Entry = raw
			case "label":
				return json.Unmarshal(raw, &node.Label)
			case "labelTimestamp":
				return json.Unmarshal(raw, &node.LabelTimestamp)
			}
			return nil
		})
	})
	return nodes, err
}
