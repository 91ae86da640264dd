package message

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Fields are JSON members by name, kept as they were written.
type Fields map[string]json.RawMessage

// Marshal encodes v as the wire and the session files have it: like
// encoding/json, but with <, > and & as they are. Values with a method
// AppendJSON write themselves.
func Marshal(v any) ([]byte, error) {
	if v, ok := v.(appender); ok && !isNil(v) {
		return v.AppendJSON(nil)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

// Splice puts a member in front of a JSON object: Splice("type", `"x"`, obj).
// object must be a JSON object without white space around it.
func Splice(name string, value, object []byte) []byte {
	out := make([]byte, 0, len(object)+len(name)+len(value)+8)
	out = append(out, '{', '"')
	out = append(out, name...)
	out = append(out, '"', ':')
	out = append(out, value...)
	if len(object) > 2 {
		out = append(out, ',')
	}
	return append(out, object[1:]...)
}

// appender is a value that appends its own compact JSON.
type appender interface {
	AppendJSON(dst []byte) ([]byte, error)
}

func isNil(v appender) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

type (
	userWire              User
	assistantWire         Assistant
	toolResultWire        ToolResult
	bashExecutionWire     BashExecution
	customWire            Custom
	branchSummaryWire     BranchSummary
	compactionSummaryWire CompactionSummary
	usageWire             Usage
	costWire              Cost
)

// UnmarshalJSON implements json.Unmarshaler.
func (m *User) UnmarshalJSON(data []byte) (err error) {
	m.Extra, err = unmarshalWithExtra(data, (*userWire)(m), "role")
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Assistant) UnmarshalJSON(data []byte) (err error) {
	m.Extra, err = unmarshalWithExtra(data, (*assistantWire)(m), "role")
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *ToolResult) UnmarshalJSON(data []byte) (err error) {
	m.Extra, err = unmarshalWithExtra(data, (*toolResultWire)(m), "role")
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *BashExecution) UnmarshalJSON(data []byte) (err error) {
	m.Extra, err = unmarshalWithExtra(data, (*bashExecutionWire)(m), "role")
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Custom) UnmarshalJSON(data []byte) (err error) {
	m.Extra, err = unmarshalWithExtra(data, (*customWire)(m), "role")
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *BranchSummary) UnmarshalJSON(data []byte) (err error) {
	m.Extra, err = unmarshalWithExtra(data, (*branchSummaryWire)(m), "role")
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *CompactionSummary) UnmarshalJSON(data []byte) (err error) {
	m.Extra, err = unmarshalWithExtra(data, (*compactionSummaryWire)(m), "role")
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *Usage) UnmarshalJSON(data []byte) (err error) {
	u.Extra, err = unmarshalWithExtra(data, (*usageWire)(u))
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Cost) UnmarshalJSON(data []byte) (err error) {
	c.Extra, err = unmarshalWithExtra(data, (*costWire)(c))
	return err
}

// unmarshalWithExtra fills wire and gives back the members that it has no
// field for, leaving out those named in skip.
func unmarshalWithExtra(data []byte, wire any, skip ...string) (Fields, error) {
	var all Fields
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	return fill(wire, data, all, skip...)
}

// fill is unmarshalWithExtra for data whose members are known already. It
// takes all over. Names count with their case: encoding/json alone would take
// any, and the same member would come back twice.
func fill(wire any, data []byte, all Fields, skip ...string) (Fields, error) {
	known := knownNames(reflect.TypeOf(wire).Elem())
	if anyFolds(all, known) {
		exact := Fields{}
		for _, name := range known {
			if value, ok := all[name]; ok {
				exact[name] = value
			}
		}
		var err error
		if data, err = Marshal(exact); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(data, wire); err != nil {
		return nil, err
	}
	for _, name := range known {
		delete(all, name)
	}
	for _, name := range skip {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// anyFolds says whether a member differs from a known name in its case only.
func anyFolds(all Fields, known []string) bool {
	for name := range all {
		for _, k := range known {
			if name != k && strings.EqualFold(name, k) {
				return true
			}
		}
	}
	return false
}

var namesByType sync.Map // reflect.Type to []string

func knownNames(t reflect.Type) []string {
	if names, ok := namesByType.Load(t); ok {
		return names.([]string)
	}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	namesByType.Store(t, names)
	return names
}
