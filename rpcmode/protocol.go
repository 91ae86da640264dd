package rpcmode

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var protocolRows = []row{
	{name: "get_protocol", origin: added, patience: soon, handler: answers(getProtocol),
		doc: "Describes the protocol: dialect, version, commands with their fields, events and other frames; with the JSON Schema of each when asked."},
	{name: "shutdown", origin: added, handler: answers(shutdown),
		doc: "Ends the process as soon as the session is idle."},
}

func getProtocol(_ context.Context, s *server, p wire.GetProtocol) (wire.Protocol, error) {
	return Describe(s.dialect, s.options.Version, p.Schemas)
}

func shutdown(_ context.Context, s *server, _ wire.Empty) (wire.None, error) {
	s.session.RequestShutdown()
	return none, nil
}

// Describe gives the data of get_protocol: everything that is known of the
// commands, events and other frames of a dialect. The reference page and the
// types for other languages are made from it.
func Describe(dialect Dialect, version string, withSchemas bool) (wire.Protocol, error) {
	d := describer{dialect: dialect, schemas: newSchemas(), with: withSchemas}
	p := wire.Protocol{Dialect: string(dialect), Version: version}
	for i := range table {
		p.Commands = append(p.Commands, d.command(&table[i]))
	}
	for _, e := range clientEvents(dialect) {
		p.Events = append(p.Events, wire.EventInfo{Type: e.name, Description: e.doc, Schema: d.raw(d.event(e))})
	}
	for _, f := range otherFrames(dialect) {
		schema := d.schemas.frame(f.typ)
		p.Frames = append(p.Frames, wire.FrameInfo{Type: f.name, Direction: f.direction, Description: f.doc, Schema: d.raw(schema)})
	}
	if withSchemas {
		p.Defs = map[string]json.RawMessage{}
		for name, schema := range d.schemas.defs {
			p.Defs[name] = d.raw(schema)
		}
	}
	return p, d.err
}

// describer keeps the first error, so that its methods can be called in one
// another.
type describer struct {
	dialect Dialect
	schemas *schemas
	with    bool
	err     error
}

// raw gives nothing when no schemas were asked for.
func (d *describer) raw(schema *jsonschema.Schema) json.RawMessage {
	if !d.with {
		return nil
	}
	data, err := message.Marshal(schema)
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("encode a schema: %w", err)
	}
	return data
}

func (d *describer) command(r *row) wire.CommandInfo {
	info := wire.CommandInfo{
		Name: r.name, Aliases: r.aliases, Description: r.doc, Origin: string(r.origin), Immediate: r.patience > 0,
		Fields: []wire.FieldInfo{},
	}
	for _, f := range fieldsOf(r.fields) {
		info.Fields = append(info.Fields, wire.FieldInfo{
			Name: f.name, Type: fieldType(f), Required: f.required, Enum: f.enum, Description: f.doc,
		})
	}
	names := append([]string{r.name}, r.aliases...)
	typ := oneOfWords(names)
	if len(names) == 1 {
		typ = constant(r.name)
	}
	info.Schema = d.raw(d.schemas.frame(r.fields, property{"type", typ, true},
		property{"id", &jsonschema.Schema{Description: "comes back in the response"}, false}))
	answeredAtOnce := d.dialect == XCSH && r.begins == aRun
	if r.data != reflect.TypeFor[wire.None]() && !answeredAtOnce {
		info.Data = d.raw(d.schemas.data(r.data))
	}
	return info
}

// fieldType names the type of a field as the reference page does.
func fieldType(f field) string {
	t := f.typ
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == rawType {
		return f.jsonType
	}
	if t.Kind() == reflect.Slice {
		return goType(t.Elem()) + "[]"
	}
	return goType(t)
}

// data makes the schema of an answer's data. A pointer may be null, except for
// the lists that write themselves.
func (s *schemas) data(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Pointer && !t.Implements(reflect.TypeFor[appender]()) {
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s.value(t.Elem(), field{}), {Type: "null"}}}
	}
	return s.value(t, field{})
}

// clientEvent is an event under the name that it has in a dialect.
type clientEvent struct {
	name, doc string
	typ       reflect.Type
}

func clientEvents(dialect Dialect) []clientEvent {
	var list []clientEvent
	for _, info := range event.Table() {
		if !info.Client {
			continue
		}
		e := clientEvent{name: string(info.Kind), doc: info.Doc, typ: reflect.TypeOf(info.New()).Elem()}
		list = append(list, e)
		if automatic := "auto_" + e.name; dialect == XCSH && slices.Contains(automaticCompaction, automatic) {
			e.name = automatic
			list = append(list, e)
		}
	}
	return list
}

// automaticCompaction are the events that only the xcsh dialect has.
var automaticCompaction = []string{"auto_compaction_start", "auto_compaction_end"}

func (d *describer) event(e clientEvent) *jsonschema.Schema {
	schema := d.schemas.frame(e.typ, property{"type", constant(e.name), true})
	if d.dialect == XCSH && e.name == string(event.KindMessageUpdate) {
		update := d.schemas.frame(reflect.TypeFor[event.AssistantUpdate]())
		property{"partial", messageSchema(d.schemas), false}.addTo(update)
		schema.Properties["assistantMessageEvent"] = update
		property{"message", messageSchema(d.schemas), false}.addTo(schema)
	}
	return schema
}

type otherFrame struct {
	name, direction, doc string
	typ                  reflect.Type
}

func otherFrames(dialect Dialect) []otherFrame {
	frames := []otherFrame{
		{wire.TypeResponse, "out", "answers one command", reflect.TypeFor[wire.Response]()},
		{wire.TypeUIRequest, "out", "shows a dialog or a notice", reflect.TypeFor[wire.UIRequest]()},
		{wire.TypeUIResponse, "in", "answers a dialog", reflect.TypeFor[wire.UIResponse]()},
		{wire.TypeHostToolCall, "out", "asks the host to run one of its tools", reflect.TypeFor[wire.HostToolCall]()},
		{wire.TypeHostToolCancel, "out", "takes back a call", reflect.TypeFor[wire.HostToolCancel]()},
		{wire.TypeHostToolUpdate, "in", "shows how far a call is", reflect.TypeFor[wire.HostToolUpdate]()},
		{wire.TypeHostToolResult, "in", "ends a call", reflect.TypeFor[wire.HostToolResult]()},
	}
	if dialect == XCSH {
		frames = append(frames, otherFrame{wire.TypeReady, "out", "comes first", reflect.TypeFor[wire.Ready]()})
	}
	return frames
}
