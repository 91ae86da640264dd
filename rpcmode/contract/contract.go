// Package contract checks frames against the schemas that get_protocol gives.
// Tests of agents and of clients use it.
//
// It imports rpcmode and rpcmode/wire only, beside the library that validates.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// Contract checks frames against the schemas of a dialect, made strict: a
// member that they do not name is wrong. Its methods may be called from any
// goroutine.
type Contract struct {
	defs     map[string]json.RawMessage
	frames   map[string]json.RawMessage // by type
	commands map[string]json.RawMessage // by name
	data     map[string]json.RawMessage // by command; nil: its response has none

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved // by the text of the schema
}

// New makes the contract of a dialect.
func New(dialect rpcmode.Dialect) (*Contract, error) {
	p, err := rpcmode.Describe(dialect, "", true)
	if err != nil {
		return nil, err
	}
	c := &Contract{
		defs: p.Defs, frames: map[string]json.RawMessage{},
		commands: map[string]json.RawMessage{}, data: map[string]json.RawMessage{},
		resolved: map[string]*jsonschema.Resolved{},
	}
	for _, e := range p.Events {
		c.frames[e.Type] = e.Schema
	}
	for _, f := range p.Frames {
		c.frames[f.Type] = f.Schema
	}
	for _, command := range p.Commands {
		for _, name := range append(command.Aliases, command.Name) {
			c.commands[name], c.data[name] = command.Schema, command.Data
		}
	}
	return c, nil
}

func (c *Contract) validate(schema json.RawMessage, value any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	resolved := c.resolved[string(schema)]
	if resolved == nil {
		var err error
		if resolved, err = resolve(schema, c.defs); err != nil {
			return fmt.Errorf("%s: %w", schema, err)
		}
		c.resolved[string(schema)] = resolved
	}
	return resolved.Validate(value)
}

// resolve adds the definitions that a schema needs.
func resolve(raw json.RawMessage, defs map[string]json.RawMessage) (*jsonschema.Resolved, error) {
	root, err := strict(raw)
	if err != nil {
		return nil, err
	}
	root.Defs = map[string]*jsonschema.Schema{}
	for todo := []json.RawMessage{raw}; len(todo) > 0; todo = todo[1:] {
		for _, ref := range reference.FindAllSubmatch(todo[0], -1) {
			name := string(ref[1])
			if root.Defs[name] != nil {
				continue
			}
			if root.Defs[name], err = strict(defs[name]); err != nil {
				return nil, fmt.Errorf("definition %s: %w", name, err)
			}
			todo = append(todo, defs[name])
		}
	}
	return root.Resolve(nil)
}

var reference = regexp.MustCompile(`"#/\$defs/(\w+)"`)

func strict(raw json.RawMessage) (*jsonschema.Schema, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, err
	}
	tighten(&schema)
	return &schema, nil
}

func tighten(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" && s.Properties != nil && s.AdditionalProperties == nil {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	for _, inner := range s.Properties {
		tighten(inner)
	}
	for _, inner := range slices.Concat(s.AnyOf, s.AllOf) {
		tighten(inner)
	}
	tighten(s.Items)
}

// Check says what is wrong with a frame that the agent wrote, or one that a
// client wrote for a dialog or a host tool.
func (c *Contract) Check(line []byte) error {
	var frame map[string]any
	if err := json.Unmarshal(line, &frame); err != nil {
		return err
	}
	kind, _ := frame["type"].(string)
	schema := c.frames[kind]
	if schema == nil {
		return fmt.Errorf("nothing describes a frame of type %q", kind)
	}
	if err := c.validate(schema, frame); err != nil {
		return err
	}
	if kind != wire.TypeResponse || frame["success"] != true {
		return nil
	}
	command, _ := frame["command"].(string)
	data, hasData := frame["data"]
	schema, known := c.data[command]
	if !known || hasData != (schema != nil) {
		return fmt.Errorf("data of %q: there %t, described %t", command, hasData, schema != nil)
	}
	if schema == nil {
		return nil
	}
	return c.validate(schema, data)
}

// Watch gives a writer that passes everything on to out, and calls wrong for
// each line that Check objects to, before that line is whole at out. It is for
// one agent's stdout, and like that for one goroutine at a time.
func (c *Contract) Watch(out io.Writer, wrong func(line []byte, err error)) io.Writer {
	return &watcher{contract: c, out: out, wrong: wrong}
}

type watcher struct {
	contract *Contract
	out      io.Writer
	wrong    func(line []byte, err error)
	rest     []byte // of a line that is not whole yet
}

// Write implements io.Writer.
func (w *watcher) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte{'\n'})
		if !whole {
			return w.out.Write(p)
		}
		if err := w.contract.Check(line); err != nil {
			w.wrong(line, err)
		}
		w.rest = rest
	}
}

// CheckCommand says what is wrong with a command.
func (c *Contract) CheckCommand(line []byte) error {
	var frame map[string]any
	if err := json.Unmarshal(line, &frame); err != nil {
		return err
	}
	kind, _ := frame["type"].(string)
	schema := c.commands[kind]
	if schema == nil {
		return fmt.Errorf("there is no command %q", kind)
	}
	return c.validate(schema, frame)
}
