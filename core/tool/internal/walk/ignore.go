package walk

import (
	"os"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// verdict is what ignore rules say about a path.
type verdict int

const (
	unsaid verdict = iota
	ignored
	wanted
)

// rules are the lines of one ignore file. The last that matches counts.
type rules []rule

// rule is one line of an ignore file.
type rule struct {
	pattern string // for doublestar, relative to the folder of the file
	plain   bool   // the pattern is a name as it stands
	byName  bool   // the pattern is held against the name alone
	folders bool   // it matches folders only
	says    verdict
}

// readRules reads an ignore file. One that is not there, or cannot be read,
// has no rules.
func readRules(file string) rules {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return parseRules(string(data))
}

func parseRules(text string) rules {
	var all rules
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if r, ok := parseRule(strings.TrimRight(line, "\r\n")); ok {
			all = append(all, r)
		}
	}
	return all
}

// parseRule reads a line as git does. It is false for one that says nothing:
// empty, a comment, or a pattern that can match nothing.
func parseRule(line string) (rule, bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	r := rule{says: ignored}
	if line[0] == '!' {
		r.says = wanted
		line = line[1:]
	}
	line, r.folders = strings.CutSuffix(line, "/")
	r.byName = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	r.plain = !strings.ContainsAny(line, `*?[\{}`)
	r.pattern = line
	if !r.plain {
		// Braces are plain characters here.
		r.pattern = within(strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line))
	}
	return r, line != "" && doublestar.ValidatePattern(r.pattern)
}

// trimBlanks takes the blanks at the end away, but not one behind a backslash.
func trimBlanks(line string) string {
	trimmed := strings.TrimRight(line, " ")
	backslashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if backslashes%2 == 1 && len(trimmed) < len(line) {
		return trimmed + " "
	}
	return trimmed
}

// within makes a pattern that ends in /** match what is in a folder, but not
// the folder itself.
func within(pattern string) string {
	if strings.HasSuffix(pattern, "/**") {
		return pattern + "/*"
	}
	return pattern
}

// say holds the rules against a path relative to their folder, with slashes.
func (all rules) say(rel string, folder bool) verdict {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].matches(rel, folder) {
			return all[i].says
		}
	}
	return unsaid
}

func (r *rule) matches(rel string, folder bool) bool {
	if r.folders && !folder {
		return false
	}
	if r.byName {
		rel = path.Base(rel)
	}
	if r.plain {
		return rel == r.pattern
	}
	return doublestar.MatchUnvalidated(r.pattern, rel)
}

// scope is a folder with the ignore files in it, and those above it.
type scope struct {
	above      *scope
	dir        string // absolute, with slashes
	ignore     rules  // of .ignore
	gitignore  rules
	exclude    rules // of .git/info/exclude
	repository bool  // .git is here: what git ignores above does not count
}

// enter reads the ignore files of a folder. has says which names are in it.
func enter(above *scope, dir string, has func(name string) bool) *scope {
	s := &scope{above: above, dir: dir}
	if has(".ignore") {
		s.ignore = readRules(dir + "/.ignore")
	}
	if has(".gitignore") {
		s.gitignore = readRules(dir + "/.gitignore")
	}
	if has(".git") {
		s.repository = true
		s.exclude = readRules(dir + "/.git/info/exclude")
	}
	if s.ignore == nil && s.gitignore == nil && !s.repository && above != nil {
		return above // nothing is new here
	}
	return s
}

// ignores says whether something in the scope is to be left out. What .ignore
// files say goes before what git's say, and deeper ones before those above.
func (s *scope) ignores(file string, folder bool) bool {
	for at := s; at != nil; at = at.above {
		if said := at.ignore.say(at.relative(file), folder); said != unsaid {
			return said == ignored
		}
	}
	for at := s; at != nil; at = at.above {
		if said := at.gitignore.say(at.relative(file), folder); said != unsaid {
			return said == ignored
		}
		if at.repository {
			return at.exclude.say(at.relative(file), folder) == ignored
		}
	}
	return false
}

func (s *scope) relative(file string) string {
	return strings.TrimPrefix(strings.TrimPrefix(file, s.dir), "/")
}
