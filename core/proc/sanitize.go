package proc

import "unicode/utf8"

// Sanitizer turns what a terminal program writes into plain text, chunk by
// chunk: escape sequences (colours, titles, cursor moves, device strings),
// carriage returns and all other control characters except newline and tab are
// dropped, and bytes that are not UTF-8 become U+FFFD. Sequences and
// characters may be cut anywhere between chunks. The zero value is ready; one
// goroutine uses it.
type Sanitizer struct {
	state sanitizerState
	cut   []byte // the beginning of a character whose rest is to come
}

type sanitizerState uint8

// The states of a terminal's parser, as far as leaving things out needs them.
const (
	inText   sanitizerState = iota
	inEscape                // behind ESC, or its intermediate bytes
	inCSI                   // control sequence: ends at a byte from @ to ~
	inOSC                   // operating system command: ends at BEL or ESC \
	inString                // device control and other strings: end at ESC \
)

const (
	bell       = 0x07
	cancel     = 0x18
	substitute = 0x1a
	escape     = 0x1b
	del        = 0x7f
)

// Clean takes the next chunk and gives the text that it adds, which may be
// empty. It does not keep the chunk.
func (s *Sanitizer) Clean(chunk []byte) string {
	if len(s.cut) > 0 {
		chunk = append(s.cut, chunk...)
		s.cut = nil
	}
	out := make([]byte, 0, len(chunk))
	for len(chunk) > 0 {
		if c := chunk[0]; c < utf8.RuneSelf {
			out = s.ascii(out, c)
			chunk = chunk[1:]
			continue
		}
		if !utf8.FullRune(chunk) {
			s.cut = append([]byte(nil), chunk...)
			break
		}
		r, size := utf8.DecodeRune(chunk)
		out = s.wide(out, r)
		chunk = chunk[size:]
	}
	return string(out)
}

// Flush ends the stream: what is left of a cut character comes out as U+FFFD,
// a sequence that has not ended is dropped.
func (s *Sanitizer) Flush() string {
	var out []byte
	for range s.cut {
		out = s.wide(out, utf8.RuneError)
	}
	*s = Sanitizer{}
	return string(out)
}

func (s *Sanitizer) ascii(out []byte, c byte) []byte {
	switch {
	case c == escape:
		s.state = inEscape
		return out
	case c == cancel || c == substitute:
		s.state = inText
		return out
	case c == '\n' && s.state != inString:
		// No sequence goes over a line's end, except device strings, which
		// carry pictures: a stray introducer must not swallow what follows.
		s.state = inText
	}
	switch s.state {
	case inEscape:
		s.state = behindEscape(c)
	case inCSI:
		if c >= '@' && c <= '~' {
			s.state = inText
		}
	case inOSC:
		if c == bell {
			s.state = inText
		}
	case inText:
		if c >= ' ' && c != del || c == '\n' || c == '\t' {
			out = append(out, c)
		}
	}
	return out
}

// behindEscape says what the character behind ESC opens.
func behindEscape(c byte) sanitizerState {
	switch {
	case c == '[':
		return inCSI
	case c == ']':
		return inOSC
	case c == 'P' || c == 'X' || c == '^' || c == '_':
		return inString
	case c < '0': // intermediate bytes, as in ESC ( B, and control characters
		return inEscape
	}
	return inText
}

// wide takes a character beyond ASCII. The control characters among them are
// one-character forms of ESC and a letter.
func (s *Sanitizer) wide(out []byte, r rune) []byte {
	if s.state == inOSC || s.state == inString {
		return out
	}
	s.state = inText
	if r >= 0x80 && r < 0xa0 {
		s.state = behindEscape(byte(r - 0x40))
		return out
	}
	return utf8.AppendRune(out, r)
}
