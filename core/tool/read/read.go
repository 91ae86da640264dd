// Package read is the tool that shows a model a text file, or part of one, or
// an image.
//
// It imports core/tool and its internal packages, core/limit and core/message
// only.
package read

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"github.com/seed-54e836f5/pi/core/limit"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/internal/files"
)

// Options say where the tool reads, and for whom. The functions are called
// from any goroutine, once for each call of the tool.
type Options struct {
	// Cwd is the folder that relative paths are meant in.
	Cwd func() string
	// TakesImages says whether the model of the moment does; nil: it does.
	TakesImages func() bool
}

// New makes the tool.
func New(o Options) tool.Tool { return reader{o} }

type reader struct{ Options }

var spec = tool.Spec{
	Name:  "read",
	Label: "Read",
	Description: fmt.Sprintf("Show a file. Text comes as it is, at most %d lines or %s of it, whichever is less; a notice at the end says how to go on. "+
		"Images (PNG, JPEG, GIF, WebP) come as images.", limit.Lines, limit.Size(limit.Bytes)),
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"path":{"type":"string","description":"File to show, absolute or relative to the working folder"},` +
		`"offset":{"type":"number","description":"First line to show, counted from 1"},` +
		`"limit":{"type":"number","description":"How many lines to show at most"}},"required":["path"]}`),
	Snippet:    "show a text file, or an image",
	Guidelines: []string{"Use read to look at files, rather than cat or sed."},
}

// Spec implements tool.Tool.
func (reader) Spec() tool.Spec { return spec }

// Run implements tool.Tool.
func (r reader) Run(ctx context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
	var args struct {
		Path   string   `json:"path"`
		Offset *float64 `json:"offset"`
		Limit  *float64 `json:"limit"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("read: arguments: %w", err)
	}
	path, info, err := files.Find(r.Cwd(), args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	if info.IsDir() {
		return tool.Result{}, fmt.Errorf("this is a folder, not a file: %s (ls shows what is in it)", path)
	}
	if !info.Mode().IsRegular() {
		return tool.Result{}, files.NotRegular(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return tool.Result{}, files.Explain(err, path)
	}
	defer func() { _ = file.Close() }() // only read

	mime, err := imageType(file)
	if err != nil {
		return tool.Result{}, files.Explain(err, path)
	}
	if mime != "" {
		return r.image(file, info.Size(), mime)
	}
	wanted := selection{from: 0, count: -1}
	if args.Offset != nil {
		wanted.from = max(0, whole(*args.Offset)-1)
	}
	if args.Limit != nil {
		wanted.count = max(0, whole(*args.Limit))
	}
	found, err := scan(ctx, file, wanted)
	if err != nil {
		return tool.Result{}, files.Explain(err, path)
	}
	return answer(found, wanted, args.Path)
}

// whole is the whole number in a JSON number, within what an int holds.
func whole(f float64) int {
	return int(math.Trunc(max(math.MinInt32, min(f, math.MaxInt32))))
}

// answer words what was found. Lines are counted as an editor does: what is
// behind the last newline is a line too, though empty.
func answer(found passage, wanted selection, path string) (tool.Result, error) {
	if wanted.from >= found.fileLines {
		return tool.Result{}, fmt.Errorf("offset %d is behind the end of the file, which has %d lines", wanted.from+1, found.fileLines)
	}
	first := wanted.from + 1
	text, cut := limit.HeadOf(found.text, found.lines, found.bytes, limit.Lines, limit.Bytes)
	var notice string
	switch {
	case cut != nil && cut.FirstLineExceedsLimit:
		text = fmt.Sprintf("[Line %d is %s long, more than the %s that can be shown. For its beginning run: sed -n '%dp' %s | head -c %d]",
			first, limit.Size(found.firstLine), limit.Size(limit.Bytes), first, path, limit.Bytes)
	case cut != nil:
		last := first + cut.OutputLines - 1
		why := ""
		if cut.TruncatedBy == limit.ByBytes {
			why = fmt.Sprintf(" (limit of %s)", limit.Size(limit.Bytes))
		}
		notice = fmt.Sprintf("\n\n[These are lines %d-%d of %d%s. Go on with offset=%d]", first, last, found.fileLines, why, last+1)
	case wanted.count >= 0 && wanted.from+wanted.count < found.fileLines:
		next := wanted.from + wanted.count
		notice = fmt.Sprintf("\n\n[The file has %d more lines. Go on with offset=%d]", found.fileLines-next, next+1)
	}
	result := tool.TextResult(text + notice)
	if cut == nil {
		return result, nil
	}
	details, err := message.Marshal(struct {
		Truncation *limit.Truncation `json:"truncation"`
	}{cut})
	if err != nil {
		return tool.Result{}, fmt.Errorf("read: details: %w", err)
	}
	result.Details = details
	return result, nil
}
