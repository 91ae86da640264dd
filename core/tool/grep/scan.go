package grep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// line is a line that is shown: one that matches, or one beside it.
type line struct {
	number int // from 1
	text   string
	match  bool
}

const (
	chunk = 64 * 1024
	// maxBuffer bounds how much of a file is held, and so the longest line.
	maxBuffer = 32 << 20
)

// scanner searches one file, in pieces of whole lines.
type scanner struct {
	pattern *pattern
	around  int // lines shown before and behind a match
	limit   int // matches wanted
	binary  bool

	in      io.Reader
	buf     []byte
	next    int // where in buf the next line begins; what is before is kept for context
	number  int // of that line
	atEnd   bool
	scratch []byte // the lines in lower case, where the pattern folds

	lines   []line
	matches int
	more    bool // a match beyond the limit was seen
	shown   int  // number of the last line in lines
	after   int  // lines still to be shown behind the last match
}

// errBinary ends the search of a file that is no text.
var errBinary = errors.New("binary file")

// scan searches all of a reader, until there is one match more than wanted. A
// file that is no text is errBinary, unless that is no matter.
func (s *scanner) scan() error {
	s.number = 1
	for first := true; ; first = false {
		if err := s.fill(); err != nil {
			return err
		}
		if first && !s.binary && bytes.IndexByte(s.buf, 0) >= 0 {
			return errBinary
		}
		s.take(s.whole())
		if s.atEnd || s.enough() {
			return nil
		}
	}
}

// enough says that all wanted matches, with what stands behind them, and one
// more are found.
func (s *scanner) enough() bool { return s.more && s.after == 0 }

// whole is where the last whole line in buf ends.
func (s *scanner) whole() int {
	if s.atEnd {
		return len(s.buf)
	}
	return bytes.LastIndexByte(s.buf, '\n') + 1
}

// fill drops what is not needed any more and reads on, until there is another
// whole line.
func (s *scanner) fill() error {
	keep := s.next
	for range s.around {
		if keep == 0 {
			break
		}
		keep = bytes.LastIndexByte(s.buf[:keep-1], '\n') + 1
	}
	s.buf = append(s.buf[:0], s.buf[keep:]...)
	s.next -= keep
	for {
		begin := len(s.buf)
		if begin > maxBuffer {
			return fmt.Errorf("line %d is longer than %d MB", s.number, maxBuffer>>20)
		}
		s.buf = slices.Grow(s.buf, chunk)[:begin+chunk]
		n, err := io.ReadFull(s.in, s.buf[begin:])
		s.buf = s.buf[:begin+n]
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			s.atEnd = true
			return nil
		case err != nil:
			return err
		case bytes.IndexByte(s.buf[begin:], '\n') >= 0:
			return nil
		}
	}
}

// take searches the lines of buf up to a place.
func (s *scanner) take(end int) {
	text := s.buf[s.next:end] // what candidates are looked for in
	if s.pattern.fold {
		s.scratch = folded(s.scratch, text)
		text = s.scratch
	}
	for s.next < end && !s.enough() {
		if s.after == 0 && !s.skip(text[len(text)-(end-s.next):], end) {
			return
		}
		length := end - s.next
		behind := end
		if i := bytes.IndexByte(s.buf[s.next:end], '\n'); i >= 0 {
			length, behind = i, s.next+i+1
		}
		s.line(bytes.TrimSuffix(s.buf[s.next:s.next+length], []byte{'\r'}))
		s.next = behind
		s.number++
	}
}

// skip goes to the next line up to end that may match. It is false where there
// is none.
func (s *scanner) skip(text []byte, end int) bool {
	at := s.pattern.candidate(text)
	if at < 0 {
		s.number += bytes.Count(s.buf[s.next:end], []byte{'\n'})
		s.next = end
		return false
	}
	begin := s.next + bytes.LastIndexByte(s.buf[s.next:s.next+at], '\n') + 1
	s.number += bytes.Count(s.buf[s.next:begin], []byte{'\n'})
	s.next = begin
	return true
}

// line searches one line, which is the next one.
func (s *scanner) line(text []byte) {
	switch match := s.pattern.matches(text); {
	case match && s.matches < s.limit:
		s.matches++
		s.before()
		s.show(s.number, text, true)
		s.after = s.around
	case match && s.after > 0: // it is shown beside another
		s.more = true
		s.show(s.number, text, false)
		s.after--
	case match:
		s.more = true
	case s.after > 0:
		s.show(s.number, text, false)
		s.after--
	}
}

// before shows the lines before the next one that were not shown yet.
func (s *scanner) before() {
	first := max(s.shown+1, s.number-s.around, 1)
	begin := s.next
	for range s.number - first {
		begin = bytes.LastIndexByte(s.buf[:begin-1], '\n') + 1
	}
	for number := first; number < s.number; number++ {
		end := begin + bytes.IndexByte(s.buf[begin:], '\n')
		s.show(number, bytes.TrimSuffix(s.buf[begin:end], []byte{'\r'}), false)
		begin = end + 1
	}
}

func (s *scanner) show(number int, text []byte, match bool) {
	s.shown = number
	s.lines = append(s.lines, line{number, valid(text), match})
}

// valid is a text with U+FFFD for every byte that is not UTF-8.
func valid(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	var b strings.Builder
	for _, r := range string(text) {
		b.WriteRune(r)
	}
	return b.String()
}
