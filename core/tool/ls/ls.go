// Package ls is the tool that shows a model what is in a folder.
//
// It imports core/tool, its internal packages and golang.org/x/text only.
package ls

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/internal/files"
	"github.com/seed-54e836f5/pi/core/tool/internal/listing"
)

const defaultLimit = 500

// New makes the tool. cwd gives the folder that relative paths are meant in;
// it is called from any goroutine, once for each call of the tool.
func New(cwd func() string) tool.Tool { return lister{cwd} }

type lister struct{ cwd func() string }

var spec = tool.Spec{
	Name:  "ls",
	Label: "List",
	Description: fmt.Sprintf("List the entries of a folder by name, also those whose names begin with a dot. Folders end in /. "+
		"At most %d entries unless limit says otherwise.", defaultLimit),
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"path":{"type":"string","description":"Folder to list; the working folder unless given"},` +
		`"limit":{"type":"number","description":"How many entries to list at most"}},"required":[]}`),
	Snippet: "list what is in a folder",
}

// Spec implements tool.Tool.
func (lister) Spec() tool.Spec { return spec }

// Run implements tool.Tool.
func (l lister) Run(_ context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
	var args struct {
		Path  string   `json:"path"`
		Limit *float64 `json:"limit"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("ls: arguments: %w", err)
	}
	path, info, err := files.Find(l.cwd(), args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	if !info.IsDir() {
		return tool.Result{}, fmt.Errorf("this is a file, not a folder: %s (read shows it)", path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return tool.Result{}, files.Explain(err, path)
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
		if isFolder(path, entry) {
			names[i] += "/"
		}
	}
	slices.SortFunc(names, compare)
	most := listing.Limit(args.Limit, defaultLimit)
	out := listing.Listing{Lines: names, Empty: "(empty directory)"}
	if len(names) > most {
		out.Lines = names[:most]
		out.Details = map[string]any{"entryLimitReached": most}
		out.Notices = []string{fmt.Sprintf("Only the first %d of %d entries. For more use limit=%d", most, len(names), 2*most)}
	}
	return out.Result()
}

// isFolder follows a symbolic link; one that leads nowhere is no folder.
func isFolder(path string, entry os.DirEntry) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(filepath.Join(path, entry.Name()))
	return err == nil && info.IsDir()
}

// compare orders names as people do: letters without regard to case and
// accents, behind digits, behind everything else.
func compare(a, b string) int {
	if order := slices.Compare(sortKey(a), sortKey(b)); order != 0 {
		return order
	}
	return strings.Compare(a, b)
}
