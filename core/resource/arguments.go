package resource

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitArguments splits what stands behind a command at runs of white space.
// Quotes group, and "" is an argument. A quote without its partner is a
// letter, and so is an apostrophe inside a word, as in doesn't. A backslash
// is a letter too: the text is written by people, not for a shell.
func splitArguments(text string) []string {
	var args []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if length := quoted(text, i); length > 0 {
			word.WriteString(text[i+1 : i+length-1])
			inWord = true
			i += length
			continue
		}
		if !unicode.IsSpace(r) {
			word.WriteString(text[i : i+size])
			inWord = true
		} else if inWord {
			args = append(args, word.String())
			word.Reset()
			inWord = false
		}
		i += size
	}
	if inWord {
		args = append(args, word.String())
	}
	return args
}

// quoted gives the length of the quoted text that begins at i, quotes
// included; 0: none begins there.
func quoted(text string, i int) int {
	quote := text[i]
	if quote != '"' && quote != '\'' || quote == '\'' && letterBefore(text, i) {
		return 0
	}
	for j := i + 1; j < len(text); j++ {
		inside := quote == '\'' && letterBefore(text, j) && letterAfter(text, j)
		if text[j] == quote && !inside {
			return j + 1 - i
		}
	}
	return 0
}

func letterBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return isWordRune(r)
}

func letterAfter(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i+1:])
	return isWordRune(r)
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// placeholder is what a template may have in it: ${1:-default}, ${@:-default},
// ${ARGUMENTS:-default}, ${@:N}, ${@:N:L}, $1, $@ and $ARGUMENTS.
var placeholder = regexp.MustCompile(`\$\{(\d+|@|ARGUMENTS):-([^}]*)\}|\$\{@:(\d+)(?::(\d+))?\}|\$(\d+|@|ARGUMENTS)`)

// substitute fills a template. It goes over the template once, so what looks
// like a placeholder in an argument stays what it is.
func substitute(body string, args []string) string {
	return replaceAll(placeholder, body, func(m []string) string {
		switch {
		case m[1] != "":
			if value := argument(m[1], args); value != "" {
				return value
			}
			return m[2]
		case m[3] != "":
			return slice(m[3], m[4], args)
		default:
			return argument(m[5], args)
		}
	})
}

// argument gives $1 and so on, or all for @ and ARGUMENTS; "" for one that is
// not there.
func argument(name string, args []string) string {
	if name == "@" || name == "ARGUMENTS" {
		return strings.Join(args, " ")
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(args) {
		return args[n-1]
	}
	return ""
}

// slice gives length arguments from the one numbered first; length "" is all
// that follow.
func slice(first, length string, args []string) string {
	from, err := strconv.Atoi(first)
	if err != nil || from > len(args) {
		return ""
	}
	args = args[max(from, 1)-1:]
	if count, err := strconv.Atoi(length); err == nil && count < len(args) {
		args = args[:count]
	}
	return strings.Join(args, " ")
}

func replaceAll(re *regexp.Regexp, text string, value func(groups []string) string) string {
	var out strings.Builder
	at := 0
	for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(text[at:m[0]])
		groups := make([]string, len(m)/2)
		for i := range groups {
			if m[2*i] >= 0 {
				groups[i] = text[m[2*i]:m[2*i+1]]
			}
		}
		out.WriteString(value(groups))
		at = m[1]
	}
	out.WriteString(text[at:])
	return out.String()
}
