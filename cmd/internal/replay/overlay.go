package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// Overlay turns a recording of the reference agent into what ours is expected
// to do. A file of overlays is a list of these.
type Overlay struct {
	// Difference is the id of the intended difference, in differences.json.
	Difference string `json:"difference"`
	// Why says how the difference shows in this scenario.
	Why string `json:"why"`
	// Edits find their lines in the recording as it is, whatever others change.
	Edits []Edit `json:"edits"`
}

// Edit changes lines of a recording. It is an error when it finds none.
type Edit struct {
	// Find is a pattern (see Matches) for a line as it is in the file, with its
	// key: {"out": {"type": "response", "id": "p"}}.
	Find json.RawMessage `json:"find"`
	// Nth picks one of the lines found, counted from 0; -1 is the last. With
	// All set, every line found is edited.
	Nth int  `json:"nth,omitempty"`
	All bool `json:"all,omitempty"`

	// Patch is a JSON Patch (RFC 6902) for the line.
	Patch json.RawMessage `json:"patch,omitempty"`
	// Delete takes the line out, with the Count lines after it.
	Delete bool `json:"delete,omitempty"`
	Count  int  `json:"count,omitempty"`
	// Before and After are lines to put beside it.
	Before []json.RawMessage `json:"before,omitempty"`
	After  []json.RawMessage `json:"after,omitempty"`
}

// Difference is an intended difference between the reference agent and ours.
type Difference struct {
	ID        string `json:"id"`
	Reference string `json:"reference"`
	We        string `json:"we"`
	// Where names a test that shows the difference, if no overlay does: its
	// folder, a blank, and its name.
	Where string `json:"where,omitempty"`
}

// Recordings is a folder with recorded, overlays and differences.json.
type Recordings struct{ Dir fs.FS }

// Recorded returns what the reference agent did, as it was recorded.
func (r Recordings) Recorded(name string) (*Transcript, error) {
	values, err := r.lines(name)
	if err != nil {
		return nil, err
	}
	return readTranscript(values)
}

// Expected returns the recording with its overlays.
func (r Recordings) Expected(name string) (*Transcript, error) {
	values, err := r.lines(name)
	if err != nil {
		return nil, err
	}
	overlays, err := r.Overlays(name)
	if err != nil {
		return nil, err
	}
	var edits []Edit
	for _, o := range overlays {
		edits = append(edits, o.Edits...)
	}
	if values, err = edited(values, edits); err != nil {
		return nil, fmt.Errorf("overlay %s: %w", name, err)
	}
	t, err := readTranscript(values)
	if err != nil {
		return nil, fmt.Errorf("recording %s with its overlays: %w", name, err)
	}
	return t, nil
}

func (r Recordings) lines(name string) ([]object, error) {
	data, err := fs.ReadFile(r.Dir, "recorded/"+name+".jsonl")
	if err != nil {
		return nil, err
	}
	values, err := decodeLines(data)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", name, err)
	}
	return values, nil
}

// Overlays returns the overlays of a scenario, or nil.
func (r Recordings) Overlays(name string) ([]Overlay, error) {
	var out []Overlay
	err := r.read("overlays/"+name+".json", &out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return out, err
}

// Differences returns the intended differences, in the order of the file.
func (r Recordings) Differences() ([]Difference, error) {
	var out []Difference
	err := r.read("differences.json", &out)
	return out, err
}

func (r Recordings) read(file string, into any) error {
	data, err := fs.ReadFile(r.Dir, file)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// edited returns the lines with all edits made. Every edit finds its lines as
// they are in the recording, whatever the others do.
func edited(lines []object, edits []Edit) ([]object, error) {
	slots := make([]slot, len(lines))
	for i, l := range lines {
		slots[i].line = l
	}
	for i, e := range edits {
		places, err := e.find(lines)
		if err != nil {
			return nil, fmt.Errorf("edit %d: %w", i, err)
		}
		for _, place := range places {
			if err := e.apply(slots[place:]); err != nil {
				return nil, fmt.Errorf("edit %d: %w", i, err)
			}
		}
	}
	var out []object
	for _, s := range slots {
		out = append(out, s.before...)
		if !s.deleted {
			out = append(out, s.line)
		}
		out = append(out, s.after...)
	}
	return out, nil
}

// slot is a line of a recording while it is edited.
type slot struct {
	before, after []object
	line          object
	deleted       bool
}

// apply makes the edit on the first slot, and deletes those behind it that it
// counts.
func (e Edit) apply(slots []slot) error {
	s := &slots[0]
	if s.deleted {
		return errors.New("the line is deleted by an edit before")
	}
	before, err := decodeAll(e.Before)
	if err != nil {
		return fmt.Errorf("before: %w", err)
	}
	after, err := decodeAll(e.After)
	if err != nil {
		return fmt.Errorf("after: %w", err)
	}
	s.before, s.after = append(s.before, before...), append(s.after, after...)
	if e.Patch != nil {
		if s.line, err = patched(s.line, e.Patch); err != nil {
			return err
		}
	}
	if !e.Delete {
		return nil
	}
	if e.Count >= len(slots) {
		return fmt.Errorf("there are not %d lines behind it", e.Count)
	}
	for i := range slots[:e.Count+1] {
		slots[i].deleted = true
	}
	return nil
}

func (e Edit) find(lines []object) ([]int, error) {
	pattern, err := decode(e.Find)
	if err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	var found []int
	for i, l := range lines {
		if Matches(pattern, l) {
			found = append(found, i)
		}
	}
	if e.All && len(found) > 0 {
		return found, nil
	}
	nth := e.Nth
	if nth < 0 {
		nth += len(found)
	}
	if nth < 0 || nth >= len(found) {
		return nil, fmt.Errorf("%d lines match %s", len(found), compact(e.Find))
	}
	return found[nth : nth+1], nil
}

func decodeAll(raw []json.RawMessage) ([]object, error) {
	var out []object
	for _, r := range raw {
		lines, err := decodeLines(compact(r))
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	return out, nil
}

func patched(line object, raw json.RawMessage) (object, error) {
	patch, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	data, err := patch.Apply(encode(line))
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", compact(raw), err)
	}
	out, err := decodeLines(data)
	if err != nil || len(out) != 1 {
		return nil, fmt.Errorf("patch %s left no object", compact(raw))
	}
	return out[0], nil
}
