package proc_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/proc"
)

func ExampleSanitizer() {
	var s proc.Sanitizer
	text := s.Clean([]byte("\x1b[31mre")) + s.Clean([]byte("d\x1b[")) + s.Clean([]byte("0m caf\xc3")) + s.Clean([]byte("\xa9\r\n"))
	fmt.Printf("%q\n", text+s.Flush())
	// Output: "red café\n"
}

func TestSanitizer(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"colours", "\x1b[31mred\x1b[0m \x1b[1;38;5;9mx\x1b[m", "red x"},
		{"carriage returns", "a\rb\r\nc\n", "ab\nc\n"},
		{"control bytes", "x\x01y\x00z\x7f\b\f\v", "xyz"},
		{"title ended by BEL", "\x1b]0;title\x07x", "x"},
		{"title ended by ST", "\x1b]0;title\x1b\\x", "x"},
		{"link", "\x1b]8;;http://x/\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"title that never ends", "\x1b]0;title\nnext", "\nnext"},
		{"private mode", "\x1b[?25lq\x1b[?25h", "q"},
		{"character set, keypad, save", "\x1b(B\x1b=\x1b7q\x1b8", "q"},
		{"device string", "a\x1bPq#0\n#1\x1b\\b", "ab"},
		{"application command", "a\x1b_Gf=100;AAAA\x1b\\b", "ab"},
		{"cancelled", "a\x1b[3\x18b", "ab"},
		{"ESC within a sequence", "a\x1b[3\x1b[1mb", "ab"},
		{"sequence cut by a line end", "a\x1b[31\nb", "a\nb"},
		{"sequence cut by a wide character", "a\x1b[31éb", "aéb"},
		{"eight-bit introducer", "a\u009b31mb\u009d0;t\x07c\u0090x\x1b\\d\u0085e", "abcde"},
		{"bad bytes", "\xff\xfe|\xc3\xa9", "\ufffd\ufffd|é"},
		{"bad byte for the introducer", "q\x9b31m", "q\ufffd31m"},
		{"cut character at the end", "a\xe2\x82", "a\ufffd\ufffd"},
		{"escape at the end", "a\x1b", "a"},
		{"line separators stay", "a\u2028b\u2029", "a\u2028b\u2029"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cleaned(c.in); got != c.want {
				t.Errorf("whole: %q, want %q", got, c.want)
			}
			for i := range len(c.in) + 1 {
				if got := cleaned(c.in[:i], c.in[i:]); got != c.want {
					t.Errorf("cut at %d: %q, want %q", i, got, c.want)
				}
			}
		})
	}
}

func cleaned(chunks ...string) string {
	var s proc.Sanitizer
	var out strings.Builder
	for _, chunk := range chunks {
		out.WriteString(s.Clean([]byte(chunk)))
	}
	out.WriteString(s.Flush())
	return out.String()
}

func FuzzSanitizer(f *testing.F) {
	f.Add("\x1b[31mred\x1b]0;t\x07\xc3\xa9\r\n", 3, 9)
	f.Add("\x1bP\xff\x9b\u009b1m\x18", 1, 2)
	f.Fuzz(func(t *testing.T, in string, i, j int) {
		if i < 0 || j < i || len(in) < j {
			return
		}
		whole := cleaned(in)
		if parts := cleaned(in[:i], in[i:j], in[j:]); parts != whole {
			t.Fatalf("%q gives %q, but %q when cut at %d and %d", in, whole, parts, i, j)
		}
		if !utf8.ValidString(whole) {
			t.Fatalf("%q gives bad UTF-8 %q", in, whole)
		}
		for _, r := range whole {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("%q keeps the control character %U", in, r)
			}
		}
		if again := cleaned(whole); again != whole {
			t.Fatalf("%q is not clean: %q", whole, again)
		}
	})
}

func BenchmarkSanitizer(b *testing.B) {
	chunk := []byte(strings.Repeat("\x1b[32mok\x1b[0m  github.com/example/project/package\t0.123s\n", 512))
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		var s proc.Sanitizer
		s.Clean(chunk)
	}
}
