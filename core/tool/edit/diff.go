package edit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// difference is the details of an edit, in the reference agent's form.
type difference struct {
	// Diff is for people: each line with its number, unchanged lines with that
	// of the old file; what is left out is "...".
	Diff string `json:"diff"`
	// Patch is a unified diff that patch programs take.
	Patch string `json:"patch"`
	// FirstChangedLine is a line of the new file.
	FirstChangedLine int `json:"firstChangedLine"`
}

// around is the number of unchanged lines shown before and behind a change.
const around = 4

func compare(path, before, after string) difference {
	before, after = valid(before), valid(after)
	r := rendering{
		old:   splitLines(before),
		width: len(fmt.Sprint(max(strings.Count(before, "\n"), strings.Count(after, "\n")) + 1)),
	}
	fmt.Fprintf(&r.patch, "--- %s\n+++ %s\n", path, path)
	changes := changesOf(before, after)
	shift := 0 // new line numbers less old ones, before the next hunk
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].from-changes[n-1].to <= 2*around {
			n++
		}
		shift = r.hunk(changes[:n], shift)
		changes = changes[n:]
	}
	if r.shown < len(r.old) {
		r.gap()
	}
	return difference{
		Diff:             strings.TrimSuffix(r.diff.String(), "\n"),
		Patch:            r.patch.String(),
		FirstChangedLine: r.firstChanged,
	}
}

// change replaces old lines, from one to before another, counted from 0.
type change struct {
	from, to int
	added    []string
}

// changesOf finds what lines changed, in order.
func changesOf(before, after string) []change {
	old := splitLines(before)
	var changes []change
	line, at := 0, 0 // a line of old, and the byte where it begins
	lineAt := func(i int) int {
		for at < i {
			at += len(old[line])
			line++
		}
		return line
	}
	for _, e := range udiff.Lines(before, after) {
		from := lineAt(e.Start)
		changes = append(changes, change{from, lineAt(e.End), splitLines(e.New)})
	}
	slideDown(old, changes)
	return changes
}

// slideDown moves lines that were only added, or only taken away, down as far
// as the result stays the same: of equal lines the last one counts as the new
// one, or the one that went.
func slideDown(old []string, changes []change) {
	next := len(old) // where the next change begins
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		for c.to < next && c.canPass(old) {
			if len(c.added) > 0 {
				c.added = append(c.added[1:], c.added[0])
			}
			c.from++
			c.to++
		}
		next = c.from
	}
}

// canPass says whether the change one line further down is the same change.
func (c *change) canPass(old []string) bool {
	if len(c.added) == 0 {
		return old[c.from] == old[c.to]
	}
	return c.from == c.to && c.added[0] == old[c.to]
}

// rendering writes a difference in both forms.
type rendering struct {
	old          []string
	diff, patch  strings.Builder
	width        int // of line numbers
	shown        int // old lines up to the end of the last hunk
	firstChanged int // 0: none yet
}

// hunk writes changes that stand close together, with what is around them. It
// gives the shift of line numbers behind them.
func (r *rendering) hunk(changes []change, shift int) int {
	first := max(0, changes[0].from-around)
	last := min(len(r.old), changes[len(changes)-1].to+around)
	if first > r.shown {
		r.gap()
	}
	r.shown = last
	growth := 0
	for _, c := range changes {
		growth += len(c.added) - (c.to - c.from)
	}
	fmt.Fprintf(&r.patch, "@@ -%s +%s @@\n", lineRange(first, last-first), lineRange(first+shift, last-first+growth))
	at := first
	for _, c := range changes {
		for ; at < c.from; at++ {
			r.line(' ', at, r.old[at])
		}
		if r.firstChanged == 0 {
			r.firstChanged = c.from + shift + 1
		}
		for ; at < c.to; at++ {
			r.line('-', at, r.old[at])
		}
		for i, text := range c.added {
			r.line('+', c.from+shift+i, text)
		}
		shift += len(c.added) - (c.to - c.from)
	}
	for ; at < last; at++ {
		r.line(' ', at, r.old[at])
	}
	return shift
}

// line writes a line whose number, counted from 0, is given.
func (r *rendering) line(sign byte, number int, content string) {
	text, ended := strings.CutSuffix(content, "\n")
	fmt.Fprintf(&r.diff, "%c%*d %s\n", sign, r.width, number+1, text)
	fmt.Fprintf(&r.patch, "%c%s\n", sign, text)
	if !ended {
		r.patch.WriteString("\\ No newline at end of file\n")
	}
}

func (r *rendering) gap() { fmt.Fprintf(&r.diff, " %*s ...\n", r.width, "") }

// lineRange is one side of a hunk's head. Where a side has no lines it names
// the line before.
func lineRange(first, count int) string {
	if count > 0 {
		first++
	}
	return fmt.Sprintf("%d,%d", first, count)
}

// splitLines gives the lines of a text with their newlines.
func splitLines(text string) []string {
	return slices.Collect(strings.Lines(text))
}

// valid is the text with U+FFFD for every byte that is not UTF-8, since the
// details are JSON.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
