package rule

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// source is which part of an answer something is in.
type source int

const (
	fromText source = iota
	fromThinking
	fromTool
)

// scope is where a rule looks.
type scope struct {
	text, thinking bool
	tools          []toolScope
	globs          []string // of files that a tool call is about; nil: any call, and text and thinking
}

// toolScope are calls of a tool.
type toolScope struct {
	name string // in small letters; empty: any
	glob string // of the file that it is about; empty: any
}

// newScope reads scope: text, thinking, tool, tool:edit, tool:edit(*.ts),
// edit(*.ts). Without any, a rule looks at text and at all tools.
func newScope(words, globs []string) (s scope, problems []error) {
	if len(words) == 0 {
		s = scope{text: true, tools: []toolScope{{}}}
	}
	for _, word := range words {
		switch strings.ToLower(word) {
		case "text":
			s.text = true
		case "thinking":
			s.thinking = true
		case "tool", "toolcall":
			s.tools = append(s.tools, toolScope{})
		default:
			t, err := parseToolScope(word)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			s.tools = append(s.tools, t)
		}
	}
	for _, glob := range globs {
		if !doublestar.ValidatePattern(glob) {
			problems = append(problems, fmt.Errorf("globs has %q, which is no pattern of file names; it is left out", glob))
			continue
		}
		s.globs = append(s.globs, glob)
	}
	if len(globs) > 0 && len(s.globs) == 0 {
		s = scope{} // it would look at more than was meant
	}
	return s, problems
}

var toolWord = regexp.MustCompile(`^(?:(?i:tool)(?::([\w-]+))?|([\w-]+))(?:\(([^)]+)\))?$`)

func parseToolScope(word string) (toolScope, error) {
	parts := toolWord.FindStringSubmatch(word)
	if len(parts) == 0 || !doublestar.ValidatePattern(parts[3]) {
		return toolScope{}, fmt.Errorf("scope has %q, but can have text, thinking, tool, tool:NAME and tool:NAME(GLOB); it is left out", word)
	}
	return toolScope{name: strings.ToLower(parts[1] + parts[2]), glob: strings.TrimSpace(parts[3])}, nil
}

func (s scope) reachable() bool { return s.text || s.thinking || len(s.tools) > 0 }

// couldBe says whether something may match in a source at all, before it is
// known which files a tool call is about. tool is the tool's name.
func (s scope) couldBe(at source, tool string) bool {
	if len(s.globs) > 0 && at != fromTool {
		return false
	}
	switch at {
	case fromText:
		return s.text
	case fromThinking:
		return s.thinking
	}
	for _, t := range s.tools {
		if t.name == "" || t.name == strings.ToLower(tool) {
			return true
		}
	}
	return false
}

// about says whether a call of a tool that is about files is looked at.
func (s scope) about(tool string, files []string) bool {
	if len(s.globs) > 0 {
		fits := false
		for _, glob := range s.globs {
			fits = fits || anyFits(glob, files)
		}
		if !fits {
			return false
		}
	}
	for _, t := range s.tools {
		if (t.name == "" || t.name == strings.ToLower(tool)) && (t.glob == "" || anyFits(t.glob, files)) {
			return true
		}
	}
	return false
}

// anyFits says whether one of the files fits a glob, by its whole name or by
// its last part.
func anyFits(glob string, files []string) bool {
	for _, file := range files {
		for _, name := range []string{file, path.Base(file)} {
			if ok, err := doublestar.Match(glob, name); err == nil && ok {
				return true
			}
		}
	}
	return false
}
