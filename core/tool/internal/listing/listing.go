// Package listing puts lists of lines, as ls, find and grep make them, into
// the result of a tool: cut at the limit of bytes, with notices in brackets
// behind them.
//
// It imports core/tool, core/limit and core/message only.
package listing

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-54e836f5/pi/core/limit"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
)

// Limit is a limit that a model asked for: a whole number, at least 1; usual
// where it asked for none.
func Limit(asked *float64, usual int) int {
	if asked == nil {
		return usual
	}
	return int(math.Trunc(max(1, min(*asked, math.MaxInt32))))
}

// Listing is a list on its way to a model.
type Listing struct {
	Lines []string
	// Empty is what is said where there are no lines.
	Empty string
	// Details are fields for the result's details; nil: none.
	Details map[string]any
	// Notices are sentences about the list, without their last full stop.
	Notices []string
}

// Unread adds a notice about folders or files that could not be read.
func (l *Listing) Unread(names []string) {
	switch len(names) {
	case 0:
	case 1:
		l.Notices = append(l.Notices, "Could not be read: "+names[0])
	default:
		l.Notices = append(l.Notices, fmt.Sprintf("Could not be read: %s and %d more", names[0], len(names)-1))
	}
}

// Result makes the result.
func (l Listing) Result() (tool.Result, error) {
	text, cut := limit.Head(strings.Join(l.Lines, "\n"), limit.NoLines, limit.Bytes)
	if len(l.Lines) == 0 {
		text = l.Empty
	}
	if cut != nil {
		if l.Details == nil {
			l.Details = map[string]any{}
		}
		l.Details["truncation"] = cut
		l.Notices = append(l.Notices, fmt.Sprintf("Cut after %d of %d lines at the limit of %s", cut.OutputLines, cut.TotalLines, limit.Size(limit.Bytes)))
	}
	if len(l.Notices) > 0 {
		text += "\n\n[" + strings.Join(l.Notices, ". ") + "]"
	}
	result := tool.TextResult(text)
	if l.Details == nil {
		return result, nil
	}
	details, err := message.Marshal(l.Details)
	if err != nil {
		return tool.Result{}, fmt.Errorf("details of the list: %w", err)
	}
	result.Details = details
	return result, nil
}
