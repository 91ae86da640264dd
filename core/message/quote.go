package message

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// plain says which ASCII bytes stand for themselves in a JSON string.
var plain = func() (table [utf8.RuneSelf]bool) {
	for c := range table {
		table[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return table
}()

// AppendString appends text to dst as a JSON string. It escapes what JSON
// says must be escaped, and U+2028 and U+2029; bytes that are not UTF-8
// become U+FFFD. It is what encoding/json writes, without its care for HTML.
func AppendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if plain[c] {
				i++
				continue
			}
			dst = appendEscape(append(dst, text[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, text[start:i]...), string(utf8.RuneError)...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			dst = append(append(dst, text[start:i]...), `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(dst, text[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
