package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
)

func lines(t testing.TB, src io.Reader) []string {
	t.Helper()
	var got []string
	for r := jsonl.NewReader(src); ; {
		line, err := r.Next()
		if err == io.EOF {
			return got
		}
		if err != nil {
			t.Fatalf("line %d: %v", len(got), err)
		}
		got = append(got, string(line))
	}
}

func TestReaderLines(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one", "a\n", []string{"a"}},
		{"last without its end", "a\nb", []string{"a", "b"}},
		{"blank lines are lines", "\n\n a \n", []string{"", "", " a "}},
		{"carriage return before the end", "a\r\nb\r\r\n\r\n", []string{"a", "b\r", ""}},
		{"carriage return inside", "a\rb\n", []string{"a\rb"}},
		{"carriage return at the end of input", "a\r", []string{"a"}},
		{"Unicode separators do not split", "a\u2028b\u2029c\u0085d\n", []string{"a\u2028b\u2029c\u0085d"}},
		{"bytes that are not UTF-8", "x\xff\xfey\n\xe2\x80\n", []string{"x\ufffd\ufffdy", "\ufffd\ufffd"}},
		{"byte order mark stays", "\ufeff{}\n", []string{"\ufeff{}"}},
		{"NUL stays", "a\x00b\n", []string{"a\x00b"}},
		{"longer than the buffer", long + "\r\n" + long + "y\nz\n", []string{long, long + "y", "z"}},
		{"long and unfinished", "a\n" + long, []string{"a", long}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"at once":        strings.NewReader(test.in),
				"byte by byte":   iotest.OneByteReader(strings.NewReader(test.in)),
				"half reads":     iotest.HalfReader(strings.NewReader(test.in)),
				"data with EOF":  iotest.DataErrReader(strings.NewReader(test.in)),
				"uneven reads":   &uneven{data: []byte(test.in), rand: rand.New(rand.NewPCG(1, 2))},
				"empty reads in": &uneven{data: []byte(test.in), rand: rand.New(rand.NewPCG(3, 4)), empty: true},
			} {
				if got := lines(t, src); !slices.Equal(got, test.want) {
					t.Errorf("%s: got %.80q, want %.80q", name, got, test.want)
				}
			}
		})
	}
}

func TestReaderSkipsLinesAboveItsLimit(t *testing.T) {
	for _, size := range []int{10, 100 << 10} {
		fits, over := strings.Repeat("x", size), strings.Repeat("y", size+1)
		r := jsonl.NewReader(strings.NewReader(fits + "\n" + over + "\n" + over + "\r\n" + fits + "\r\n" + over))
		r.Limit = size
		for i, want := range []string{fits, "", "", fits, ""} {
			line, err := r.Next()
			if string(line) != want || errors.Is(err, jsonl.ErrTooLong) != (want == "") {
				t.Errorf("size %d, line %d: got %.20q, %v", size, i, line, err)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("size %d: got %v at the end, want EOF", size, err)
		}
	}
}

func TestReaderReportsFailureAfterTheLastLine(t *testing.T) {
	broken := errors.New("broken")
	r := jsonl.NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	for _, want := range []string{"a", "b"} {
		if line, err := r.Next(); string(line) != want || err != nil {
			t.Fatalf("got %q, %v, want %q", line, err, want)
		}
	}
	for range 2 {
		if _, err := r.Next(); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
	}
}

func TestReaderGivesUpOnASourceThatNeverMoves(t *testing.T) {
	if _, err := jsonl.NewReader(stuck{}).Next(); err != io.ErrNoProgress {
		t.Errorf("got %v, want %v", err, io.ErrNoProgress)
	}
}

func TestReaderKeepsNothingOfALongLine(t *testing.T) {
	const size = 64 << 20
	r := jsonl.NewReader(io.MultiReader(io.LimitReader(xs{}, size), strings.NewReader("\nshort\n")))
	before := heap()
	line, err := r.Next()
	if len(line) != size || err != nil {
		t.Fatalf("got %d bytes, %v", len(line), err)
	}
	line = nil //nolint:ineffassign,wastedassign // what heap measures must not hold it
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("%d KiB are held after the line was given", grown>>10)
	}
	runtime.KeepAlive(r)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

type xs struct{}

func (xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// uneven gives reads of changing length, and empty ones in between.
type uneven struct {
	data  []byte
	rand  *rand.Rand
	empty bool
}

func (u *uneven) Read(p []byte) (int, error) {
	if len(u.data) == 0 {
		return 0, io.EOF
	}
	if u.empty && u.rand.IntN(2) == 0 {
		return 0, nil
	}
	n := copy(p[:min(len(p), 1+u.rand.IntN(5000))], u.data)
	u.data = u.data[n:]
	return n, nil
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\xff\n\r"), uint16(7))
	f.Add(bytes.Repeat([]byte("long\r"), 14000), uint16(4096))
	f.Fuzz(func(t *testing.T, in []byte, seed uint16) {
		var want []string
		for _, line := range bytes.SplitAfter(in, []byte("\n")) {
			if len(line) > 0 {
				text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
				want = append(want, string([]rune(string(text))))
			}
		}
		got := lines(t, &uneven{data: in, rand: rand.New(rand.NewPCG(uint64(seed), 0))})
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func ExampleReader() {
	r := jsonl.NewReader(strings.NewReader("{\"type\":\"abort\"}\r\n{\"type\":\"get_state\"}"))
	for {
		line, err := r.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s\n", line)
	}
	// Output:
	// {"type":"abort"}
	// {"type":"get_state"}
	// EOF
}

func BenchmarkReader(b *testing.B) {
	for _, size := range []int{100, 10 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("line=%d", size), func(b *testing.B) {
			line := append(bytes.Repeat([]byte("x"), size), '\n')
			r := jsonl.NewReader(&repeat{line: line})
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repeat is a line without end.
type repeat struct {
	line []byte
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m := copy(p[n:], r.line[r.at:])
		n += m
		r.at = (r.at + m) % len(r.line)
	}
	return n, nil
}
