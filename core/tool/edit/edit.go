// Package edit is the tool with which a model replaces pieces of a file.
//
// A file is changed only where the model changed something: all other bytes
// stay, whatever line endings, byte order mark or encoding mistakes the file
// has. All edits of a call are found in the file as it was before any is made.
//
// It imports core/tool and its internal packages, core/limit, core/message,
// a diff library and golang.org/x/text only.
package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed-54e836f5/pi/core/limit"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/internal/files"
)

// maxFile is the largest file that is edited; it is held in memory.
const maxFile = 100 << 20

// New makes the tool. cwd gives the folder that relative paths are meant in;
// it is called from any goroutine, once for each call of the tool.
func New(cwd func() string) tool.Tool { return editor{cwd} }

type editor struct{ cwd func() string }

var spec = tool.Spec{
	Name:  "edit",
	Label: "Edit",
	Description: "Replace pieces of one file. Each edit names a piece of the file by its exact text, which must be there exactly once, " +
		"and the text to put there. All edits refer to the file as it is before the call, and must not overlap.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"path":{"type":"string","description":"File to edit, absolute or relative to the working folder"},` +
		`"edits":{"type":"array","description":"What to replace","items":{"type":"object","properties":{` +
		`"oldText":{"type":"string","description":"Text of the file, with as much around it as makes it unique"},` +
		`"newText":{"type":"string","description":"Text to put in its place"}},"required":["oldText","newText"]}}},"required":["path","edits"]}`),
	Prepare: prepare,
	Snippet: "replace pieces of a file",
	Guidelines: []string{
		"Use edit to change files; oldText must repeat the file exactly, blanks and line breaks too.",
		"Put several changes of one file into one call of edit.",
	},
}

// Spec implements tool.Tool.
func (e editor) Spec() tool.Spec {
	s := spec
	s.Target = func(arguments json.RawMessage) string { return files.TargetOf(e.cwd(), arguments) }
	return s
}

// Edit is one replacement that a model asks for.
type Edit struct {
	OldText string `json:"oldText"`
	NewText string `json:"newText"`
}

// Run implements tool.Tool.
func (e editor) Run(ctx context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
	var args struct {
		Path  string `json:"path"`
		Edits []Edit `json:"edits"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("edit: arguments: %w", err)
	}
	path, info, err := files.Find(e.cwd(), args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	if info.IsDir() {
		return tool.Result{}, fmt.Errorf("this is a folder, not a file: %s", path)
	}
	if !info.Mode().IsRegular() {
		return tool.Result{}, files.NotRegular(path)
	}
	target, err := files.Target(path)
	if err != nil {
		return tool.Result{}, err
	}
	unlock, err := files.Lock(ctx, target)
	if err != nil {
		return tool.Result{}, err
	}
	defer unlock()
	before, after, err := changeFile(target, args.Edits)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s was not changed: %w", args.Path, err)
	}
	return report(args.Path, len(args.Edits), before, after)
}

// changeFile makes the edits in a file, all or none.
func changeFile(target string, edits []Edit) (before, after document, err error) {
	info, err := os.Stat(target)
	if err != nil {
		return before, after, files.Explain(err, target)
	}
	if info.Size() > maxFile {
		return before, after, fmt.Errorf("it has %s, and files of up to %s can be edited; use bash with sed or a script", limit.Size(info.Size()), limit.Size(maxFile))
	}
	content, err := os.ReadFile(target)
	if err != nil {
		return before, after, files.Explain(err, target)
	}
	changed, err := Apply(string(content), edits)
	if err != nil {
		return before, after, err
	}
	if err := files.Replace(target, []byte(changed)); err != nil {
		return before, after, err
	}
	return parse(string(content)), parse(changed), nil
}

func report(path string, count int, before, after document) (tool.Result, error) {
	result := tool.TextResult(fmt.Sprintf("Successfully replaced %d block(s) in %s.", count, path))
	details, err := message.Marshal(compare(path, before.text, after.text))
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s was changed, but the difference cannot be encoded: %w", path, err)
	}
	result.Details = details
	return result, nil
}
