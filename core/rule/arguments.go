package rule

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// written says in which arguments of a tool stands what it writes to files.
// Rules look at that alone, so that a text which an edit takes away is none
// that the model writes.
var written = map[string][]string{"edit": {"newText"}, "write": {"content"}}

// The bounds of what is remembered of arguments, which come from a model.
const (
	argumentsDepth = 64
	nameLength     = 4 << 10
)

// arguments reads the JSON of a tool call as it streams: what it writes, and
// the files that it is about. What is no JSON comes to nothing.
type arguments struct {
	keys  []string // of what is written
	files []string // that it is about: path, or paths

	levels  []level
	inside  bool   // of a string
	isKey   bool   // which is the name of a member
	escape  int    // 0: none; 1: behind a backslash; 2 to 5: hexadecimal digits to come
	code    rune   // of the escape so far
	high    rune   // first half of a pair of escapes; 0: none
	text    []byte // of a string that is remembered
	stopped bool   // it is nested too deep
}

// level is an object or array that is open.
type level struct {
	object    bool
	expectKey bool
	key       string // of the member that is read; in an array, of the array
}

// read takes the next piece and gives what it writes, with the end of a line
// behind each text.
func (a *arguments) read(piece string) (source []byte) {
	for i := 0; i < len(piece) && !a.stopped; i++ {
		if !a.inside {
			a.outside(piece[i])
			continue
		}
		if a.escape == 0 {
			plain := strings.IndexAny(piece[i:], "\"\\")
			if plain < 0 {
				plain = len(piece) - i
			}
			if plain > 0 {
				source = a.put(source, piece[i:i+plain])
				i += plain - 1
				continue
			}
		}
		source = a.special(piece[i], source)
	}
	return source
}

func (a *arguments) top() *level {
	if len(a.levels) == 0 {
		return &level{}
	}
	return &a.levels[len(a.levels)-1]
}

func (a *arguments) outside(c byte) {
	top := a.top()
	switch c {
	case '"':
		a.inside, a.isKey, a.text = true, top.object && top.expectKey, a.text[:0]
	case '{', '[':
		if len(a.levels) == argumentsDepth {
			a.stopped = true
			return
		}
		next := level{object: c == '{', expectKey: c == '{'}
		if c == '[' {
			next.key = top.key
		}
		a.levels = append(a.levels, next)
	case '}', ']':
		if len(a.levels) > 0 {
			a.levels = a.levels[:len(a.levels)-1]
		}
	case ':':
		top.expectKey = false
	case ',':
		top.expectKey = top.object
	}
}

// special takes a byte in a string that does not stand for itself.
func (a *arguments) special(c byte, source []byte) []byte {
	switch {
	case a.escape == 1:
		a.escape = 0
		if c == 'u' {
			a.escape, a.code = 5, 0
			return source
		}
		return a.put(source, unescaped(c))
	case a.escape > 1:
		a.code = a.code<<4 | hexDigit(c)
		if a.escape--; a.escape > 1 {
			return source
		}
		a.escape = 0
		return a.putCode(source)
	case c == '\\':
		a.escape = 1
		return source
	}
	return a.endString(a.putHigh(source))
}

func (a *arguments) putCode(source []byte) []byte {
	if a.high != 0 {
		if r := utf16.DecodeRune(a.high, a.code); r != utf8.RuneError {
			a.high = 0
			return a.put(source, string(r))
		}
	}
	source = a.putHigh(source)
	if 0xD800 <= a.code && a.code < 0xDC00 {
		a.high = a.code
		return source
	}
	return a.put(source, string(a.code)) // a lone half becomes U+FFFD
}

// putHigh puts a first half that no second one followed.
func (a *arguments) putHigh(source []byte) []byte {
	if a.high == 0 {
		return source
	}
	a.high = 0
	return a.put(source, string(utf8.RuneError))
}

func (a *arguments) put(source []byte, text string) []byte {
	if a.high != 0 {
		source = a.putHigh(source)
	}
	if !a.isKey && slices.Contains(a.keys, a.top().key) {
		return append(source, text...)
	}
	if len(a.text) < nameLength {
		a.text = append(a.text, text...)
	}
	return source
}

func (a *arguments) endString(source []byte) []byte {
	a.inside = false
	top := a.top()
	switch {
	case a.isKey:
		top.key = string(a.text)
	case slices.Contains(a.keys, top.key):
		return append(source, '\n')
	case top.key == "path" && len(a.levels) == 1, top.key == "paths" && len(a.levels) <= 2:
		a.files = append(a.files, filepath.ToSlash(string(a.text)))
	}
	return source
}

var escapes = map[byte]string{'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t"}

func unescaped(c byte) string {
	if is, ok := escapes[c]; ok {
		return is
	}
	return string([]byte{c})
}

func hexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return 0
}
