package sse_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-54e836f5/pi/core/provider/internal/sse"
)

type event struct{ Name, Data string }

func readAll(source io.Reader) (events []event, err error) {
	r := sse.NewReader(source)
	for {
		e, err := r.Next()
		if err != nil {
			if _, again := r.Next(); !errors.Is(again, err) {
				return events, errors.New("the error was not given again")
			}
			return events, err
		}
		events = append(events, event{e.Name, string(e.Data)})
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for name, c := range map[string]struct {
		stream string
		want   []event
	}{
		"empty":                     {"", nil},
		"blank lines":               {"\n\n\r\n\r\r", nil},
		"one":                       {"data: a\n\n", []event{{"", "a"}}},
		"named":                     {"event: x\ndata: a\n\ndata: b\n\n", []event{{"x", "a"}, {"", "b"}}},
		"name behind the data":      {"data: a\nevent: x\n\n", []event{{"x", "a"}}},
		"no blank behind the colon": {"event:x\ndata:a\n\n", []event{{"x", "a"}}},
		"one blank goes":            {"data:  a\n\n", []event{{"", " a"}}},
		"CR LF":                     {"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []event{{"x", "a"}, {"", "b"}}},
		"CR":                        {"event: x\rdata: a\r\rdata: b\r\r", []event{{"x", "a"}, {"", "b"}}},
		"several data lines":        {"data: a\ndata\ndata: b\n\n", []event{{"", "a\n\nb"}}},
		"empty data":                {"data:\n\n", []event{{"", ""}}},
		"comments and other fields": {": ping\nid: 4\nretry: 5\ndata: a\n: x\n\n:\n\n", []event{{"", "a"}}},
		"a name alone is no event":  {"event: x\n\ndata: a\n\n", []event{{"", "a"}}},
		"no final blank line":       {"data: a\n\ndata: b\n", []event{{"", "a"}, {"", "b"}}},
		"no final line end":         {"data: a\n\ndata: b", []event{{"", "a"}, {"", "b"}}},
		"byte order mark":           {"\ufeffdata: a\n\n", []event{{"", "a"}}},
		"long line":                 {"data: " + long + "\n\ndata: b\n\n", []event{{"", long}, {"", "b"}}},
		"line separators in JSON":   {"data: \u2028\u2029\u0085\n\n", []event{{"", "\u2028\u2029\u0085"}}},
	} {
		for kind, source := range map[string]io.Reader{
			"at once":           strings.NewReader(c.stream),
			"byte by byte":      iotest.OneByteReader(strings.NewReader(c.stream)),
			"end with the data": iotest.DataErrReader(strings.NewReader(c.stream)),
		} {
			got, err := readAll(source)
			if err != io.EOF {
				t.Errorf("%s, %s: error %v", name, kind, err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, %s: got %.200q, want %.200q", name, kind, got, c.want)
			}
		}
	}
}

func TestAnEventIsGivenBeforeMoreArrives(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		source, server := io.Pipe()
		go func() {
			_, _ = io.WriteString(server, "data: a"+end)
			// The rest is written only when the first event was read.
		}()
		r := sse.NewReader(source)
		if e, err := r.Next(); err != nil || string(e.Data) != "a" {
			t.Fatalf("%q: %q, %v", end, e.Data, err)
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("%q: %v at the end", end, err)
		}
	}
}

func TestAnErrorOfTheSourceComesBehindWholeEvents(t *testing.T) {
	broken := errors.New("broken")
	got, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !reflect.DeepEqual(got, []event{{"", "a"}}) {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestASourceThatGivesNothing(t *testing.T) {
	if _, err := readAll(readerFunc(func([]byte) (int, error) { return 0, nil })); !errors.Is(err, io.ErrNoProgress) {
		t.Fatalf("error %v", err)
	}
}

func TestLinesAndEventsHaveALimit(t *testing.T) {
	x := bytes.Repeat([]byte("x"), 1<<20)
	endless := readerFunc(func(p []byte) (int, error) { return copy(p, x), nil })
	if _, err := readAll(io.MultiReader(strings.NewReader("data: "), endless)); !errors.Is(err, sse.ErrTooLong) {
		t.Errorf("one endless line: %v", err)
	}
	line := append(append([]byte("data: "), x...), '\n')
	var lines []io.Reader
	for range 70 {
		lines = append(lines, bytes.NewReader(line))
	}
	if _, err := readAll(io.MultiReader(lines...)); !errors.Is(err, sse.ErrTooLong) {
		t.Errorf("many lines of one event: %v", err)
	}
}

func TestPeekAndRest(t *testing.T) {
	r := sse.NewReader(iotest.OneByteReader(strings.NewReader(" \r\n {\"error\": 1}\n")))
	c, err := r.Peek()
	if err != nil || c != '{' {
		t.Fatalf("peeked %q, %v", c, err)
	}
	rest, err := r.Rest(100)
	if err != nil || strings.TrimSpace(string(rest)) != `{"error": 1}` {
		t.Fatalf("rest %q, %v", rest, err)
	}
	if _, err := sse.NewReader(strings.NewReader("\n\n")).Peek(); err != io.EOF {
		t.Fatalf("nothing to peek at: %v", err)
	}
}

// FuzzReader reads the same bytes in pieces of different sizes, and all at
// once by the plainest rules there are.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "\r", "data", ":", "data: a\n\n", "event: x\r\ndata: a\r\n\r\n", "data: a\r\rdata: b\r\r",
		"\ufeffevent: message_start\ndata: {\"type\":\"message_start\"}\n\n", "data: [DONE]", "id: 1\ndata:\ndata: \n\n",
		"data: a\r\n\n\r", "event\n\ndata\n\n",
	} {
		f.Add([]byte(seed), int64(1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed int64) {
		want := plain(string(stream))
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		rest := stream
		pieces := readerFunc(func(p []byte) (int, error) {
			if len(rest) == 0 {
				return 0, io.EOF
			}
			n := copy(p[:min(len(p), 1+random.IntN(8))], rest)
			rest = rest[n:]
			return n, nil
		})
		for kind, source := range map[string]io.Reader{"at once": bytes.NewReader(stream), "in pieces": pieces} {
			got, err := readAll(source)
			if err != io.EOF {
				t.Fatalf("%s: error %v", kind, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: %q gives %q, want %q", kind, stream, got, want)
			}
		}
	})
}

func plain(stream string) (events []event) {
	var name string
	var data []string
	stream = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(stream)
	flush := func() {
		if data != nil {
			events = append(events, event{name, strings.Join(data, "\n")})
		}
		name, data = "", nil
	}
	for _, line := range strings.Split(strings.TrimPrefix(stream, "\ufeff"), "\n") {
		if line == "" {
			flush()
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			data = append(data, value)
		}
	}
	flush()
	return events
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func BenchmarkReader(b *testing.B) {
	one := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"xxxx \"}}\n\n"
	stream := strings.Repeat(one, 1000)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		r := sse.NewReader(strings.NewReader(stream))
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/event")
}
