package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is a JSON Schema as far as the protocol uses the language.
type schema struct {
	Ref         string          `json:"$ref"`
	Description string          `json:"description"`
	Type        json.RawMessage `json:"type"` // a word or a list of words
	Const       json.RawMessage `json:"const"`
	Enum        []string        `json:"enum"`
	Items       *schema         `json:"items"`
	AnyOf       []*schema       `json:"anyOf"`
	AllOf       []*schema       `json:"allOf"`
	Not         *schema         `json:"not"`
	Properties  properties      `json:"properties"`
	Required    []string        `json:"required"`
	Additional  json.RawMessage `json:"additionalProperties"`
}

// UnmarshalJSON implements json.Unmarshaler. A schema that takes anything may
// be written as true.
func (s *schema) UnmarshalJSON(data []byte) error {
	if string(data) == "true" {
		return nil
	}
	type plain schema
	return json.Unmarshal(data, (*plain)(s))
}

// properties keep the order in which they were written.
type properties []struct {
	name   string
	schema *schema
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *properties) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var s schema
		if err := d.Decode(&s); err != nil {
			return fmt.Errorf("%v: %w", name, err)
		}
		*p = append(*p, struct {
			name   string
			schema *schema
		}{name.(string), &s})
	}
	return nil
}

func decode(raw json.RawMessage) (*schema, error) {
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("schema %s: %w", raw, err)
	}
	return &s, nil
}

// mustDecode reads a schema that was written a moment ago.
func mustDecode(raw json.RawMessage) *schema {
	s, err := decode(raw)
	if err != nil {
		panic(err)
	}
	return s
}

func decodeAll(raws map[string]json.RawMessage) (map[string]*schema, []string, error) {
	defs := map[string]*schema{}
	for name, raw := range raws {
		s, err := decode(raw)
		if err != nil {
			return nil, nil, fmt.Errorf("definition %s: %w", name, err)
		}
		defs[name] = s
	}
	return defs, slices.Sorted(maps.Keys(defs)), nil
}

// types lists the words of the member type.
func (s *schema) types() []string {
	var one string
	var many []string
	if json.Unmarshal(s.Type, &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(s.Type, &many) // no type: anything
	return many
}

// isOpen says whether an object may have members that have no name here.
func (s *schema) isOpen() bool {
	return string(s.Additional) == "true" || string(s.Additional) == "{}"
}

// isRest says whether the schema stands for what the others of a union leave.
func (s *schema) isRest() bool {
	return slices.ContainsFunc(s.Properties, func(p struct {
		name   string
		schema *schema
	}) bool {
		return p.schema.Not != nil
	})
}

func (s *schema) refers() string { return strings.TrimPrefix(s.Ref, "#/$defs/") }
