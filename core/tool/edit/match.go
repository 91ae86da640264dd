package edit

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// span is a piece of a text, from one byte to before another.
type span struct{ from, to int }

// matcher finds texts in one document. What it needs for texts that do not
// match exactly it prepares when it is asked for one.
type matcher struct {
	text  string
	loose *looseText
}

// find gives all places of a text, also those that overlap; only where it is
// nowhere exactly, places that look the same: where quotes, dashes, blanks and
// the width of characters differ, or blanks at the end of lines.
func (m *matcher) find(wanted string) []span {
	if exact := places(m.text, wanted); len(exact) > 0 {
		return exact
	}
	if m.loose == nil {
		m.loose = loosen(m.text, true)
	}
	var found []span
	for _, s := range places(m.loose.text, loosen(wanted, false).text) {
		if from, to, ok := m.loose.original(s); ok && from < to {
			found = append(found, span{from, to})
		}
	}
	return found
}

func places(text, wanted string) []span {
	var found []span
	if wanted == "" {
		return nil
	}
	for from := 0; ; {
		i := strings.Index(text[from:], wanted)
		if i < 0 {
			return found
		}
		from += i
		found = append(found, span{from, from + len(wanted)})
		from++ // the next may overlap
	}
}

// looseText is a text in which what looks alike is alike.
type looseText struct {
	text    string
	changes []changed // in order; between them the text is as it was
}

// changed is a piece that loosening replaced. Nothing but the whole of it
// matches.
type changed struct{ loose, original span }

// original is the piece of the original that a piece of the loose text stands
// for. It is false where that would be part of a character.
func (l *looseText) original(s span) (from, to int, ok bool) {
	// Blanks that were dropped before the first character do not belong to
	// the piece, nor do those behind the last.
	next := sort.Search(len(l.changes), func(i int) bool { return l.changes[i].loose.from >= s.from && !l.dropped(i, s.from) })
	from = s.from
	if next > 0 {
		c := l.changes[next-1]
		if c.loose.to > s.from {
			return 0, 0, false
		}
		from = c.original.to + s.from - c.loose.to
	}
	next = sort.Search(len(l.changes), func(i int) bool { return l.changes[i].loose.from >= s.to })
	to = s.to
	if next > 0 {
		c := l.changes[next-1]
		if c.loose.to > s.to {
			return 0, 0, false
		}
		to = c.original.to + s.to - c.loose.to
	}
	return from, to, true
}

func (l *looseText) dropped(i, at int) bool {
	c := l.changes[i].loose
	return c.from == at && c.to == at
}

// loosen makes the loose form of a text. The blanks at the end of the last
// line are dropped where that is the end of a file; in a text that is looked
// for they may stand between words.
func loosen(text string, wholeFile bool) *looseText {
	l := &looseText{}
	var out strings.Builder
	out.Grow(len(text))
	for pos := 0; pos < len(text); {
		end := len(text)
		lastLine := true
		if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
			end, lastLine = pos+i, false
		}
		content := end
		if !lastLine || wholeFile {
			content = pos + len(strings.TrimRightFunc(text[pos:end], unicode.IsSpace))
		}
		l.line(&out, text, span{pos, content})
		if content < end {
			l.changes = append(l.changes, changed{span{out.Len(), out.Len()}, span{content, end}})
		}
		if !lastLine {
			out.WriteByte('\n')
			end++
		}
		pos = end
	}
	l.text = out.String()
	return l
}

// line adds the loose form of a piece of one line.
func (l *looseText) line(out *strings.Builder, text string, piece span) {
	for pos := piece.from; pos < piece.to; {
		if text[pos] < utf8.RuneSelf && (pos+1 == piece.to || text[pos+1] < utf8.RuneSelf) {
			out.WriteByte(text[pos]) // no accent follows that could belong to it
			pos++
			continue
		}
		size := norm.NFKC.NextBoundaryInString(text[pos:piece.to], true)
		if size <= 0 {
			size = 1
		}
		original := text[pos : pos+size]
		loose := lookalikes.Replace(norm.NFKC.String(lookalikes.Replace(original)))
		if loose != original {
			l.changes = append(l.changes, changed{span{out.Len(), out.Len() + len(loose)}, span{pos, pos + size}})
		}
		out.WriteString(loose)
		pos += size
	}
}

// lookalikes are characters that models write in another form than the file
// has them. Those that are compatible forms in Unicode's sense are not listed.
var lookalikes = strings.NewReplacer(
	"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u2032", "'",
	"\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`, "\u2033", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
	"\u00a0", " ", "\u1680", " ", "\u2000", " ", "\u2001", " ", "\u2002", " ", "\u2003", " ", "\u2004", " ", "\u2005", " ",
	"\u2006", " ", "\u2007", " ", "\u2008", " ", "\u2009", " ", "\u200a", " ", "\u202f", " ", "\u205f", " ", "\u3000", " ",
)
