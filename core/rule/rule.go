// Package rule is what rules are that watch a model write: conditions over the
// text, the thinking and the tool calls of an answer as they stream, and when
// each of them may count again.
//
// It reads no files and stops nothing itself: it says which rules match. It
// imports core/event and a library for globs only.
package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/event"
)

// Interrupt says at what a rule stops an answer; where it does not, the model
// is reminded when the answer is complete. The values are those of rule files.
type Interrupt string

// The values of Interrupt.
const (
	Always    Interrupt = "always"
	ProseOnly Interrupt = "prose-only" // text and thinking
	ToolOnly  Interrupt = "tool-only"
	Never     Interrupt = "never"
)

var interrupts = []Interrupt{Always, ProseOnly, ToolOnly, Never}

// Rule is one rule, ready to watch. It does not change, and may be used from
// any goroutine.
type Rule struct {
	event.Rule // as its file says it, in regular form
	conditions []condition
	scope      scope
}

// New makes a rule of what its file says: Name, Path, Content and Source are
// taken as they are. What of the rest cannot be used is left out, and said in
// problems: a rule whose conditions all cannot be used watches nothing.
func New(says event.Rule) (r *Rule, problems []error) {
	says.Globs, says.Scope = splitAll(says.Globs), splitAll(says.Scope)
	r = &Rule{Rule: says}
	if m := Interrupt(says.InterruptMode); m != "" && !slices.Contains(interrupts, m) {
		problems = append(problems, fmt.Errorf("interruptMode is %q, but can be always, prose-only, tool-only or never; that of the settings counts", m))
		r.InterruptMode = ""
	}
	r.Condition, says.Scope = withoutGlobs(says.Condition, says.Scope)
	var errs []error
	r.conditions, errs = compileAll(r.Condition)
	problems = append(problems, errs...)
	r.scope, errs = newScope(says.Scope, says.Globs)
	problems = append(problems, errs...)
	r.Scope = says.Scope
	return r, problems
}

// Watches says whether the rule has anything to watch for.
func (r *Rule) Watches() bool { return len(r.conditions) > 0 && r.scope.reachable() }

// interrupts says whether a match in a source stops the answer.
func (r *Rule) interrupts(at source, byDefault Interrupt) bool {
	mode := Interrupt(r.InterruptMode)
	if mode == "" {
		mode = byDefault
	}
	switch mode {
	case Never:
		return false
	case ProseOnly:
		return at != fromTool
	case ToolOnly:
		return at == fromTool
	default:
		return true
	}
}

// withoutGlobs takes those conditions that are file names with wildcards, such
// as *.rs, as the scope that they stand for: anything written to such a file.
func withoutGlobs(conditions, scopes []string) (patterns, scope []string) {
	scope = slices.Clone(scopes)
	globs := false
	for _, c := range conditions {
		if !isFileGlob(c) {
			patterns = append(patterns, c)
			continue
		}
		globs = true
		scope = append(scope, "tool:edit("+c+")", "tool:write("+c+")")
	}
	if globs && len(patterns) == 0 {
		patterns = []string{".*"}
	}
	return patterns, scope
}

func isFileGlob(text string) bool {
	if strings.ContainsAny(text, `\^$+|() `) || !strings.ContainsAny(text, "?*[]{}") {
		return false
	}
	return strings.Contains(text, "/") || strings.HasPrefix(text, "*.") && len(text) > len("*.")
}

// splitAll takes lists apart that are written with commas, and leaves commas in
// brackets alone.
func splitAll(texts []string) []string {
	var list []string
	for _, text := range texts {
		depth, begin := 0, 0
		for i := 0; i <= len(text); i++ {
			switch {
			case i == len(text) || text[i] == ',' && depth == 0:
				if part := strings.Trim(strings.TrimSpace(text[begin:i]), `"'`); part != "" {
					list = append(list, part)
				}
				begin = i + 1
			case strings.IndexByte("([{", text[i]) >= 0:
				depth++
			case strings.IndexByte(")]}", text[i]) >= 0:
				depth = max(0, depth-1)
			}
		}
	}
	return list
}
