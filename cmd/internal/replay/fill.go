package replay

import (
	"encoding/json"
	"strconv"
	"strings"
)

// variables are the values of placeholders, by name.
type variables map[string]any

// text fills in the placeholders of a text. A value that is no string is put
// in as JSON; a name without a value stays.
func (vars variables) text(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(found string) string {
		name := found[2 : len(found)-1]
		if n, ok := strings.CutPrefix(name, "PAD:"); ok {
			count, err := strconv.Atoi(n)
			if err != nil {
				return found
			}
			return strings.Repeat("x", count)
		}
		switch v := vars[name].(type) {
		case nil:
			return found
		case string:
			return v
		default:
			return string(encode(v))
		}
	})
}

// json fills in the placeholders inside the strings of a JSON text, whose
// order of members stays.
func (vars variables) json(raw json.RawMessage) []byte {
	return placeholder.ReplaceAllFunc(raw, func(found []byte) []byte {
		quoted, err := json.Marshal(vars.text(string(found)))
		if err != nil {
			panic(err) // strings always encode
		}
		return quoted[1 : len(quoted)-1]
	})
}

func (vars variables) all(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = vars.text(s)
	}
	return out
}
