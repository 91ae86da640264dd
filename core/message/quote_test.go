package message_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/message"
)

func FuzzAppendString(f *testing.F) {
	for _, text := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "<&>", "é✓😀", "a\u2028b\u2029", "\xff\xe2\x80", "\ufffd"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := message.AppendString([]byte("x"), text)
		var back string
		if err := json.Unmarshal(got[1:], &back); err != nil {
			t.Fatalf("%q is written as %s: %v", text, got, err)
		}
		if want := string([]rune(text)); back != want {
			t.Errorf("%q comes back as %q, want %q", text, back, want)
		}
		if !utf8.Valid(got) || strings.ContainsAny(string(got), "\n\r\u2028\u2029") {
			t.Errorf("%q is written as %q", text, got)
		}
	})
}

func BenchmarkAppendString(b *testing.B) {
	for name, text := range map[string]string{"plain": "a word or two ", "mixed": "say \"é✓\"\n"} {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			for b.Loop() {
				dst = message.AppendString(dst[:0], text)
			}
		})
	}
}
