package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-54e836f5/pi/core/message"
)

// ErrArguments is behind every error of Validate that is the model's mistake.
var ErrArguments = errors.New("the arguments cannot be used")

// Validate checks the arguments of a call against a tool's parameters, and
// gives back those to run it with. Values of a neighbouring type are converted
// ("2" for a number, 5 for a string, one item for a list), null stands for an
// optional field that was left out, and fields that the schema does not name
// are let through. Text that is no JSON, or was cut off, is never repaired.
//
// The error names each field that does not fit and shows what was received; it
// is written for the model. It is ErrArguments, unless the tool's own schema
// is broken. Validate may be called from any goroutine.
func Validate(spec Spec, args json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}") // some services send nothing for no arguments
	}
	value, err := decode(args)
	if err != nil {
		return nil, refuse(spec, args, "they are not complete JSON: "+err.Error())
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, refuse(spec, args, "they must be a JSON object, not "+kindOf(value))
	}
	prepared := args
	if spec.Prepare != nil {
		prepared = spec.Prepare(args)
		if value, err = decode(prepared); err != nil {
			return nil, fmt.Errorf("tool %s: Prepare gave no JSON: %w", spec.Name, err)
		}
	}
	schema, err := resolve(spec.Parameters)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", spec.Name, err)
	}
	if schema.Validate(plain(value)) == nil {
		return prepared, nil
	}
	value = coerce(schema.Schema(), value)
	if err := schema.Validate(plain(value)); err != nil {
		found := problems(schema.Schema(), value, "")
		if len(found) == 0 {
			found = []string{foreign(err)}
		}
		return nil, refuse(spec, args, strings.Join(found, "\n- "))
	}
	return message.Marshal(value)
}

// maxName is the longest name of a tool that services take.
const maxName = 128

// Offered is a tool that somebody else brings as services take it: with a legal
// name, and a JSON Schema of an object that Validate can use. Services refuse
// every request that has another one, whatever it asks for. The error is a
// *SpecError.
func Offered(spec Spec) (Spec, error) {
	if !isToolName(spec.Name) {
		return Spec{}, &SpecError{"name", fmt.Sprintf("%q: expected up to %d letters, digits, _ and -", spec.Name, maxName)}
	}
	if _, err := resolve(spec.Parameters); err != nil {
		return Spec{}, &SpecError{"parameters", err.Error()}
	}
	if len(spec.Parameters) == 0 {
		return spec, nil
	}
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(spec.Parameters, &schema); err != nil || schema == nil {
		return Spec{}, &SpecError{"parameters", "the parameters are not a JSON Schema of an object"}
	}
	switch kind := schema["type"]; string(kind) {
	case `"object"`:
	case "":
		schema["type"] = json.RawMessage(`"object"`)
		var err error
		if spec.Parameters, err = message.Marshal(schema); err != nil {
			return Spec{}, &SpecError{"parameters", err.Error()}
		}
	default:
		return Spec{}, &SpecError{"parameters", fmt.Sprintf(`the type of the parameters is %s, where "object" is expected`, kind)}
	}
	return spec, nil
}

// SpecError says what is wrong with a tool that somebody offers.
type SpecError struct {
	Field   string // name or parameters
	Problem string
}

// Error implements error.
func (e *SpecError) Error() string { return e.Field + ": " + e.Problem }

func isToolName(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(c rune) bool {
		legal := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
		return !legal
	})
}

// schemas holds the resolved schemas by their text, *jsonschema.Resolved each:
// resolving takes far longer than validating.
var schemas sync.Map

func resolve(parameters json.RawMessage) (*jsonschema.Resolved, error) {
	if len(parameters) == 0 {
		parameters = json.RawMessage(`{"type":"object"}`)
	}
	key := string(parameters)
	if known, ok := schemas.Load(key); ok {
		return known.(*jsonschema.Resolved), nil
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(parameters, &schema); err != nil {
		return nil, fmt.Errorf("the parameters are not a JSON Schema: %w", err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("the parameters are not a JSON Schema: %w", err)
	}
	schemas.Store(key, resolved)
	return resolved, nil
}

// decode reads exactly one JSON value, and keeps numbers as they are written.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, jsonError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more text behind the JSON value")
	}
	return value, nil
}

// plain is a copy of a value with numbers as the schema library takes them.
func plain(value any) any {
	switch value := value.(type) {
	case json.Number:
		if f, err := value.Float64(); err == nil {
			return f
		}
	case map[string]any:
		object := make(map[string]any, len(value))
		for name, field := range value {
			object[name] = plain(field)
		}
		return object
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = plain(item)
		}
		return list
	}
	return value
}

func jsonError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the text ends too early")
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%w (byte %d)", err, syntax.Offset)
	}
	return err
}

// refusal is an error for the model. Its text stands alone.
type refusal string

func (r refusal) Error() string { return string(r) }
func (r refusal) Unwrap() error { return ErrArguments }
func refuse(spec Spec, args json.RawMessage, why string) error {
	return refusal(fmt.Sprintf("The call of %s was not run, its arguments do not fit:\n- %s\n\nReceived:\n%s", spec.Name, why, shown(args)))
}

// shown is what the model is shown of its arguments: indented where they are
// JSON, the raw text where not, and of long ones both ends.
func shown(args json.RawMessage) string {
	text := string(args)
	var indented bytes.Buffer
	if json.Indent(&indented, args, "", "  ") == nil {
		text = indented.String()
	}
	const end = 2048
	if len(text) <= 2*end {
		return text
	}
	head, tail := text[:end], text[len(text)-end:]
	for !utf8.ValidString(head) && len(head) > end-utf8.UTFMax {
		head = head[:len(head)-1]
	}
	for !utf8.ValidString(tail) && len(tail) > end-utf8.UTFMax {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// problems lists the fields of value that do not fit, in our words, as far as
// types, missing fields, choices and bounds are concerned.
func problems(schema *jsonschema.Schema, value any, path string) []string {
	if schema == nil {
		return nil
	}
	if types := typesOf(schema); len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isType(value, t) }) {
		return []string{fmt.Sprintf("%s: must be %s, not %s", named(path), anyOf(types), kindOf(value))}
	}
	if len(schema.Enum) > 0 && !slices.ContainsFunc(schema.Enum, func(choice any) bool { return sameJSON(choice, value) }) {
		return []string{fmt.Sprintf("%s: must be one of %s, not %s", named(path), inJSON(schema.Enum), inJSON(value))}
	}
	var found []string
	switch value := value.(type) {
	case json.Number:
		f, _ := value.Float64() // it is a number, or its type would not fit
		if schema.Minimum != nil && f < *schema.Minimum {
			found = append(found, fmt.Sprintf("%s: must be at least %v, not %s", named(path), *schema.Minimum, value))
		}
		if schema.Maximum != nil && f > *schema.Maximum {
			found = append(found, fmt.Sprintf("%s: must be at most %v, not %s", named(path), *schema.Maximum, value))
		}
	case map[string]any:
		for _, name := range schema.Required {
			if _, ok := value[name]; !ok {
				found = append(found, named(join(path, name))+": is missing")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			found = append(found, problems(schema.Properties[name], value[name], join(path, name))...)
		}
	case []any:
		for i, item := range value {
			found = append(found, problems(schema.Items, item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return found
}

// foreign is what the schema library says, for the keywords that problems does
// not know, with the place in the arguments rather than in the schema.
func foreign(err error) string {
	place, text := "", err.Error()
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		if !ok {
			break
		}
		pointer, rest, ok := strings.Cut(rest, ": ")
		if !ok {
			break
		}
		place, text = pointer, rest
	}
	place = strings.NewReplacer("/properties/", ".", "/items", "[]").Replace(strings.TrimPrefix(place, "root"))
	return named(strings.TrimPrefix(place, ".")) + ": " + text
}

func named(path string) string {
	if path == "" {
		return "the arguments"
	}
	return path
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func anyOf(types []string) string {
	named := make([]string, len(types))
	for i, t := range types {
		named[i] = article(t)
	}
	return strings.Join(named, " or ")
}

func article(typ string) string {
	switch typ {
	case "array":
		return "a list"
	case "object", "integer":
		return "an " + typ
	case "null":
		return typ
	}
	return "a " + typ
}

// kindOf names a JSON value for people: its type, and the value where it is
// short.
func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		const short = 40
		if len(value) > short {
			return "a string"
		}
		return "the string " + inJSON(value)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return inJSON(value)
}

func inJSON(value any) string {
	data, err := message.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}
