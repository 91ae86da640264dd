package export

import (
	"bytes"
	"encoding/json"
	"html"
	"html/template"
	"path"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
)

// arguments are what a tool was called with.
type arguments map[string]json.RawMessage

// text is a member that is a string; empty: it is not.
func (a arguments) text(name string) string {
	var s string
	if json.Unmarshal(a[name], &s) != nil {
		return ""
	}
	return s
}

// callParts shows what a tool was asked for, in the words of the tool where it
// is one of ours.
func (w *writer) callParts(b message.Block) []part {
	var args arguments
	if json.Unmarshal(b.Arguments, &args) != nil {
		args = nil
	}
	about := aboutCall(b.Name, args)
	if b.ID != "" {
		w.calls[b.ID] = about
	}
	heading := callHeading(clean(b.Name), about)
	switch b.Name {
	case "bash":
		if command := args.text("command"); command != "" {
			return []part{callHeading(b.Name, ""), {HTML: w.markdown.code(command, "bash")}}
		}
	case "write":
		if content := args.text("content"); content != "" {
			return []part{heading, w.foldedCode(content, args.text("path"))}
		}
	case "edit":
		if lines := replacements(args); lines != nil {
			return []part{heading, w.unfold("", "What to replace", diff(lines))}
		}
	}
	if args != nil && len(args) == 0 || len(args) == 1 && about != "" && len(b.Arguments) < 2*titleLength {
		return []part{heading} // it says it all
	}
	var pretty bytes.Buffer
	if isDeep(b.Arguments) || json.Indent(&pretty, b.Arguments, "", "  ") != nil {
		return []part{heading, folded(clean(string(b.Arguments)))}
	}
	return []part{heading, w.foldedCode(pretty.String(), ".json")}
}

func callHeading(tool, about string) part {
	heading := `<p class="call"><b>` + html.EscapeString(tool) + "</b>"
	if about != "" {
		heading += " <code>" + html.EscapeString(about) + "</code>"
	}
	return part{HTML: template.HTML(heading + "</p>")} //nolint:gosec // escaped
}

// isDeep says whether JSON is nested so deeply that indenting it would make it
// many times as large.
func isDeep(raw []byte) bool {
	depth := 0
	for _, c := range raw {
		switch c {
		case '{', '[':
			if depth++; depth > nestingLimit {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// aboutCall names what a call is about: the path, the command, the pattern.
func aboutCall(tool string, args arguments) string {
	names := []string{"command", "pattern", "path", "file_path", "query", "url", "name", "title"}
	if tool == "grep" || tool == "find" {
		about := args.text("pattern")
		if in := args.text("path"); in != "" {
			about += " in " + in
		}
		return shorten(about)
	}
	for _, name := range names {
		if text := args.text(name); text != "" {
			return shorten(text)
		}
	}
	return ""
}

// replacement is one edit, as the edit tool takes it.
type replacement struct {
	OldText string `json:"oldText"`
	NewText string `json:"newText"`
}

// replacements are the edits that the edit tool was asked for, as lines of a
// difference; nil: there are none that can be read.
func replacements(args arguments) []diffLine {
	var edits []replacement
	if json.Unmarshal(args["edits"], &edits) != nil || len(edits) == 0 {
		edits = []replacement{{args.text("oldText"), args.text("newText")}}
	}
	var lines []diffLine
	for i, e := range edits {
		if e.OldText == "" && e.NewText == "" {
			continue
		}
		if i > 0 {
			lines = append(lines, diffLine{"hunk", "…"})
		}
		lines = appendLines(lines, "removed", "-", e.OldText)
		lines = appendLines(lines, "added", "+", e.NewText)
	}
	return lines
}

func appendLines(lines []diffLine, class, sign, text string) []diffLine {
	if text == "" {
		return lines
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(clean(text), "\n"), "\n") {
		lines = append(lines, diffLine{class, sign + line})
	}
	return lines
}

// resultCard shows what a tool gave; an edit as the difference that it made.
func (w *writer) resultCard(m *message.ToolResult) *card {
	c := &card{Kind: "tool", Who: clean(m.ToolName), About: w.calls[m.ToolCallID], Error: m.IsError, Usage: m.Usage}
	if c.Who == "" {
		c.Who = "Tool"
	}
	var details struct {
		Patch string `json:"patch"`
	}
	if m.ToolName == "edit" && json.Unmarshal(m.Details, &details) == nil && details.Patch != "" {
		c.Parts = append(c.Parts, foldedDiff(readPatch(clean(details.Patch))))
		return c
	}
	for _, b := range m.Content {
		switch b.Type {
		case message.BlockText:
			c.Parts = append(c.Parts, folded(clean(b.Text)))
		case message.BlockImage:
			c.Parts = append(c.Parts, imagePart(b))
		}
	}
	return c
}

// foldedCode shows code of a file, and folds it away where it is long.
func (w *writer) foldedCode(code, name string) part {
	_, rest := beginning(code)
	shown := w.markdown.codeOf(code, path.Base(name))
	if rest == "" {
		return part{HTML: shown}
	}
	return w.unfold("", thousands(int64(strings.Count(strings.TrimSuffix(code, "\n"), "\n")+1))+" lines", shown)
}
