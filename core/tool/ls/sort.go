package ls

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// sortKey turns a name into what it is ordered by: for each base character
// its class, then the character in lower case.
func sortKey(name string) []rune {
	key := make([]rune, 0, len(name))
	for _, r := range norm.NFD.String(name) {
		if unicode.Is(unicode.Mn, r) {
			continue // an accent
		}
		r = unicode.ToLower(r)
		key = append(key, r+class(r)<<24)
	}
	return key
}

func class(r rune) rune {
	switch {
	case r == '/':
		return 0 // a folder comes with its name, not with its mark
	case unicode.IsLetter(r):
		return 3
	case unicode.IsDigit(r):
		return 2
	}
	return 1
}
