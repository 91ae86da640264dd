package tool

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// coerce converts what does not have the type that the schema wants but
// plainly means a value of it. What it cannot convert it leaves, for the
// schema to refuse. It changes the maps and slices that it is given.
func coerce(schema *jsonschema.Schema, value any) any {
	if schema == nil {
		return value
	}
	if types := typesOf(schema); len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isType(value, t) }) {
		for _, t := range types {
			if converted, ok := convert(value, t); ok {
				value = converted
				break
			}
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for name, property := range schema.Properties {
			field, ok := value[name]
			if !ok {
				continue
			}
			if field == nil && !slices.Contains(schema.Required, name) && !allowsNull(property) {
				delete(value, name) // null means: not given
				continue
			}
			value[name] = coerce(property, field)
		}
	case []any:
		for i := range value {
			value[i] = coerce(schema.Items, value[i])
		}
	}
	return value
}

func convert(value any, to string) (any, bool) {
	switch to {
	case "string":
		switch value := value.(type) {
		case nil, bool, json.Number:
			if text, ok := value.(json.Number); ok {
				return text.String(), true
			}
			return inJSON(value), true
		}
	case "number", "integer":
		if text, ok := value.(string); ok {
			text = strings.TrimSpace(text)
			if isNumber(text) {
				return json.Number(text), true
			}
		}
	case "boolean":
		switch value {
		case "true", json.Number("1"):
			return true, true
		case "false", json.Number("0"):
			return false, true
		}
	case "array":
		if text, ok := value.(string); ok {
			if list, err := decode([]byte(text)); err == nil && isType(list, "array") {
				return list, true
			}
		}
		if value != nil {
			return []any{value}, true
		}
	case "object":
		if text, ok := value.(string); ok {
			if object, err := decode([]byte(text)); err == nil && isType(object, "object") {
				return object, true
			}
		}
	}
	return nil, false
}

// isNumber says whether text is a number as JSON writes it.
func isNumber(text string) bool {
	value, err := decode([]byte(text))
	_, ok := value.(json.Number)
	return err == nil && ok
}

func typesOf(schema *jsonschema.Schema) []string {
	if schema.Type != "" {
		return []string{schema.Type}
	}
	return schema.Types
}

// allowsNull says whether null is a value for a schema, as far as its type
// tells; one that says nothing about types may well mean it.
func allowsNull(schema *jsonschema.Schema) bool {
	types := typesOf(schema)
	return len(types) == 0 || slices.Contains(types, "null")
}

func isType(value any, typ string) bool {
	switch value := value.(type) {
	case nil:
		return typ == "null"
	case bool:
		return typ == "boolean"
	case string:
		return typ == "string"
	case json.Number:
		f, err := value.Float64() // the error: too large to be one
		return err == nil && (typ == "number" || typ == "integer" && f == math.Trunc(f))
	case []any:
		return typ == "array"
	case map[string]any:
		return typ == "object"
	}
	return false
}

// sameJSON compares a choice of a schema with a value of the arguments.
func sameJSON(choice, value any) bool {
	if n, ok := value.(json.Number); ok {
		f, isFloat := choice.(float64)
		got, err := n.Float64()
		return isFloat && err == nil && f == got
	}
	return inJSON(choice) == inJSON(value)
}
