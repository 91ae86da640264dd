package limit_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/limit"
)

func ExampleHead() {
	text, cut := limit.Head("one\ntwo\nthree\n", 2, limit.Bytes)
	fmt.Printf("%q: %d of %d lines\n", text, cut.OutputLines, cut.TotalLines)
	// Output: "one\ntwo": 2 of 3 lines
}

// numbers are the parts of a truncation that the wire shows, less content.
type numbers struct {
	by                               string
	totalLines, totalBytes           int
	outputLines, outputBytes         int
	lastLinePartial, firstLineTooBig bool
}

func of(t *limit.Truncation) numbers {
	return numbers{t.TruncatedBy, t.TotalLines, t.TotalBytes, t.OutputLines, t.OutputBytes, t.LastLinePartial, t.FirstLineExceedsLimit}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d\n", i+1)
	}
	return b.String()
}

func TestHead(t *testing.T) {
	long := strings.Repeat("x", 60000)
	for _, c := range []struct {
		name, text string
		want       *numbers
		kept       string
	}{
		{"empty", "", nil, ""},
		{"exactly 2000 lines", numbered(2000), nil, numbered(2000)},
		{"2001 lines", numbered(2001), &numbers{"lines", 2001, 8898, 2000, 8892, false, false}, strings.TrimSuffix(numbered(2000), "\n")},
		{"2001 lines, no newline at the end", strings.TrimSuffix(numbered(2001), "\n"), &numbers{"lines", 2001, 8897, 2000, 8892, false, false}, strings.TrimSuffix(numbered(2000), "\n")},
		{"first line too long", long + "\nsecond\n", &numbers{"bytes", 2, 60008, 0, 0, false, true}, ""},
		{"second line too long", "first\n" + long + "\nthird\n", &numbers{"bytes", 3, 60013, 1, 5, false, false}, "first"},
		{"first line just fits", long[:limit.Bytes] + "\nsecond", &numbers{"bytes", 2, 51207, 1, 51200, false, false}, long[:limit.Bytes]},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, cut := limit.Head(c.text, limit.Lines, limit.Bytes)
			check(t, kept, cut, c.kept, c.want)
		})
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat("x", 60000)
	for _, c := range []struct {
		name, text string
		want       *numbers
		kept       string
	}{
		{"empty", "", nil, ""},
		{"fits, newline kept", "a\nb\n", nil, "a\nb\n"},
		{"3000 lines", numbered(3000), &numbers{"lines", 3000, 13893, 2000, 9999, false, false}, strings.TrimSuffix(numbered(3000)[len(numbered(1000)):], "\n")},
		{"one long line", long, &numbers{"bytes", 1, 60000, 1, 51200, true, false}, long[:limit.Bytes]},
		{"one long line and a newline", long + "\n", &numbers{"bytes", 1, 60001, 1, 51200, true, false}, long[:limit.Bytes]},
		{"long line, short line", long + "\nend\n", &numbers{"bytes", 2, 60005, 1, 3, false, false}, "end"},
		{"short line, long line", "start\n" + long, &numbers{"bytes", 2, 60006, 1, 51200, true, false}, long[:limit.Bytes]},
		{"long line, empty line", long + "\n\n", &numbers{"bytes", 2, 60002, 1, 0, false, false}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, cut := limit.TailOf(c.text, limit.CountLines(c.text), len(c.text), limit.Lines, limit.Bytes)
			check(t, kept, cut, c.kept, c.want)
		})
	}
}

func check(t *testing.T, kept string, cut *limit.Truncation, wantKept string, want *numbers) {
	t.Helper()
	if kept != wantKept {
		t.Errorf("kept %d bytes %.40q, want %d bytes %.40q", len(kept), kept, len(wantKept), wantKept)
	}
	switch {
	case want == nil && cut != nil:
		t.Errorf("cut %+v, want none", of(cut))
	case want != nil && cut == nil:
		t.Errorf("not cut, want %+v", *want)
	case want != nil && of(cut) != *want:
		t.Errorf("cut %+v, want %+v", of(cut), *want)
	case cut != nil && (cut.Content != kept || !cut.Truncated || cut.MaxLines != int64(limit.Lines) || cut.MaxBytes != limit.Bytes):
		t.Errorf("details do not repeat the text and the limits")
	}
}

func TestTailCutsBetweenCharacters(t *testing.T) {
	text := strings.Repeat("é", 40000)
	kept, _ := limit.TailOf(text, 1, len(text), limit.Lines, limit.Bytes-1)
	if !utf8.ValidString(kept) || len(kept) != limit.Bytes-2 {
		t.Errorf("kept %d bytes, valid %v", len(kept), utf8.ValidString(kept))
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 1024: "1.0KB", 51200: "50.0KB", 60000: "58.6KB", 3 << 20: "3.0MB", 5 << 29: "2.5GB"} {
		if got := limit.Size(n); got != want {
			t.Errorf("Size(%d) = %s, want %s", n, got, want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a\nb\nc\n", 2, 3)
	f.Add("\n\n\n", 1, 1)
	f.Add("ééé", 1, 3)
	f.Fuzz(func(t *testing.T, text string, maxLines, maxBytes int) {
		if maxLines < 1 || maxBytes < 4 || maxLines > 1<<30 || maxBytes > 1<<30 {
			return
		}
		head, cut := limit.Head(text, maxLines, maxBytes)
		if !strings.HasPrefix(text, head) || limit.CountLines(head) > maxLines || len(head) > maxBytes || (cut == nil) != (head == text && limit.CountLines(text) <= maxLines && len(text) <= maxBytes) {
			t.Fatalf("head of %q at %d, %d: %q", text, maxLines, maxBytes, head)
		}
		tail, cut := limit.TailOf(text, limit.CountLines(text), len(text), maxLines, maxBytes)
		whole := text
		if cut != nil {
			whole = strings.TrimSuffix(text, "\n")
		}
		if !strings.HasSuffix(whole, tail) || limit.CountLines(tail) > maxLines || len(tail) > maxBytes || cut == nil && tail != text {
			t.Fatalf("tail of %q at %d, %d: %q", text, maxLines, maxBytes, tail)
		}
		if utf8.ValidString(text) && !utf8.ValidString(tail) {
			t.Fatalf("tail of %q at %d bytes is cut inside a character: %q", text, maxBytes, tail)
		}
	})
}
