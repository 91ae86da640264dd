package export

import (
	"html"
	"html/template"
	"strings"
)

// diffHead is how many lines of a difference are shown before the rest folds
// away.
const diffHead = 60

// diffLine is a line of a difference.
type diffLine struct {
	class string // same, added, removed, hunk, file
	text  string
}

// readPatch sorts the lines of a unified diff of one file.
func readPatch(patch string) []diffLine {
	var lines []diffLine
	inHunk := false
	for text := range strings.SplitSeq(strings.TrimSuffix(patch, "\n"), "\n") {
		class := "same"
		switch {
		case strings.HasPrefix(text, "@@"):
			class, inHunk = "hunk", true
		case !inHunk:
			class = "file"
		case strings.HasPrefix(text, "+"):
			class = "added"
		case strings.HasPrefix(text, "-"):
			class = "removed"
		}
		lines = append(lines, diffLine{class, text})
	}
	return lines
}

func foldedDiff(lines []diffLine) part {
	if len(lines) <= diffHead+diffHead/4 {
		return part{HTML: diff(lines)}
	}
	rest := lines[diffHead:]
	return part{Fold: &fold{Head: diff(lines[:diffHead]), Summary: thousands(int64(len(rest))) + " more lines", Rest: diff(rest)}}
}

func diff(lines []diffLine) template.HTML {
	var b strings.Builder
	b.WriteString(`<pre class="diff">`)
	for _, line := range lines {
		b.WriteString(`<span class="` + line.class + `">` + html.EscapeString(line.text) + "\n</span>")
	}
	b.WriteString("</pre>")
	return template.HTML(b.String()) //nolint:gosec // escaped
}
