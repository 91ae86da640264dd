package edit

import (
	"sort"
	"strings"
)

// document is the content of a file, and the text that a model knows of it:
// without the byte order mark, with plain newlines for the pairs of carriage
// return and newline.
type document struct {
	bom     string
	raw     string // behind the mark
	text    string
	returns []int // places in text of the newlines that have a return in raw
}

const byteOrderMark = "\ufeff"

func parse(content string) document {
	d := document{raw: content}
	if rest, ok := strings.CutPrefix(content, byteOrderMark); ok {
		d.bom, d.raw = byteOrderMark, rest
	}
	d.text = d.raw
	if !strings.Contains(d.raw, "\r\n") {
		return d
	}
	var text strings.Builder
	text.Grow(len(d.raw))
	rest := d.raw
	for {
		before, behind, ok := strings.Cut(rest, "\r\n")
		text.WriteString(before)
		if !ok {
			break
		}
		d.returns = append(d.returns, text.Len())
		text.WriteByte('\n')
		rest = behind
	}
	d.text = text.String()
	return d
}

// at is the place in raw of a place in text: before the return, where a
// newline has one.
func (d document) at(i int) int {
	return i + sort.SearchInts(d.returns, i)
}

// ending is the line ending in use at a place in raw: that of the line there,
// or of the line before it at the end of the file.
func (d document) ending(at int) string {
	newline := strings.IndexByte(d.raw[at:], '\n')
	if newline >= 0 {
		newline += at
	} else {
		newline = strings.LastIndexByte(d.raw[:at], '\n')
	}
	if newline > 0 && d.raw[newline-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// plain writes a text with newlines only, as document.text has them.
func plain(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
