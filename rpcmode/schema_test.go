package rpcmode_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// contract checks frames against the schemas of a dialect, made strict: a
// member that they do not name is wrong.
type contract struct {
	defs   map[string]json.RawMessage
	frames map[string]json.RawMessage // by type
	data   map[string]json.RawMessage // by command; nil: its response has none

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved // by the text of the schema
}

var contracts = map[rpcmode.Dialect]*contract{
	rpcmode.Pi:   newContract(rpcmode.Pi),
	rpcmode.XCSH: newContract(rpcmode.XCSH),
}

func newContract(dialect rpcmode.Dialect) *contract {
	p, err := rpcmode.Describe(dialect, "", true)
	if err != nil {
		panic(err)
	}
	c := &contract{
		defs: p.Defs, frames: map[string]json.RawMessage{}, data: map[string]json.RawMessage{},
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
			c.data[name] = command.Data
		}
	}
	return c
}

func (c *contract) validate(schema json.RawMessage, value any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	resolved := c.resolved[string(schema)]
	if resolved == nil {
		resolved = resolve(schema, c.defs)
		c.resolved[string(schema)] = resolved
	}
	return resolved.Validate(value)
}

func resolve(raw json.RawMessage, defs map[string]json.RawMessage) *jsonschema.Resolved {
	root := decodeSchema(raw)
	root.Defs = map[string]*jsonschema.Schema{}
	for todo := []json.RawMessage{raw}; len(todo) > 0; todo = todo[1:] {
		for _, ref := range reference.FindAllSubmatch(todo[0], -1) {
			if name := string(ref[1]); root.Defs[name] == nil {
				root.Defs[name] = decodeSchema(defs[name])
				tighten(root.Defs[name])
				todo = append(todo, defs[name])
			}
		}
	}
	tighten(root)
	resolved, err := root.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", raw, err))
	}
	return resolved
}

var reference = regexp.MustCompile(`"#/\$defs/(\w+)"`)

func decodeSchema(raw json.RawMessage) *jsonschema.Schema {
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		panic(fmt.Sprintf("%s: %v", raw, err))
	}
	return &schema
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

// check says what is wrong with a frame that was written.
func (c *contract) check(line string) error {
	var frame map[string]any
	if err := json.Unmarshal([]byte(line), &frame); err != nil {
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
	command := frame["command"].(string)
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

func TestContractFindsDrift(t *testing.T) {
	c := contracts[rpcmode.Pi]
	for line, ok := range map[string]bool{
		`{"type":"agent_start"}`:                                                                 true,
		`{"type":"agent_start","more":1}`:                                                        false,
		`{"type":"nonsense"}`:                                                                    false,
		`{"type":"queue_update","steering":null,"followUp":[]}`:                                  false,
		`{"type":"response","command":"abort","success":true}`:                                   true,
		`{"type":"response","command":"abort","success":true,"data":{}}`:                         false,
		`{"type":"response","command":"clone","success":true,"data":{"cancelled":1}}`:            false,
		`{"type":"response","command":"cycle_model","success":true,"data":null}`:                 true,
		`{"type":"message_end","message":{"role":"user","content":"x","timestamp":1,"more":1}}`:  true,
		`{"type":"message_end","message":{"role":"user","content":5,"timestamp":1}}`:             false,
		`{"type":"message_end","message":{"role":"novel"}}`:                                      true,
		`{"type":"extension_ui_request","id":"1","method":"select","title":"a","options":["b"]}`: true,
		`{"type":"extension_ui_request","id":"1","method":"selekt"}`:                             false,
	} {
		if err := c.check(line); (err == nil) != ok {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestCommandSchemasFitTheCommandsOfTheDocuments(t *testing.T) {
	p, err := rpcmode.Describe(rpcmode.Pi, "", true)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]json.RawMessage{}
	for _, c := range p.Commands {
		for _, name := range append(c.Aliases, c.Name) {
			schemas[name] = c.Schema
		}
	}
	seen := map[string]bool{}
	text, err := os.ReadFile("internal/reference/examples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var frame map[string]any
		if err := json.Unmarshal([]byte(line), &frame); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		kind := frame["type"].(string)
		seen[kind] = true
		if schemas[kind] == nil {
			t.Errorf("%s: no such command", line)
		} else if err := contracts[rpcmode.Pi].validate(schemas[kind], frame); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for name := range schemas {
		if !seen[name] {
			t.Errorf("internal/reference/examples.jsonl has no example of %s", name)
		}
	}
}
