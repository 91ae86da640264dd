package rpcmode

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

var rawType = reflect.TypeFor[json.RawMessage]()

// schemas makes JSON Schemas of the Go types that frames are made of. Structs
// with a name become definitions that the others refer to.
type schemas struct {
	defs  map[string]*jsonschema.Schema
	types map[string]reflect.Type // which type a definition's name stands for
}

func newSchemas() *schemas {
	return &schemas{defs: map[string]*jsonschema.Schema{}, types: map[string]reflect.Type{}}
}

// frame makes the schema of a frame: the members of a struct, with what stands
// in front of them.
func (s *schemas) frame(t reflect.Type, front ...property) *jsonschema.Schema {
	made := object()
	for _, p := range front {
		p.addTo(made)
	}
	s.addFields(made, t)
	return made
}

// property is a member that no struct has.
type property struct {
	name     string
	schema   *jsonschema.Schema
	required bool
}

func (p property) addTo(o *jsonschema.Schema) {
	o.Properties[p.name] = p.schema
	o.PropertyOrder = append(o.PropertyOrder, p.name)
	if p.required {
		o.Required = append(o.Required, p.name)
	}
}

func object() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
}

func constant(word string) *jsonschema.Schema {
	var value any = word
	return &jsonschema.Schema{Const: &value}
}

func oneOfWords(words []string) *jsonschema.Schema {
	made := &jsonschema.Schema{Type: "string"}
	for _, word := range words {
		made.Enum = append(made.Enum, word)
	}
	return made
}

func (s *schemas) addFields(o *jsonschema.Schema, t reflect.Type) {
	for _, f := range fieldsOf(t) {
		schema := s.field(f)
		if f.doc != "" {
			if schema.Ref != "" {
				schema = &jsonschema.Schema{AllOf: []*jsonschema.Schema{schema}}
			}
			schema.Description = f.doc
		}
		property{f.name, schema, f.required}.addTo(o)
	}
}

func (s *schemas) field(f field) *jsonschema.Schema {
	t := f.typ
	if t.Kind() != reflect.Pointer {
		return s.value(t, f)
	}
	schema := s.value(t.Elem(), f)
	if !f.required {
		return schema
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{schema, {Type: "null"}}}
}

// value makes the schema of a type, with the words and the JSON type that the
// field's tags name for it or, in a list, for its items.
func (s *schemas) value(t reflect.Type, f field) *jsonschema.Schema {
	if make, ok := special[t]; ok {
		return make(s)
	}
	if t == rawType {
		return s.raw(f.jsonType)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.value(t.Elem(), f)
	case reflect.String:
		if len(f.enum) == 1 {
			return constant(f.enum[0])
		}
		if len(f.enum) > 1 {
			return oneOfWords(f.enum)
		}
		return &jsonschema.Schema{Type: "string"}
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: s.value(t.Elem(), f)}
	case reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: s.value(t.Elem(), f)}
	case reflect.Struct:
		return s.define(t.Name(), t, func() *jsonschema.Schema {
			if keepsMore(t) {
				return open(s.frame(t))
			}
			return s.frame(t)
		})
	}
	return &jsonschema.Schema{Type: goType(t)}
}

// keepsMore says whether values of a type carry members on that it does not
// name.
func keepsMore(t reflect.Type) bool {
	extra, ok := t.FieldByName("Extra")
	return ok && extra.Type == reflect.TypeFor[message.Fields]()
}

func (s *schemas) raw(jsonType string) *jsonschema.Schema {
	switch jsonType {
	case "":
		return &jsonschema.Schema{}
	case "message":
		return special[reflect.TypeFor[message.Message]()](s)
	case "entry":
		return s.define("Entry", nil, entrySchema)
	}
	return &jsonschema.Schema{Type: jsonType}
}

// define gives a reference to a definition, and makes it when it is not there
// yet. Two types of one name are a bug.
func (s *schemas) define(name string, t reflect.Type, make func() *jsonschema.Schema) *jsonschema.Schema {
	if _, ok := s.defs[name]; !ok {
		s.defs[name] = &jsonschema.Schema{}
		s.types[name] = t
		*s.defs[name] = *make()
	}
	if s.types[name] != t {
		panic(fmt.Sprintf("rpcmode: %s and %s would share one definition", s.types[name], t))
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name}
}

// special are the types whose JSON form their fields do not show.
var special map[reflect.Type]func(*schemas) *jsonschema.Schema

func init() {
	special = map[reflect.Type]func(*schemas) *jsonschema.Schema{
		reflect.TypeFor[message.Message](): messageSchema,
		reflect.TypeFor[message.List](): func(s *schemas) *jsonschema.Schema {
			return &jsonschema.Schema{Type: "array", Items: messageSchema(s)}
		},
		reflect.TypeFor[message.Block](): blockSchema,
		reflect.TypeFor[message.Content](): func(s *schemas) *jsonschema.Schema {
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "array", Items: blockSchema(s)}}}
		},
		reflect.TypeFor[message.ThinkingLevel](): words(message.ThinkingLevels()...),
		reflect.TypeFor[message.StopReason](): words(message.StopStop, message.StopLength, message.StopToolUse,
			message.StopError, message.StopAborted, message.StopPending),
		reflect.TypeFor[event.CompactionReason](): words(event.CompactManual, event.CompactThreshold, event.CompactOverflow),
		reflect.TypeFor[event.UpdateType](): words(event.TextStart, event.TextDelta, event.TextEnd, event.ThinkingStart,
			event.ThinkingDelta, event.ThinkingEnd, event.ToolCallStart, event.ToolCallDelta, event.ToolCallEnd),
	}
}

func words[W ~string](list ...W) func(*schemas) *jsonschema.Schema {
	return func(*schemas) *jsonschema.Schema {
		plain := make([]string, len(list))
		for i, word := range list {
			plain[i] = string(word)
		}
		return oneOfWords(plain)
	}
}

// messages are the roles that have a type, by the name of their definition.
var messages = []struct {
	role message.Role
	typ  reflect.Type
}{
	{message.RoleUser, reflect.TypeFor[message.User]()},
	{message.RoleAssistant, reflect.TypeFor[message.Assistant]()},
	{message.RoleToolResult, reflect.TypeFor[message.ToolResult]()},
	{message.RoleBashExecution, reflect.TypeFor[message.BashExecution]()},
	{message.RoleCustom, reflect.TypeFor[message.Custom]()},
	{message.RoleBranchSummary, reflect.TypeFor[message.BranchSummary]()},
	{message.RoleCompactionSummary, reflect.TypeFor[message.CompactionSummary]()},
}

func messageSchema(s *schemas) *jsonschema.Schema {
	return s.define("Message", nil, func() *jsonschema.Schema {
		all := &jsonschema.Schema{Description: "told apart by role; there may be roles and fields beside these"}
		var roles []any
		for _, m := range messages {
			name := m.typ.Name() + "Message"
			roles = append(roles, string(m.role))
			all.AnyOf = append(all.AnyOf, s.define(name, m.typ, func() *jsonschema.Schema {
				return open(s.frame(m.typ, property{"role", constant(string(m.role)), true}))
			}))
		}
		other := open(object())
		property{"role", &jsonschema.Schema{Type: "string", Not: &jsonschema.Schema{Enum: roles}}, true}.addTo(other)
		all.AnyOf = append(all.AnyOf, other)
		return all
	})
}

// open marks an object that may have further members.
func open(o *jsonschema.Schema) *jsonschema.Schema {
	o.AdditionalProperties = &jsonschema.Schema{}
	return o
}

// ofTypes makes the schema of a value that may be of several types, or any.
func ofTypes(types []string) *jsonschema.Schema {
	if types[0] == "any" {
		return &jsonschema.Schema{}
	}
	if len(types) == 1 {
		return &jsonschema.Schema{Type: types[0]}
	}
	return &jsonschema.Schema{Types: types}
}

// Arguments of a tool call are what the model wrote: nearly always an object.
var blockFields = []struct {
	typ    message.BlockType
	fields string // name and JSON types; a question mark: optional
}{
	{message.BlockText, "text string, textSignature? string"},
	{message.BlockThinking, "thinking string, thinkingSignature? string, redacted? boolean"},
	{message.BlockToolCall, "id string, name string, arguments any, thoughtSignature? string"},
	{message.BlockImage, "data string, mimeType string"},
}

func blockSchema(s *schemas) *jsonschema.Schema {
	return s.define("Block", nil, func() *jsonschema.Schema {
		all := &jsonschema.Schema{Description: "told apart by type; there may be types and fields beside these"}
		var types []any
		for _, b := range blockFields {
			made := open(object())
			property{"type", constant(string(b.typ)), true}.addTo(made)
			for _, f := range strings.Split(b.fields, ", ") {
				name, typ, _ := strings.Cut(f, " ")
				name, optional := strings.CutSuffix(name, "?")
				property{name, ofTypes(strings.Split(typ, "|")), !optional}.addTo(made)
			}
			types = append(types, string(b.typ))
			all.AnyOf = append(all.AnyOf, made)
		}
		other := open(object())
		property{"type", &jsonschema.Schema{Type: "string", Not: &jsonschema.Schema{Enum: types}}, true}.addTo(other)
		all.AnyOf = append(all.AnyOf, other)
		return all
	})
}

func entrySchema() *jsonschema.Schema {
	made := open(object())
	made.Description = "an entry of the session file, as it stands there"
	property{"type", &jsonschema.Schema{Type: "string"}, true}.addTo(made)
	property{"id", &jsonschema.Schema{Type: "string"}, true}.addTo(made)
	property{"parentId", &jsonschema.Schema{Types: []string{"string", "null"}}, true}.addTo(made)
	property{"timestamp", &jsonschema.Schema{Type: "string"}, true}.addTo(made)
	return made
}
