// Package find is the tool with which a model looks for files and folders by
// name. It needs no other program.
//
// It imports core/tool and its internal packages only.
package find

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/internal/files"
	"github.com/seed-54e836f5/pi/core/tool/internal/listing"
	"github.com/seed-54e836f5/pi/core/tool/internal/walk"
)

const defaultLimit = 1000

// New makes the tool. cwd gives the folder that relative paths are meant in;
// it is called from any goroutine, once for each call of the tool.
func New(cwd func() string) tool.Tool { return finder{cwd} }

type finder struct{ cwd func() string }

var spec = tool.Spec{
	Name:  "find",
	Label: "Find",
	Description: fmt.Sprintf("Find files and folders by a glob, also those whose names begin with a dot; what ignore files name is left out. "+
		"A pattern without a slash is held against names, one with a slash against paths. Paths come relative to the folder searched, folders end in /. "+
		"At most %d unless limit says otherwise.", defaultLimit),
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"pattern":{"type":"string","description":"Glob, like *.ts, src/**/*.go or *.{md,txt}; all lower case: case makes no difference"},` +
		`"path":{"type":"string","description":"Folder to search; the working folder unless given"},` +
		`"limit":{"type":"number","description":"How many paths to list at most"}},"required":["pattern"]}`),
	Snippet: "find files by name",
}

// Spec implements tool.Tool.
func (finder) Spec() tool.Spec { return spec }

// Run implements tool.Tool.
func (f finder) Run(ctx context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
	var args struct {
		Pattern string   `json:"pattern"`
		Path    string   `json:"path"`
		Limit   *float64 `json:"limit"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("find: arguments: %w", err)
	}
	glob, err := walk.Find(args.Pattern)
	if err != nil {
		return tool.Result{}, fmt.Errorf("pattern: %w", err)
	}
	cwd := f.cwd()
	root, info, err := files.Find(cwd, args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	if !info.IsDir() {
		return tool.Result{}, fmt.Errorf("this is a file, not a folder: %s", root)
	}
	most := listing.Limit(args.Limit, defaultLimit)
	list := listing.Listing{Empty: "No files found matching pattern"}
	more := false
	unread, err := walk.Tree(ctx, root, cwd, func(e walk.Entry) (goOn, enter bool) {
		if !glob.Match(e.Rel, e.Type.IsDir()) {
			return true, true
		}
		if more = len(list.Lines) == most; more {
			return false, false
		}
		line := e.Rel
		if e.Type.IsDir() {
			line += "/"
		}
		list.Lines = append(list.Lines, line)
		return true, true
	})
	if err != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	if more {
		list.Details = map[string]any{"resultLimitReached": most}
		list.Notices = append(list.Notices, fmt.Sprintf("Only the first %d paths; there are more. Use limit=%d, or a narrower pattern", most, 2*most))
	}
	list.Unread(unread)
	return list.Result()
}
