package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Warning is something in the user's files that was not used as it stands.
// The rest of the file was.
type Warning struct {
	File    string // empty: not about a file
	Line    int    // from 1; 0: not known
	Column  int    // from 1, in characters; 0: not known
	Key     string // the member it is about, e.g. retry.maxRetries; empty: the whole file
	Message string // what is wrong, and what is used in its place
}

// String gives the warning in one line: file:line:column: key: message.
func (w Warning) String() string {
	var b strings.Builder
	if w.File != "" {
		b.WriteString(w.File)
		if w.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", w.Line, w.Column)
		}
		b.WriteString(": ")
	}
	if w.Key != "" {
		b.WriteString(w.Key + ": ")
	}
	b.WriteString(w.Message)
	return b.String()
}

// source is a file that warnings are about.
type source struct {
	file string
	data []byte
}

func (s source) warn(offset int64, key, format string, args ...any) Warning {
	line, column := position(s.data, offset)
	return Warning{File: s.file, Line: line, Column: column, Key: key, Message: fmt.Sprintf(format, args...)}
}

// position turns a byte offset into a line and a column, both from 1.
func position(data []byte, offset int64) (line, column int) {
	offset = max(0, min(offset, int64(len(data))))
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

// syntaxOffset says where in data a JSON error is: at the byte that does not
// fit, or at the end for a file that stops too early.
func syntaxOffset(data []byte, err error) int64 {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		// The decoder reports how many bytes it has read, the bad one included.
		if syntax.Offset > 0 && syntax.Offset <= int64(len(data)) && !isCutOff(err) {
			return syntax.Offset - 1
		}
	}
	return int64(len(data))
}

func isCutOff(err error) bool { return strings.Contains(err.Error(), "unexpected end") }

// member is one member of a JSON object, with where its value begins.
type member struct {
	name   string
	value  json.RawMessage
	offset int64
}

// members takes a JSON object apart, in the order of the file; of a name that
// comes twice the last one counts. base is where the object begins.
func members(object json.RawMessage, base int64) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if open != json.Delim('{') {
		return nil, errNotObject
	}
	var list []member
	index := map[string]int{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		m := member{name: name.(string), value: value, offset: base + dec.InputOffset() - int64(len(value))}
		if at, twice := index[m.name]; twice {
			list[at] = m
			continue
		}
		index[m.name] = len(list)
		list = append(list, m)
	}
	return list, nil
}

var errNotObject = errors.New("not an object")

// jsonKind names a Go type as the person who writes the file knows it.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	default:
		return "a number"
	}
}
