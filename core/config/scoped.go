package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed-54e836f5/pi/core/message"
)

// Scoped gives the available models that patterns stand for, each once, in
// the order of the patterns: --models and enabledModels. A pattern is like
// that of Resolve, or has the wildcards of a glob, which may match the id or
// provider/id in any case. What fits nothing is left out with a warning.
func (c *Catalogue) Scoped(patterns []string) ([]Selection, []Warning) {
	var scoped []Selection
	var warnings []Warning
	if len(patterns) == 0 {
		return nil, nil
	}
	available := c.Available()
	for _, pattern := range patterns {
		pattern = strings.TrimSpace(pattern)
		found, problem := scopedBy(available, pattern)
		if problem != "" {
			warnings = append(warnings, Warning{Message: problem})
		}
		for _, s := range found {
			if !slices.ContainsFunc(scoped, func(t Selection) bool { return t.Model.Provider == s.Model.Provider && t.Model.ID == s.Model.ID }) {
				scoped = append(scoped, s)
			}
		}
	}
	return scoped, warnings
}

func scopedBy(available []message.Model, pattern string) (found []Selection, problem string) {
	none := fmt.Sprintf("No model with an API key fits %q.", pattern)
	if !strings.ContainsAny(pattern, "*?[{") {
		if provider, id, ok := strings.Cut(pattern, "/"); ok {
			of := slices.DeleteFunc(slices.Clone(available), func(m message.Model) bool { return !strings.EqualFold(m.Provider, provider) })
			if s, ok := match(of, id); ok {
				return []Selection{s}, s.Warning
			}
		}
		if s, ok := match(available, pattern); ok {
			return []Selection{s}, s.Warning
		}
		return nil, none
	}
	glob, level, _ := splitLevel(pattern)
	for _, m := range available {
		if globMatch(glob, m.ID) || globMatch(glob, m.Provider+"/"+m.ID) {
			found = append(found, Selection{Model: m, Thinking: level})
		}
	}
	if found == nil {
		return nil, none
	}
	return found, ""
}

// globMatch matches without regard to case, and with * over slashes too: ids
// of routers have slashes in them, and nobody thinks of those as folders.
func globMatch(glob, text string) bool {
	flat := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", "\x01") }
	ok, err := doublestar.Match(flat(glob), flat(text))
	return err == nil && ok
}
