package read

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/limit"
)

// selection is a run of lines: the number of lines before it, and how many
// they are; a negative count is all the rest.
type selection struct{ from, count int }

// passage is what a selection holds of a file. Its beginning is at hand, the
// rest is only counted.
type passage struct {
	text      string // its first bytes, more than can be shown; or all of it
	bytes     int
	lines     int // a newline at the end does not begin one
	firstLine int // bytes
	fileLines int // newlines in the whole file, and one
}

// scan reads a file once, to its end, and keeps only what can be shown.
func scan(ctx context.Context, file io.Reader, wanted selection) (passage, error) {
	s := scanner{wanted: wanted, end: -1}
	if wanted.count >= 0 {
		s.end = wanted.from + wanted.count
	}
	buf := make([]byte, 256*1024)
	for {
		if ctx.Err() != nil {
			return passage{}, context.Cause(ctx)
		}
		n, err := file.Read(buf)
		s.take(buf[:n])
		if errors.Is(err, io.EOF) {
			return s.passage(), nil
		}
		if err != nil {
			return passage{}, err
		}
	}
}

type scanner struct {
	wanted selection
	end    int // number of the first line behind the selection; negative: none
	line   int // number of the line that the next byte belongs to

	kept      bytes.Buffer
	size      int // bytes of the selection so far
	newlines  int // in it
	firstLine int
	last      byte // of it
}

func (s *scanner) take(chunk []byte) {
	for len(chunk) > 0 && s.line < s.wanted.from {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			return
		}
		chunk = chunk[i+1:]
		s.line++
	}
	if s.end < 0 {
		s.line += bytes.Count(chunk, newline)
		s.keep(chunk)
		return
	}
	for len(chunk) > 0 && s.line < s.end {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			s.keep(chunk)
			return
		}
		s.line++
		if s.line == s.end {
			s.keep(chunk[:i]) // the newline of the last line wanted stays out
		} else {
			s.keep(chunk[:i+1])
		}
		chunk = chunk[i+1:]
	}
	s.line += bytes.Count(chunk, newline)
}

var newline = []byte{'\n'}

// keep adds a piece to the selection.
func (s *scanner) keep(piece []byte) {
	if len(piece) == 0 {
		return
	}
	if s.newlines == 0 {
		if i := bytes.IndexByte(piece, '\n'); i >= 0 {
			s.firstLine += i
		} else {
			s.firstLine += len(piece)
		}
	}
	s.newlines += bytes.Count(piece, newline)
	s.size += len(piece)
	s.last = piece[len(piece)-1]
	const enough = limit.Bytes + utf8.UTFMax
	if room := enough - s.kept.Len(); room > 0 {
		s.kept.Write(piece[:min(room, len(piece))])
	}
}

func (s *scanner) passage() passage {
	p := passage{bytes: s.size, lines: s.newlines, firstLine: s.firstLine, fileLines: s.line + 1}
	if s.size > 0 && s.last != '\n' {
		p.lines++
	}
	p.text = valid(s.kept.String())
	p.bytes += len(p.text) - s.kept.Len()
	return p
}

// valid is the text with U+FFFD for every byte that is not UTF-8.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
