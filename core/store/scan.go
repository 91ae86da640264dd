package store

import (
	"encoding/binary"
	"encoding/json"
)

// maxDepth is how deep values may be nested. It is encoding/json's own limit,
// so that whatever passes here can be decoded later.
const maxDepth = 10_000

// scanner walks one JSON text, checks it against the grammar and tells its
// caller about the members it asks for, without building values. Opening a
// session means looking at every byte of a large file once: encoding/json
// needs about ten times as long for that.
//
// Methods return false when the text is not JSON; the scanner is of no use
// after that.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

// object reads an object and calls member for each of its members, with pos at
// the value. member must consume the value, with skip, text or object.
func (s *scanner) object(member func(key []byte) bool) bool {
	if !s.enter('{') {
		return false
	}
	s.space()
	if s.accept('}') {
		s.depth--
		return true
	}
	for {
		s.space()
		key, ok := s.text()
		if !ok {
			return false
		}
		s.space()
		if !s.accept(':') {
			return false
		}
		s.space()
		if !member(key) {
			return false
		}
		s.space()
		if s.accept('}') {
			s.depth--
			return true
		}
		if !s.accept(',') {
			return false
		}
	}
}

// skip reads a value of any kind.
func (s *scanner) skip() bool {
	switch c := s.peek(); c {
	case '{':
		return s.object(func([]byte) bool { return s.skip() })
	case '[':
		return s.array(s.skip)
	case '"':
		return s.skipText()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

// array reads an array and calls element for each of its elements, with pos at
// it. element must consume it.
func (s *scanner) array(element func() bool) bool {
	if !s.enter('[') {
		return false
	}
	s.space()
	if s.accept(']') {
		s.depth--
		return true
	}
	for {
		s.space()
		if !element() {
			return false
		}
		s.space()
		if s.accept(']') {
			s.depth--
			return true
		}
		if !s.accept(',') {
			return false
		}
	}
}

// text reads a string and gives its bytes. They are part of the data unless
// the string holds escapes.
func (s *scanner) text() ([]byte, bool) {
	start := s.pos
	if !s.skipText() {
		return nil, false
	}
	quoted := s.data[start:s.pos]
	inner := quoted[1 : len(quoted)-1]
	for _, c := range inner {
		if c == '\\' {
			var plain string
			if json.Unmarshal(quoted, &plain) != nil {
				return nil, false
			}
			return []byte(plain), true
		}
	}
	return inner, true
}

// skipText reads a string. Eight bytes at a time are checked for the three
// kinds of bytes that need a look: quote, backslash, control characters.
func (s *scanner) skipText() bool {
	if !s.accept('"') {
		return false
	}
	data, i := s.data, s.pos
	for {
		for i+8 <= len(data) && !hasSpecial(binary.LittleEndian.Uint64(data[i:])) {
			i += 8
		}
		for stop := min(i+8, len(data)); i < stop; i++ {
			c := data[i]
			if c == '"' {
				s.pos = i + 1
				return true
			}
			if c < 0x20 {
				return false
			}
			if c != '\\' {
				continue
			}
			n := escapeLength(data[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
		if i >= len(data) {
			return false
		}
	}
}

// hasSpecial says whether one of the eight bytes may be a quote, a backslash
// or a control character. It may say yes too often, never too rarely.
func hasSpecial(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote := w ^ (ones * '"')
	slash := w ^ (ones * '\\')
	return ((quote-ones)&^quote|(slash-ones)&^slash|(w-ones*0x20)&^w)&tops != 0
}

// escapeLength gives the length of the escape that data begins with, 0 for a
// bad one.
func escapeLength(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(data) < 6 {
			return 0
		}
		for _, c := range data[2:6] {
			if !isHex(c) {
				return 0
			}
		}
		return 6
	}
	return 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *scanner) number() bool {
	s.accept('-')
	if !s.accept('0') && !s.digits() {
		return false
	}
	if s.accept('.') && !s.digits() {
		return false
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) word(w string) bool {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) enter(c byte) bool {
	s.depth++
	return s.depth <= maxDepth && s.accept(c)
}

func (s *scanner) accept(c byte) bool {
	if s.peek() != c || s.pos >= len(s.data) {
		return false
	}
	s.pos++
	return true
}

// peek gives the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos >= len(s.data) {
		return 0
	}
	return s.data[s.pos]
}
