package grep

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzScan holds the search in pieces, with its short cuts, against splitting
// the whole text and trying every line.
func FuzzScan(f *testing.F) {
	f.Add("a\nb foo\r\nc\n", "fo+", false, false, 1)
	f.Add("Task\nTaſk\n\u212aelvin\n", "task|kelvin", true, false, 0)
	f.Add("x.y\nxzy", "x.y", false, true, 2)
	f.Add(strings.Repeat("line\n", 50)+"NEEDLE in it\n", "(needle) in", true, false, 3)
	f.Fuzz(func(t *testing.T, text, wanted string, ignoreCase, literal bool, around int) {
		p, err := compile(wanted, literal, ignoreCase)
		if err != nil || around < 0 || around > 5 {
			return
		}
		s := scanner{pattern: p, around: around, limit: math.MaxInt, binary: true, in: iotest.HalfReader(strings.NewReader(text))}
		if err := s.scan(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range s.lines {
			got = append(got, fmt.Sprint(l.number, l.match, l.text))
		}
		if want := slowly(text, wanted, ignoreCase, literal, around); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%q in %q (fold %v, literal %v, context %d):\n%q\nwant\n%q", wanted, text, ignoreCase, literal, around, got, want)
		}
	})
}

func slowly(text, wanted string, ignoreCase, literal bool, around int) []string {
	if literal {
		wanted = regexp.QuoteMeta(wanted)
	}
	if ignoreCase {
		wanted = "(?i:" + wanted + ")"
	}
	re := regexp.MustCompile(wanted)
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r"))
	}
	shown := map[int]bool{}
	for i, l := range lines {
		if re.MatchString(l) {
			for k := max(0, i-around); k <= i+around; k++ {
				shown[k] = true
			}
		}
	}
	var all []string
	for i, l := range lines {
		if shown[i] {
			all = append(all, fmt.Sprint(i+1, re.MatchString(l), valid([]byte(l))))
		}
	}
	return all
}

func TestScanHugeLine(t *testing.T) {
	s := scanner{pattern: &pattern{required: []byte("x")}, limit: 1, in: strings.NewReader(strings.Repeat("y", maxBuffer+2*chunk))}
	if err := s.scan(); err == nil || !strings.Contains(err.Error(), "line 1 is longer than 32 MB") {
		t.Errorf("got %v", err)
	}
}

func TestRequired(t *testing.T) {
	for _, c := range []struct {
		wanted string
		fold   bool
		want   string
	}{
		{"foo", false, "foo"}, {"fo+bar", false, "bar"}, {"(abc)+x", false, "abc"}, {"a|b", false, ""}, {"ab?c*de", false, "de"}, {"(?i)foo", false, ""}, {"x{2,}y", false, "x"},
		{"Foo.Bar", true, "foo"}, {"task", true, "ta"}, {"KISS", true, "i"}, {"ſk", true, ""}, {"é-1", true, "-1"}, {"", false, ""},
	} {
		p, err := compile(c.wanted, false, c.fold)
		if err != nil || string(p.required) != c.want {
			t.Errorf("%q, fold %v: %q, %v; want %q", c.wanted, c.fold, p.required, err, c.want)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog, again and again\n", 20000)
	for _, c := range []struct {
		name, wanted string
		fold         bool
	}{{"literal", "needle", false}, {"fold", "Needle", true}, {"class", "[0-9]+x", false}} {
		b.Run(c.name, func(b *testing.B) {
			p, err := compile(c.wanted, false, c.fold)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := scanner{pattern: p, limit: 100, in: strings.NewReader(text)}
				if err := s.scan(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
