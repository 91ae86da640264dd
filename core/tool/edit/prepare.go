package edit

import (
	"bytes"
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/message"
)

// prepare brings the forms in which models send edits into the one that the
// schema knows: one edit instead of a list, a list in a string, an edit at the
// top level, null for none, and null for a text to be put in that is empty.
func prepare(args json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return args
	}
	edits, ok := editList(fields["edits"])
	if !ok {
		return args
	}
	if old, ok := fields["oldText"]; ok && !isNull(old) {
		single := map[string]json.RawMessage{"oldText": old}
		if text, ok := fields["newText"]; ok {
			single["newText"] = text
		}
		raw, err := message.Marshal(single)
		if err != nil {
			return args
		}
		edits = append(edits, raw)
	}
	if edits == nil {
		delete(fields, "edits") // to be missed
	} else {
		for i := range edits {
			edits[i] = withoutNull(edits[i])
		}
		raw, err := message.Marshal(edits)
		if err != nil {
			return args
		}
		fields["edits"] = raw
	}
	delete(fields, "oldText")
	delete(fields, "newText")
	mended, err := message.Marshal(fields)
	if err != nil {
		return args
	}
	return mended
}

// editList reads the edits in any of their forms. It is false for what is none
// of them, and nil where there are none.
func editList(raw json.RawMessage) (edits []json.RawMessage, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil, false
		}
		raw = bytes.TrimSpace([]byte(text))
	}
	switch {
	case isNull(raw):
		return nil, true
	case raw[0] == '{':
		return []json.RawMessage{raw}, json.Valid(raw)
	case raw[0] != '[':
		return nil, false
	}
	all := []json.RawMessage{}
	if json.Unmarshal(raw, &all) != nil {
		return nil, false
	}
	edits = []json.RawMessage{}
	for _, edit := range all {
		if !isNull(edit) {
			edits = append(edits, edit)
		}
	}
	return edits, true
}

// withoutNull makes a newText of null empty: what is meant is to take the old
// text away, while the general rule would put the word null there.
func withoutNull(edit json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(edit, &fields) != nil {
		return edit
	}
	if text, ok := fields["newText"]; !ok || !isNull(text) {
		return edit
	}
	fields["newText"] = json.RawMessage(`""`)
	mended, err := message.Marshal(fields)
	if err != nil {
		return edit
	}
	return mended
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
