package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/tool/builtin"
)

// toolName is a tool that somebody named, and where.
type toolName struct{ name, place string }

// wantedTools lists the tools that the flags and the settings of a folder name,
// as far as they count.
func (p *process) wantedTools(project project) []toolName {
	var list []toolName
	add := func(place string, names []string) {
		for _, name := range names {
			list = append(list, toolName{strings.TrimLeft(name, "+-"), place})
		}
	}
	add("--exclude-tools", p.options.excludeTools)
	switch {
	case p.options.noTools:
	case p.options.picksTools():
		add("--tools", p.options.tools)
	default:
		for _, v := range project.loaded.Values {
			var names []string
			if v.Key != "defaultTools" || v.Layer == config.LayerDefault || json.Unmarshal(v.Value, &names) != nil {
				continue
			}
			place := v.From
			if v.Layer != config.LayerFlag {
				place = "defaultTools in " + v.From
			}
			add(place, names)
		}
	}
	if p.options.noBuiltinTools { // who leaves them out may still name them
		list = slices.DeleteFunc(list, func(n toolName) bool { return slices.Contains(builtinNames(), n.name) })
	}
	return list
}

func builtinNames() []string {
	var names []string
	for _, t := range builtin.Tools(builtin.Options{}) {
		names = append(names, t.Spec().Name)
	}
	return names
}

// missingTool is a tool that somebody named and nobody brought.
type missingTool struct {
	toolName
	sentence string
}

// unknown says which names no tool has. A client may still bring one.
func unknown(wanted []toolName, tools []session.ToolInfo) (missing []missingTool) {
	known := make([]string, len(tools))
	for i, t := range tools {
		known[i] = t.Spec.Name
	}
	for _, w := range wanted {
		if !slices.Contains(known, w.name) {
			missing = append(missing, missingTool{w, fmt.Sprintf("%s names %q, and there is no tool of that name; the tools are %s",
				w.place, w.name, strings.Join(known, ", "))})
		}
	}
	return missing
}
