package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Apply makes edits in the content of a file and gives the new content. All
// edits are looked for in the content as it is; each must be found once, and
// no two may overlap. An error says which edit cannot be made, and why; it is
// written for the model. Apply has no state.
func Apply(content string, edits []Edit) (string, error) {
	if len(edits) == 0 {
		return "", errors.New("edits is empty; give at least one edit")
	}
	d := parse(content)
	m := matcher{text: d.text}
	found := make([]span, len(edits))
	for i, e := range edits {
		var err error
		if found[i], err = m.one(plain(e.OldText)); err != nil {
			return "", fmt.Errorf("%s: %w", name(i, edits), err)
		}
	}
	if err := disjoint(found); err != nil {
		return "", err
	}
	var pieces []piece
	for i, e := range edits {
		pieces = append(pieces, d.pieces(found[i], plain(e.OldText), plain(e.NewText))...)
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return a.from - b.from })
	changed := d.bom + replaceAll(d.raw, pieces)
	if changed == content {
		return "", errors.New("newText is what the file has already")
	}
	return changed, nil
}

// name says which edit is meant.
func name(i int, edits []Edit) string {
	if len(edits) == 1 {
		return "oldText"
	}
	return fmt.Sprintf("edits[%d].oldText", i)
}

// one finds the only place of a text.
func (m *matcher) one(wanted string) (span, error) {
	if wanted == "" {
		return span{}, errors.New("must not be empty")
	}
	found := m.find(wanted)
	switch len(found) {
	case 0:
		return span{}, errors.New("is not in the file. " + nearest(m.text, wanted))
	case 1:
		return found[0], nil
	}
	return span{}, fmt.Errorf("is in the file %d times (%s). Repeat more of what is around the place that is meant", len(found), linesOf(m.text, found))
}

// disjoint refuses edits of which two want the same bytes.
func disjoint(found []span) error {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return found[a].from - found[b].from })
	for k := 1; k < len(order); k++ {
		a, b := order[k-1], order[k]
		if found[b].from < found[a].to {
			return fmt.Errorf("edits[%d] and edits[%d] overlap. Make one edit of them", min(a, b), max(a, b))
		}
	}
	return nil
}

// piece is a piece of the raw content, and what replaces it.
type piece struct {
	from, to int
	text     string
}

// pieces says what in the raw content changes when old, which was found at a
// place, becomes another text. Lines that are in both keep their bytes: where
// a text was found that only looks the same, they are those of the file.
func (d document) pieces(at span, old, changed string) []piece {
	starts := lineStarts(old)
	there := lineStarts(d.text[at.from:at.to])
	// A text and what it was found as have the same number of lines.
	place := func(i int) int {
		line, ok := slices.BinarySearch(starts, i)
		if !ok {
			return d.at(at.to) // the end of a last line without newline
		}
		return d.at(at.from + there[line])
	}
	var pieces []piece
	for _, e := range udiff.Lines(old, changed) {
		p := piece{from: place(e.Start), to: place(e.End)}
		p.text = strings.ReplaceAll(e.New, "\n", d.ending(p.from))
		pieces = append(pieces, p)
	}
	return pieces
}

// lineStarts are the places where lines begin, and the end of the text.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	if starts[len(starts)-1] != len(text) {
		starts = append(starts, len(text))
	}
	return starts
}

func replaceAll(raw string, pieces []piece) string {
	var out strings.Builder
	last := 0
	for _, p := range pieces {
		out.WriteString(raw[last:p.from])
		out.WriteString(p.text)
		last = p.to
	}
	out.WriteString(raw[last:])
	return out.String()
}
