package walk

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// Glob is a pattern for the names, or the paths, below a root: *, ?, [a-z],
// {a,b} within a name, ** over folders.
type Glob struct {
	pattern  string
	byName   bool // held against the name alone
	folders  bool // for folders only
	anyDepth bool // the path may begin in any folder
	fold     bool // case makes no difference
}

// Find makes the glob of the find tool. A pattern without a slash is for
// names; one with a slash is for paths, from any folder below the root on, or
// from the root if it begins with ./ or a slash. A slash at the end is for
// folders. Case counts if the pattern has a capital letter.
func Find(pattern string) (Glob, error) {
	g, err := parseGlob(pattern)
	g.anyDepth = !g.byName && !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "./")
	g.fold = !strings.ContainsFunc(pattern, unicode.IsUpper)
	if g.fold {
		g.pattern = strings.ToLower(g.pattern)
	}
	if g.anyDepth {
		g.pattern = "**/" + g.pattern
	}
	return g, err
}

// maxBraces bounds the time that matching takes: it doubles with each.
const maxBraces = 10

func parseGlob(pattern string) (Glob, error) {
	var g Glob
	rest, rooted := strings.CutPrefix(pattern, "./")
	if !rooted {
		rest, rooted = strings.CutPrefix(rest, "/")
	}
	rest, g.folders = strings.CutSuffix(rest, "/")
	if rest == "" {
		rest = "*"
	}
	g.byName = !rooted && !strings.Contains(rest, "/")
	g.pattern = within(path.Clean(rest))
	if strings.Count(g.pattern, "{") > maxBraces {
		return g, fmt.Errorf("the glob has more than %d choices in braces", maxBraces)
	}
	if !doublestar.ValidatePattern(g.pattern) {
		return g, fmt.Errorf("%q is not a glob: a bracket, brace or backslash in it is not closed", pattern)
	}
	return g, nil
}

// Match holds the glob against a path from the root, with slashes.
func (g Glob) Match(rel string, folder bool) bool {
	if g.folders && !folder {
		return false
	}
	if g.byName {
		rel = path.Base(rel)
	}
	if g.fold {
		rel = strings.ToLower(rel)
	}
	return doublestar.MatchUnvalidated(g.pattern, rel)
}

// Filter is the glob of the grep tool, which picks files. A pattern without a
// slash is for the names of files and of the folders that they are in; one
// with a slash is for paths from the root. One that begins with ! leaves out
// what it matches. The zero value picks every file.
type Filter struct {
	glob Glob
	not  bool
}

// NewFilter makes a filter; an empty pattern picks every file.
func NewFilter(pattern string) (Filter, error) {
	if pattern == "" || pattern == "!" {
		return Filter{}, nil
	}
	var f Filter
	pattern, f.not = strings.CutPrefix(pattern, "!")
	var err error
	f.glob, err = parseGlob(pattern)
	return f, err
}

// Picks says whether a file is picked.
func (f Filter) Picks(rel string) bool {
	if f.glob.pattern == "" {
		return true
	}
	if f.glob.Match(rel, false) {
		return !f.not
	}
	for i := strings.LastIndexByte(rel, '/'); i > 0; i = strings.LastIndexByte(rel[:i], '/') {
		if f.glob.Match(rel[:i], true) {
			return !f.not
		}
	}
	return f.not
}

// Enters says whether there can be files in a folder that are picked.
func (f Filter) Enters(rel string) bool {
	return !f.not || !f.glob.Match(rel, true)
}
