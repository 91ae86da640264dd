package export

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/proc"
)

const (
	// headLines and headBytes are how much of a long text is shown before the
	// rest folds away.
	headLines = 12
	headBytes = 2000
	// titleLength is how many characters stand for a text in the outline.
	titleLength = 80
)

// clean is a text without the control characters and escape sequences that
// terminals act on and browsers cannot show.
func clean(text string) string {
	if strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	var s proc.Sanitizer
	return s.Clean([]byte(text)) + s.Flush()
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError
}

// titleOf makes a title of what somebody said: its first words, without the code
// behind them.
func titleOf(text string) string {
	before, _, _ := strings.Cut(text, "```")
	if title := shorten(before); title != "" {
		return title
	}
	return shorten(text)
}

// shorten makes a text short enough for one line.
func shorten(text string) string {
	if len(text) > 8*titleLength { // enough, and a long text is not taken apart
		text = text[:8*titleLength]
	}
	short := []rune(strings.Join(strings.Fields(clean(strings.ToValidUTF8(text, ""))), " "))
	if len(short) > titleLength {
		return string(short[:titleLength-1]) + "…"
	}
	return string(short)
}

// beginning cuts a long text in two: what is shown of it, and what folds away,
// which is empty where all is shown.
func beginning(text string) (head, rest string) {
	end, lines := 0, 0
	for lines < headLines {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 || end+i >= headBytes {
			break
		}
		end += i + 1
		lines++
	}
	if lines < headLines && end < headBytes/2 { // the next line is the last, or too long
		end = min(headBytes, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
	}
	if len(text)-end < headBytes/2 && strings.Count(text[end:], "\n") < headLines/2 {
		return text, "" // not worth a click
	}
	return text[:end], text[end:]
}

// measure says how much folds away.
func measure(rest string) string {
	if lines := strings.Count(strings.TrimSuffix(rest, "\n"), "\n") + 1; lines > 1 {
		return thousands(int64(lines)) + " more lines"
	}
	return thousands(int64(utf8.RuneCountInString(rest))) + " more characters"
}

// readable is a time for people, in UTC.
func readable(timestamp string) string {
	t, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return clean(timestamp)
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// dollars is empty for nothing.
func dollars(amount float64) string {
	switch {
	case amount == 0:
		return ""
	case amount < 0.01:
		return fmt.Sprintf("$%.4f", amount)
	}
	return fmt.Sprintf("$%.2f", amount)
}

func thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// plural counts things: 1 answer, 2 answers.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(int64(n)) + " " + thing
}
