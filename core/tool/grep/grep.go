// Package grep is the tool with which a model looks for text in files. It
// needs no other program, and no other program's settings change it.
//
// It imports core/tool and its internal packages only.
package grep

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/internal/files"
	"github.com/seed-54e836f5/pi/core/tool/internal/listing"
	"github.com/seed-54e836f5/pi/core/tool/internal/walk"
)

const (
	defaultLimit = 100
	maxContext   = 1000
	// maxLine is how many characters of a line are shown.
	maxLine = 500
)

// New makes the tool. cwd gives the folder that relative paths are meant in;
// it is called from any goroutine, once for each call of the tool.
func New(cwd func() string) tool.Tool { return grepper{cwd} }

type grepper struct{ cwd func() string }

var spec = tool.Spec{
	Name:  "grep",
	Label: "Grep",
	Description: fmt.Sprintf("Look for a regular expression (RE2 syntax) or a text in files, line by line. Files that ignore files name and binary files are left out. "+
		"Matches come as path:line: text, with paths relative to the folder searched; at most %d unless limit says otherwise, and %d characters of a line.",
		defaultLimit, maxLine),
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"pattern":{"type":"string","description":"Regular expression, or text if literal is true"},` +
		`"path":{"type":"string","description":"File or folder to search; the working folder unless given"},` +
		`"glob":{"type":"string","description":"Search only files that match, like *.ts or src/**; with ! in front: all but those. Relative to the folder searched"},` +
		`"ignoreCase":{"type":"boolean","description":"Whether case makes no difference"},` +
		`"literal":{"type":"boolean","description":"Whether pattern is text rather than a regular expression"},` +
		`"context":{"type":"number","description":"How many lines to show before and behind each match"},` +
		`"limit":{"type":"number","description":"How many matches to show at most"}},"required":["pattern"]}`),
	Snippet: "look for text in files",
}

// Spec implements tool.Tool.
func (grepper) Spec() tool.Spec { return spec }

// Run implements tool.Tool.
func (g grepper) Run(ctx context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
	var args struct {
		Pattern    string   `json:"pattern"`
		Path       string   `json:"path"`
		Glob       string   `json:"glob"`
		IgnoreCase bool     `json:"ignoreCase"`
		Literal    bool     `json:"literal"`
		Context    float64  `json:"context"`
		Limit      *float64 `json:"limit"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("grep: arguments: %w", err)
	}
	pattern, err := compile(args.Pattern, args.Literal, args.IgnoreCase)
	if err != nil {
		return tool.Result{}, fmt.Errorf("pattern: %w", err)
	}
	filter, err := walk.NewFilter(args.Glob)
	if err != nil {
		return tool.Result{}, fmt.Errorf("glob: %w", err)
	}
	cwd := g.cwd()
	root, info, err := files.Find(cwd, args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	s := search{
		pattern: pattern, filter: filter, root: root, base: cwd,
		context: int(max(0, min(args.Context, maxContext))), limit: listing.Limit(args.Limit, defaultLimit),
	}
	found, err := s.run(ctx, info)
	if err != nil {
		return tool.Result{}, err
	}
	return found.result(s.limit)
}

// run searches the root, a file or a folder.
func (s *search) run(ctx context.Context, root fs.FileInfo) (findings, error) {
	if root.IsDir() {
		return s.folder(ctx)
	}
	if !root.Mode().IsRegular() {
		return findings{}, files.NotRegular(s.root)
	}
	f := &file{path: s.root, rel: filepath.Base(s.root), named: true}
	s.file(ctx, f, &memory{})
	if ctx.Err() != nil {
		return findings{}, context.Cause(ctx)
	}
	if f.err != nil {
		return findings{}, files.Explain(f.err, s.root)
	}
	var all findings
	all.add(f, s.limit, s.context)
	return all, nil
}

// findings is what a search found, in order.
type findings struct {
	lines   []string
	matches int
	more    bool // there are matches beyond the limit
	cut     bool // a line was too long to be shown
	unread  []string
}

// add takes what was found in a file, up to the limit of matches with what
// stands around them. It says whether the limit allows for more.
func (a *findings) add(f *file, limit, around int) bool {
	if f.err != nil {
		a.unread = append(a.unread, f.rel)
	}
	last := 0 // number of the last line that may be shown beside the matches
	for _, l := range f.lines {
		sign := byte('-')
		switch {
		case l.match && a.matches < limit:
			sign = ':'
			a.matches++
			last = l.number + around
		case l.match:
			a.more = true
		}
		if sign == '-' && a.matches == limit && l.number > last {
			continue // it stands beside a match that is not shown
		}
		text, cut := shorten(l.text)
		a.cut = a.cut || cut
		a.lines = append(a.lines, fmt.Sprintf("%s%c%d%c %s", f.rel, sign, l.number, sign, text))
	}
	a.more = a.more || f.more
	return !a.more
}

// shorten cuts a line that is too long to be shown.
func shorten(text string) (string, bool) {
	if len(text) <= maxLine || utf8.RuneCountInString(text) <= maxLine {
		return text, false
	}
	end, n := 0, 0
	for end = range text {
		if n == maxLine {
			break
		}
		n++
	}
	return text[:end] + "... [truncated]", true
}

func (a findings) result(limit int) (tool.Result, error) {
	list := listing.Listing{Lines: a.lines, Empty: "No matches found"}
	if a.more || a.cut {
		list.Details = map[string]any{}
	}
	if a.more {
		list.Details["matchLimitReached"] = limit
		list.Notices = append(list.Notices, fmt.Sprintf("Only the first %d matches; there are more. Use limit=%d, or a narrower pattern", limit, 2*limit))
	}
	if a.cut {
		list.Details["linesTruncated"] = true
		list.Notices = append(list.Notices, fmt.Sprintf("Only %d characters are shown of longer lines; read shows them whole", maxLine))
	}
	list.Unread(a.unread)
	return list.Result()
}
