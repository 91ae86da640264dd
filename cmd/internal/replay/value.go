package replay

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A value is decoded JSON: nil, bool, json.Number, string, []any, object.
type object = map[string]any

// decode reads one JSON value and keeps numbers as they are written.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, &json.SyntaxError{Offset: d.InputOffset()}
	}
	return v, nil
}

// leading are the members that a reader of a transcript looks for; they are
// written first, the others in alphabetical order.
var leading = []string{"in", "out", "type", "id", "parentId", "command", "success", "role", "method", "toolCallId", "toolName", "name", "path"}

// encode writes a value compactly, so that equal values give equal bytes.
func encode(v any) []byte {
	var b bytes.Buffer
	write(&b, v)
	return b.Bytes()
}

func write(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for i, k := range memberOrder(v) {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, k)
			b.WriteString(": ")
			write(b, v[k])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, item)
		}
		b.WriteByte(']')
	default:
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(err) // decoded values always encode
		}
		b.Truncate(b.Len() - 1) // the encoder's newline
	}
}

func memberOrder(v object) []string {
	names := slices.Sorted(maps.Keys(v))
	rank := func(name string) int {
		if i := slices.Index(leading, name); i >= 0 {
			return i
		}
		return len(leading)
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

// rewrite returns v with every string s replaced by f(s); member names too.
func rewrite(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = rewrite(item, f)
		}
		return out
	case object:
		out := make(object, len(v))
		for k, item := range v {
			out[f(k)] = rewrite(item, f)
		}
		return out
	}
	return v
}

// walk calls f for every value in v, outermost first, with the name of the
// member that holds it; items of a list have the list's name.
func walk(v any, name string, f func(name string, v any)) {
	f(name, v)
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			walk(item, name, f)
		}
	case object:
		for _, k := range memberOrder(v) {
			walk(v[k], k, f)
		}
	}
}

// text returns the string member of an object, or "".
func text(v any, names ...string) string {
	s, _ := member(v, names...).(string)
	return s
}

// member returns what names lead to, or nil.
func member(v any, names ...string) any {
	for _, name := range names {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = o[name]
	}
	return v
}

// with returns o with one member changed.
func with(o object, name string, v any) object {
	out := maps.Clone(o)
	out[name] = v
	return out
}

// brief renders a value for a message.
func brief(v any) string {
	s := string(encode(v))
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:130], "") + " … " + strings.ToValidUTF8(s[len(s)-60:], "")
}
