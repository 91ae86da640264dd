package config

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/seed-54e836f5/pi/core/message"
)

// objectFile is a JSON object that is changed member by member: order and
// values of the others stay.
type objectFile struct{ list []member }

func parseObjectFile(data []byte) (*objectFile, error) {
	list, err := members(data, 0)
	return &objectFile{list}, err
}

// set puts a member in place of the one of its name, or at the end.
func (f *objectFile) set(name string, value json.RawMessage) bool {
	for i := range f.list {
		if f.list[i].name == name {
			f.list[i].value = value
			return true
		}
	}
	f.list = append(f.list, member{name: name, value: value})
	return true
}

// remove takes a member out and says whether it was there.
func (f *objectFile) remove(name string) bool {
	before := len(f.list)
	f.list = slices.DeleteFunc(f.list, func(m member) bool { return m.name == name })
	return len(f.list) < before
}

// encode writes the object with two blanks of indent and a final newline, as
// the reference agents do.
func (f *objectFile) encode() ([]byte, error) {
	var flat, out bytes.Buffer
	flat.WriteByte('{')
	for i, m := range f.list {
		if i > 0 {
			flat.WriteByte(',')
		}
		name, err := message.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		flat.Write(name)
		flat.WriteByte(':')
		flat.Write(m.value)
	}
	flat.WriteByte('}')
	if err := json.Indent(&out, flat.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// get gives a member's value; nil: there is none.
func (f *objectFile) get(name string) json.RawMessage {
	for _, m := range f.list {
		if m.name == name {
			return m.value
		}
	}
	return nil
}
