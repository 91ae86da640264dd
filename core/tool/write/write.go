// Package write is the tool with which a model makes a file, or replaces the
// whole of one.
//
// It imports core/tool and its internal packages only.
package write

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/internal/files"
)

// New makes the tool. cwd gives the folder that relative paths are meant in;
// it is called from any goroutine, once for each call of the tool.
func New(cwd func() string) tool.Tool { return writer{cwd} }

type writer struct{ cwd func() string }

var spec = tool.Spec{
	Name:        "write",
	Label:       "Write",
	Description: "Make a file with the given content, or replace all that a file holds. Missing folders are made.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"path":{"type":"string","description":"File to write, absolute or relative to the working folder"},` +
		`"content":{"type":"string","description":"All that the file is to hold"}},"required":["path","content"]}`),
	Prepare:    withoutNull,
	Snippet:    "make a file, or replace all of it",
	Guidelines: []string{"Use write for new files and for complete rewrites only."},
}

// Spec implements tool.Tool.
func (w writer) Spec() tool.Spec {
	s := spec
	s.Target = func(arguments json.RawMessage) string { return files.TargetOf(w.cwd(), arguments) }
	return s
}

// Run implements tool.Tool.
func (w writer) Run(ctx context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
	var args struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("write: arguments: %w", err)
	}
	path := files.Resolve(w.cwd(), args.Path)
	target, err := files.Target(path)
	if err != nil {
		return tool.Result{}, err
	}
	unlock, err := files.Lock(ctx, target)
	if err != nil {
		return tool.Result{}, err
	}
	defer unlock()
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return tool.Result{}, files.Explain(err, path)
	}
	if err := files.Replace(target, []byte(args.Content)); err != nil {
		return tool.Result{}, err
	}
	return tool.TextResult(fmt.Sprintf("Successfully wrote %d bytes to %s", len(args.Content), args.Path)), nil
}

// withoutNull takes a content of null away, so that it is missed: converted
// into a string, like other values, it would put the word into the file.
func withoutNull(args json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil || string(fields["content"]) != "null" {
		return args
	}
	delete(fields, "content")
	mended, err := json.Marshal(fields)
	if err != nil {
		return args
	}
	return mended
}
