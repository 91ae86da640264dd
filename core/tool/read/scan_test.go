package read

import (
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzScan holds the streaming reader against splitting the whole text.
func FuzzScan(f *testing.F) {
	f.Add("a\nb\nc\n", 1, 1)
	f.Add("a\nb", 0, -1)
	f.Add("\n\n\xff\n", 2, 5)
	f.Add("", 0, 0)
	f.Fuzz(func(t *testing.T, text string, from, count int) {
		if from < 0 || from > 1000 || count < -1 || count > 1000 || len(text) > 50000 {
			return
		}
		got, err := scan(t.Context(), iotest.HalfReader(strings.NewReader(text)), selection{from, count})
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Split(text, "\n")
		if got.fileLines != len(all) {
			t.Fatalf("%q has %d lines, want %d", text, got.fileLines, len(all))
		}
		part := all[min(from, len(all)):]
		if count >= 0 {
			part = part[:min(count, len(part))]
		}
		want := valid(strings.Join(part, "\n"))
		lines := strings.Count(want, "\n")
		if want != "" && !strings.HasSuffix(want, "\n") {
			lines++
		}
		if got.text != want || got.bytes != len(want) || got.lines != lines {
			t.Fatalf("%q from %d, %d lines: %+v, want %q", text, from, count, got, want)
		}
		if first, _, _ := strings.Cut(strings.Join(part, "\n"), "\n"); got.firstLine != len(first) {
			t.Fatalf("%q from %d: the first line has %d bytes, want %d", text, from, got.firstLine, len(first))
		}
	})
}
