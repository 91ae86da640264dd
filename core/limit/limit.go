// Package limit cuts text to what a model is given of it: so many lines, so
// many bytes, from the head or from the tail, with the details that say what
// was left out.
//
// It imports the standard library only. All functions are pure and may be
// called from any goroutine.
package limit

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// What a model is given of one text unless a caller says otherwise.
const (
	Lines = 2000
	Bytes = 50 * 1024
)

// NoLines stands for no limit of lines. Truncation.MaxLines is the largest
// integer then that every JSON reader keeps.
const NoLines = math.MaxInt

// The two words of Truncation.TruncatedBy.
const (
	ByLines = "lines"
	ByBytes = "bytes"
)

// Truncation says how a text was cut. Its JSON form is that of
// details.truncation in the reference agent's tool results. Sizes are bytes of
// UTF-8; a newline at the very end does not begin a line.
type Truncation struct {
	Content     string `json:"content"` // what was kept, without notice
	Truncated   bool   `json:"truncated"`
	TruncatedBy string `json:"truncatedBy"` // lines or bytes
	TotalLines  int    `json:"totalLines"`
	TotalBytes  int    `json:"totalBytes"`
	OutputLines int    `json:"outputLines"`
	OutputBytes int    `json:"outputBytes"`
	// LastLinePartial: the one line kept is the end of a longer one.
	LastLinePartial bool `json:"lastLinePartial"`
	// FirstLineExceedsLimit: nothing was kept, since the first line alone is
	// over the limit of bytes.
	FirstLineExceedsLimit bool  `json:"firstLineExceedsLimit"`
	MaxLines              int64 `json:"maxLines"`
	MaxBytes              int   `json:"maxBytes"`
}

// CountLines counts the lines of a text; a newline at the end does not begin
// one, and an empty text has none.
func CountLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// Head keeps whole lines from the start. The second result is nil where the
// text fits; the first is then the text as it was.
func Head(text string, maxLines, maxBytes int) (string, *Truncation) {
	return HeadOf(text, CountLines(text), len(text), maxLines, maxBytes)
}

// HeadOf is Head for a text of which only the beginning is at hand: more than
// maxBytes of it, or all. The totals are those of the whole text.
func HeadOf(text string, totalLines, totalBytes, maxLines, maxBytes int) (string, *Truncation) {
	if totalLines <= maxLines && totalBytes <= maxBytes {
		return text, nil
	}
	t := truncation(totalLines, totalBytes, maxLines, maxBytes)
	kept := 0 // bytes, without the newline that ends the last line kept
	for pos := 0; pos < len(text) && t.OutputLines < maxLines; {
		end := len(text)
		if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
			end = pos + i
		}
		if end > maxBytes {
			t.TruncatedBy = ByBytes
			break
		}
		t.OutputLines++
		kept = end
		pos = end + 1
	}
	t.Content = text[:kept]
	t.OutputBytes = kept
	t.FirstLineExceedsLimit = t.OutputLines == 0
	return t.Content, t
}

// TailOf keeps whole lines from the end of a text of which only the end is at
// hand: more than maxBytes+1 bytes of it, or all. Where not even the last line
// fits, the end of that line is kept. The totals are those of the whole text.
// The second result is nil where the text fits; the first is then the text as
// it was. Text that is cut loses the newline at its end.
func TailOf(text string, totalLines, totalBytes, maxLines, maxBytes int) (string, *Truncation) {
	if totalLines <= maxLines && totalBytes <= maxBytes {
		return text, nil
	}
	t := truncation(totalLines, totalBytes, maxLines, maxBytes)
	text = strings.TrimSuffix(text, "\n")
	from := len(text) // where what is kept begins
	for pos := len(text); pos >= 0 && t.OutputLines < maxLines; {
		start := strings.LastIndexByte(text[:pos], '\n') + 1
		if len(text)-start > maxBytes {
			t.TruncatedBy = ByBytes
			break
		}
		t.OutputLines++
		from = start
		pos = start - 1
	}
	if t.OutputLines == 0 {
		from = runeStart(text, len(text)-maxBytes)
		t.OutputLines = 1
		t.LastLinePartial = true
	}
	t.Content = text[from:]
	t.OutputBytes = len(t.Content)
	return t.Content, t
}

func truncation(totalLines, totalBytes, maxLines, maxBytes int) *Truncation {
	const largest = 1<<53 - 1
	return &Truncation{
		Truncated: true, TruncatedBy: ByLines,
		TotalLines: totalLines, TotalBytes: totalBytes,
		MaxLines: min(int64(maxLines), largest), MaxBytes: maxBytes,
	}
}

// runeStart is the first place at or behind i where a character begins.
func runeStart(text string, i int) int {
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}

// Size writes a number of bytes for people: 0B, 58.6KB, 1.2MB.
func Size[N int | int64](n N) string {
	const kilo = 1024
	switch {
	case n < kilo:
		return fmt.Sprintf("%dB", n)
	case n < kilo*kilo:
		return fmt.Sprintf("%.1fKB", float64(n)/kilo)
	case n < kilo*kilo*kilo:
		return fmt.Sprintf("%.1fMB", float64(n)/(kilo*kilo))
	}
	return fmt.Sprintf("%.1fGB", float64(n)/(kilo*kilo*kilo))
}
