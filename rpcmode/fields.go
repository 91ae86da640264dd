package rpcmode

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// field is one member of a frame, as the tags of a Go struct describe it.
type field struct {
	name       string
	index      int
	required   bool
	enum       []string
	format     string // what a text must be beyond a text: a key of formats; empty: anything
	jsonType   string // what a RawMessage must be; empty: anything
	refuseNull bool   // null is wrong, not absent
	doc        string
	typ        reflect.Type
}

// formats are the values of the tag format, of fields that are a text.
var formats = map[string]struct {
	fits     func(text string) bool
	expected string
}{
	"base64":     {isBase64, "base64, without the beginning of a data: URL"},
	"image-type": {isImageType, "an image type such as image/png"},
}

var fieldsByType sync.Map // reflect.Type to []field

// fieldsOf lists the members of a struct in order.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			panic(fmt.Sprintf("rpcmode: field %s of %s has no json tag", f.Name, t))
		}
		made := field{
			name: name, index: i, typ: f.Type,
			required:   !strings.Contains(options, "omitempty"),
			jsonType:   f.Tag.Get("json-type"),
			refuseNull: f.Tag.Get("null") == "refuse",
			doc:        f.Tag.Get("doc"),
		}
		if words := f.Tag.Get("enum"); words != "" {
			made.enum = strings.Split(words, ",")
		}
		made.format = f.Tag.Get("format")
		if _, known := formats[made.format]; made.format != "" && !known {
			panic(fmt.Sprintf("rpcmode: field %s of %s has the format %q, which is none", f.Name, t, made.format))
		}
		fields = append(fields, made)
	}
	fieldsByType.Store(t, fields)
	return fields
}

// fieldError says which field of a command is wrong, and what was expected.
type fieldError struct {
	Field   string // as a path: tools[1].name
	Problem string
}

// Error implements error.
func (e *fieldError) Error() string { return e.Field + ": " + e.Problem }

// decodeFields fills the struct that target points to from the members of a
// JSON object. Names must match exactly; unknown ones are ignored; null stands
// for absent. The error is a *fieldError.
func decodeFields(members map[string]json.RawMessage, target any) error {
	return decodeStruct(members, reflect.ValueOf(target).Elem(), "")
}

func decodeStruct(members map[string]json.RawMessage, target reflect.Value, path string) error {
	for _, f := range fieldsOf(target.Type()) {
		raw, there := members[f.name]
		at := path + f.name
		if there && string(raw) == "null" && !f.required && !f.refuseNull {
			continue
		}
		if !there && f.required {
			return &fieldError{at, "missing, expected " + expectation(f)}
		}
		if !there {
			continue
		}
		if err := decodeValue(raw, target.Field(f.index), f, at); err != nil {
			return err
		}
	}
	return nil
}

func decodeValue(raw json.RawMessage, target reflect.Value, f field, path string) error {
	t := target.Type()
	if t == rawType {
		if f.jsonType != "" && jsonType(raw) != f.jsonType {
			return wrongType(raw, f, path)
		}
		target.SetBytes(slices.Clone(raw))
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		target.Set(reflect.New(t.Elem()))
		f.typ = t.Elem()
		return decodeValue(raw, target.Elem(), f, path)
	case reflect.String, reflect.Bool:
		if jsonType(raw) != goType(t) || json.Unmarshal(raw, target.Addr().Interface()) != nil {
			return wrongType(raw, f, path)
		}
		if len(f.enum) > 0 && !slices.Contains(f.enum, target.String()) {
			return &fieldError{path, fmt.Sprintf("expected %s; got %q", expectation(f), target.String())}
		}
		if format, has := formats[f.format]; has && !format.fits(target.String()) {
			return &fieldError{path, "expected " + format.expected}
		}
		return nil
	case reflect.Slice:
		var items []json.RawMessage
		if jsonType(raw) != "array" || json.Unmarshal(raw, &items) != nil {
			return wrongType(raw, f, path)
		}
		list := reflect.MakeSlice(t, len(items), len(items))
		f.typ, f.required = t.Elem(), true
		for i, item := range items {
			if err := decodeValue(item, list.Index(i), f, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		target.Set(list)
		return nil
	case reflect.Struct:
		var members map[string]json.RawMessage
		if jsonType(raw) != "object" || json.Unmarshal(raw, &members) != nil {
			return wrongType(raw, f, path)
		}
		return decodeStruct(members, target, path+".")
	}
	panic("rpcmode: no way to read a field of type " + t.String())
}

// isBase64 checks the letters only: services differ in the padding they want,
// and images are large.
func isBase64(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("+/=\r\n", r)
	})
}

// isImageType leaves it to the model service which images it takes.
func isImageType(text string) bool {
	kind, isImage := strings.CutPrefix(text, "image/")
	return isImage && kind != ""
}

func wrongType(raw json.RawMessage, f field, path string) error {
	return &fieldError{path, fmt.Sprintf("expected %s, got %s", expectation(f), withArticle(jsonType(raw)))}
}

// expectation says in words what a field takes.
func expectation(f field) string {
	if len(f.enum) == 1 {
		return fmt.Sprintf("%q", f.enum[0])
	}
	if len(f.enum) > 1 && f.typ.Kind() == reflect.String {
		return "one of " + strings.Join(f.enum, ", ")
	}
	t := f.typ
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == rawType {
		return withArticle(f.jsonType)
	}
	return withArticle(goType(t))
}

func goType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	}
	panic("rpcmode: no JSON type for " + t.String())
}

// jsonType names the type of a JSON value.
func jsonType(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func withArticle(typ string) string {
	switch typ {
	case "":
		return "a value"
	case "array", "object", "integer":
		return "an " + typ
	case "null", "nothing":
		return typ
	}
	return "a " + typ
}
