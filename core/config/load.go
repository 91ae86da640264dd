package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/readfile"
)

// Layer says which kind of source a value came from, in ascending rank.
type Layer string

// The layers: a flag counts before the environment, that before the project,
// that before the user, that before the default.
const (
	LayerDefault     Layer = "default"
	LayerUser        Layer = "user"
	LayerProject     Layer = "project"
	LayerEnvironment Layer = "environment"
	LayerFlag        Layer = "flag"
)

// Value is one effective setting and where it came from.
type Value struct {
	Key   string
	Value json.RawMessage
	Layer Layer
	From  string // the file, variable or flag; empty for a default
}

// Loaded are the settings of one folder, with what `pi config` shows of them.
type Loaded struct {
	Settings Settings
	// Values has a row for each setting, in the order of the table, and one
	// for each layer of a list to which several layers add.
	Values []Value
	// Unused are members of the files that no setting is called by.
	Unused []Warning
	// Warnings say what of the files is not used as it stands.
	Warnings []Warning
}

// SettingsOptions say what LoadSettings reads.
type SettingsOptions struct {
	Paths   Paths
	Trusted bool              // the project's file counts too
	Env     Env               // nil: an empty environment
	Flags   map[string]string // values of flags by setting, e.g. defaultModel; lists with commas
}

// LoadSettings reads the settings files and puts the layers over each other.
// It always gives usable settings; what it could not use is in the warnings.
func LoadSettings(o SettingsOptions) Loaded {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	var l Loaded
	layers := []*layer{{name: LayerUser, place: o.place(ScopeUser, o.Paths.AgentDir)}}
	l.read(layers[0], o.Paths.SettingsFile())
	if o.Trusted {
		project := &layer{name: LayerProject, place: o.place(ScopeProject, o.Paths.ProjectDir())}
		l.read(project, o.Paths.ProjectSettingsFile())
		layers = append(layers, project)
	}
	for _, row := range settingTable {
		l.put(row, layers, o)
	}
	return l
}

// UpdateSetting changes one top member of a settings file and keeps all
// others. change gets the member, nil for none, and gives its new value, nil
// for none. A file that cannot be read is an error that wraps ErrUnreadable.
func UpdateSetting(file, key string, change func(old json.RawMessage) (any, error)) error {
	err := updateObject(file, 0o644, func(data []byte) ([]byte, error) {
		all, err := parseObjectFile(data)
		if err != nil {
			return nil, err
		}
		value, err := change(all.get(key))
		if err != nil {
			return nil, err
		}
		if value == nil {
			all.remove(key)
			return all.encode()
		}
		raw, err := message.Marshal(value)
		if err != nil {
			return nil, err
		}
		all.set(key, raw)
		return all.encode()
	})
	if err != nil {
		return fmt.Errorf("change %s in %s: %w", key, file, err)
	}
	return nil
}

// layer is one settings file, flat: values by path.
type layer struct {
	name   Layer
	place  place
	source source
	values map[string]member
}

func (o SettingsOptions) place(scope Scope, base string) place {
	return place{scope: scope, base: base, cwd: o.Paths.Cwd, home: o.Paths.Home}
}

func (l *Loaded) read(into *layer, file string) {
	into.values = map[string]member{}
	data, err := readfile.Ordinary(file)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.Warnings = append(l.Warnings, Warning{File: file, Message: fmt.Sprintf("cannot be read, so none of it counts: %v", err)})
		}
		return
	}
	// An editor's byte order mark is no reason to lose the settings.
	into.source = source{file, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	if len(bytes.TrimSpace(into.source.data)) == 0 {
		return
	}
	if w, ok := checkObject(into.source); !ok {
		w.Message += "; none of this file counts"
		l.Warnings = append(l.Warnings, w)
		return
	}
	l.flatten(into, "", into.source.data, 0)
}

// flatten fills the values of a layer, going into the objects that settings
// are grouped in.
func (l *Loaded) flatten(into *layer, prefix string, object json.RawMessage, base int64) {
	list, err := members(object, base)
	if err != nil {
		l.Warnings = append(l.Warnings, into.source.warn(base, strings.TrimSuffix(prefix, "."), "expected an object; it is ignored"))
		return
	}
	for _, m := range list {
		key := prefix + m.name
		switch {
		case string(m.value) == "null", slices.Contains(otherKeys, key):
		case isSetting(key):
			into.values[key] = m
		case isGroup(key):
			l.flatten(into, key+".", m.value, m.offset)
		default:
			l.Unused = append(l.Unused, into.source.warn(m.offset, key, "no setting is called that; it has no effect"))
		}
	}
}

func isSetting(key string) bool {
	return slices.ContainsFunc(settingTable, func(s setting) bool { return s.key == key })
}

func isGroup(key string) bool {
	return slices.ContainsFunc(settingTable, func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

// put stores one setting, layer over layer, and records what counts.
func (l *Loaded) put(row setting, layers []*layer, o SettingsOptions) {
	if string(row.value) != "null" {
		row.put(&l.Settings, row.value, place{})
	}
	value := Value{Key: row.key, Value: row.value, Layer: LayerDefault}
	var joined []Value // those that count; without joins they have no default either
	if row.joins != nil && string(row.value) != "null" {
		joined = []Value{value}
	}
	use := func(v Value, from place) bool {
		if !row.put(&l.Settings, v.Value, from) {
			return false
		}
		value = v
		if row.joins != nil && !row.joins(v.Value) {
			joined = nil
		}
		joined = append(joined, v)
		return true
	}
	for _, layer := range layers {
		m, there := layer.values[row.key]
		if !there {
			continue
		}
		if row.userOnly && layer.name == LayerProject {
			l.Warnings = append(l.Warnings, layer.source.warn(m.offset, row.key, "a project cannot set this; it is ignored"))
			continue
		}
		if !use(Value{row.key, m.value, layer.name, layer.source.file}, layer.place) {
			l.Warnings = append(l.Warnings, layer.source.warn(m.offset, row.key, "expected %s, found %s; it is ignored", row.expected, shown(m.value)))
		}
	}
	for _, given := range []struct {
		layer Layer
		from  string
		text  string
	}{
		{LayerEnvironment, row.variable, o.variable(row)},
		{LayerFlag, row.flag, o.Flags[row.key]},
	} {
		if given.text != "" && !use(Value{row.key, row.fromText(given.text), given.layer, given.from}, o.place(ScopeUser, o.Paths.Cwd)) {
			l.Warnings = append(l.Warnings, Warning{Key: row.key, Message: fmt.Sprintf("%s: expected %s; it is ignored", given.from, row.expected)})
		}
	}
	if row.joins != nil && len(joined) > 1 {
		l.Values = append(l.Values, joined...)
		return
	}
	l.Values = append(l.Values, value)
}

func (o SettingsOptions) variable(row setting) string {
	if row.variable == "" {
		return ""
	}
	return o.Env(row.variable)
}

// fromText writes what stands in a variable or behind a flag as the file
// would have it.
func (s setting) fromText(text string) json.RawMessage {
	var value any = text
	switch {
	case strings.HasPrefix(s.expected, "a list"):
		value = strings.Split(text, ",")
	case json.Valid([]byte(text)) && !strings.HasPrefix(s.expected, "a text") && !strings.HasPrefix(s.expected, "a path"):
		return json.RawMessage(text)
	}
	raw, _ := message.Marshal(value) // texts always encode
	return raw
}

// shown gives a value for a warning: short ones as they are, of others what
// they are.
func shown(raw json.RawMessage) string {
	if len(raw) <= 40 {
		return string(raw)
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	default:
		return "a long text"
	}
}
