package jsonl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder notes each write. While gate is not nil a write takes one value
// from it first.
type recorder struct {
	gate chan struct{}
	mu   sync.Mutex
	all  []string
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.gate != nil {
		<-r.gate
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, string(p))
	return len(p), nil
}

func (r *recorder) writes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

func TestWriterWritesAtOnceWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out recorder
		w := jsonl.NewWriter(&out)
		for i := range 3 {
			check(t, w.Write([]byte("1")))
			synctest.Wait()
			if got := len(out.writes()); got != i+1 {
				t.Errorf("%d writes after %d records", got, i+1)
			}
		}
		check(t, w.Close(t.Context()))
	})
}

func TestWriterJoinsRecordsWhenBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := recorder{gate: make(chan struct{})}
		w := jsonl.NewWriter(&out)
		check(t, w.Write([]byte("0")))
		synctest.Wait()
		for i := 1; i <= 1000; i++ {
			check(t, w.Write(fmt.Append(nil, i)))
		}
		close(out.gate)
		check(t, w.Close(t.Context()))
		if got := out.writes(); len(got) != 2 || strings.Count(got[1], "\n") != 1000 {
			t.Errorf("1000 waiting records took %d writes", len(got)-1)
		}
	})
}

func TestWriterKeepsOrderAndLosesNothing(t *testing.T) {
	const producers, records = 8, 5000
	in, out := io.Pipe()
	w := jsonl.NewWriter(out)
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range records {
				record := fmt.Appendf(nil, `[%d,%d,%q]`, p, i, strings.Repeat("x", i%300))
				if i%5 == 0 {
					check(t, w.Push(record))
				} else {
					check(t, w.Write(record))
				}
			}
		})
	}
	go func() {
		wg.Wait()
		check(t, w.Close(t.Context()))
		check(t, out.Close())
	}()
	var next [producers]int
	for _, line := range lines(t, in) {
		var p, i int
		if _, err := fmt.Sscanf(line, "[%d,%d,", &p, &i); err != nil {
			t.Fatalf("torn record %q", line)
		}
		if i != next[p] {
			t.Fatalf("producer %d: record %d where %d was due", p, i, next[p])
		}
		next[p]++
	}
	for p, n := range next {
		if n != records {
			t.Errorf("producer %d: %d of %d records came", p, n, records)
		}
	}
}

func TestWriterBlocksWhenNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		w := jsonl.NewWriter(out)
		record := bytes.Repeat([]byte("x"), 1000)
		sent := 0
		go func() {
			for ; sent < 5000; sent++ {
				check(t, w.Write(bytes.Clone(record)))
			}
		}()
		synctest.Wait()
		if waiting := sent * len(record); waiting < jsonl.QueueSize/2 || waiting > jsonl.QueueSize {
			t.Errorf("%d bytes wait, the queue has %d", waiting, jsonl.QueueSize)
		}
		check(t, w.Push([]byte(`"pushed"`)))
		go func() {
			synctest.Wait()
			check(t, w.Close(t.Context()))
			check(t, out.Close())
		}()
		got := lines(t, in)
		if len(got) != 5001 {
			t.Errorf("%d records came, want 5001", len(got))
		}
	})
}

func TestWriterTakesARecordAboveItsQueue(t *testing.T) {
	in, out := io.Pipe()
	w := jsonl.NewWriter(out)
	big := bytes.Repeat([]byte("x"), 3*jsonl.QueueSize)
	go func() {
		for range 3 {
			check(t, w.Write(bytes.Clone(big)))
			check(t, w.Write([]byte("1")))
		}
		check(t, w.Close(t.Context()))
		check(t, out.Close())
	}()
	got := lines(t, in)
	if len(got) != 6 {
		t.Fatalf("%d records came, want 6", len(got))
	}
	for i, line := range got {
		if want := []int{len(big), 1}[i%2]; len(line) != want {
			t.Errorf("record %d has %d bytes, want %d", i, len(line), want)
		}
	}
}

func TestWriterEndsWhenTheReaderGoesAway(t *testing.T) {
	in, out := io.Pipe()
	w := jsonl.NewWriter(out)
	gone := errors.New("gone")
	check(t, in.CloseWithError(gone))
	check(t, w.Write([]byte("1")))
	<-w.Failed()
	for _, send := range []func([]byte) error{w.Write, w.Push} {
		if err := send([]byte("2")); !errors.Is(err, gone) {
			t.Errorf("got %v, want %v", err, gone)
		}
	}
	if err := w.Close(t.Context()); !errors.Is(err, gone) {
		t.Errorf("Close gave %v, want %v", err, gone)
	}
}

func TestWriterCloseGivesUpOnAStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		w := jsonl.NewWriter(out)
		blocked := make(chan error)
		go func() {
			var err error
			for err == nil {
				err = w.Write(make([]byte, 100))
			}
			blocked <- err
		}()
		synctest.Wait()
		start := time.Now()
		if err := w.Close(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close gave %v", err)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("Close took %v", took)
		}
		if err := <-blocked; err == nil {
			t.Error("Write went on after Close")
		}
		check(t, in.Close())
	})
}

func TestWriterCloseWaitsForASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := recorder{gate: make(chan struct{})}
		w := jsonl.NewWriter(&out)
		check(t, w.Write(bytes.Repeat([]byte("x"), 10<<20)))
		go func() {
			for range 41 { // 40 pieces of the record, and its line end
				time.Sleep(time.Second)
				out.gate <- struct{}{}
			}
		}()
		check(t, w.Close(t.Context()))
		if got := len(strings.Join(out.writes(), "")); got != 10<<20+1 {
			t.Errorf("%d bytes came", got)
		}
	})
}

func TestWriterCloseObeysItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		w := jsonl.NewWriter(out)
		check(t, w.Write([]byte("1")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := w.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close gave %v", err)
		}
		if err := w.Write([]byte("2")); err == nil {
			t.Error("Write works after Close")
		}
		check(t, in.Close())
	})
}

func TestWriterGivesRecordsThatNoReaderSplits(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"b"}`:             `{"a":"b"}`,
		"{\"a\":\n\t[1,\r\n2]}": `{"a":[1,2]}`,
		"\"x\u2028y\u2029z\"":   `"x\u2028y\u2029z"`,
		"\"“quoted”—…\u202a\"":  "\"“quoted”—…\u202a\"",
		"\"\u2028\u2028\"":      `"\u2028\u2028"`,
		`"\\u2028 stays"`:       `"\\u2028 stays"`,
	} {
		var out recorder
		w := jsonl.NewWriter(&out)
		check(t, w.Write([]byte(in)))
		check(t, w.Close(t.Context()))
		if got := strings.Join(out.writes(), ""); got != want+"\n" {
			t.Errorf("%q was written as %q, want %q", in, got, want)
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// BenchmarkWriter writes small records into a pipe that is read at full
// speed; its goal is 300 000 records a second.
func BenchmarkWriter(b *testing.B) {
	for _, size := range []int{100, 64 << 10, 8 << 20} {
		b.Run(fmt.Sprintf("record=%d", size), func(b *testing.B) {
			in, out := io.Pipe()
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = io.Copy(io.Discard, in) })
			w := jsonl.NewWriter(out)
			record := bytes.Repeat([]byte("x"), size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				check(b, w.Write(record))
			}
			check(b, w.Close(b.Context()))
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
			check(b, out.Close())
			wg.Wait()
		})
	}
}

func TestWriterPutsPartsTogether(t *testing.T) {
	var out bytes.Buffer
	w := jsonl.NewWriter(&out)
	long := strings.Repeat("x", 200<<10)
	want := ""
	for _, parts := range [][]string{{`{"a":[`, `1`, `,`, "{\n\"b\": 2}", `]}`}, {`["`, "\u2028", `"]`}, {`["`, long, `",`, `"`, long, `"]`}, {`{}`}} {
		var pieces [][]byte
		for _, p := range parts {
			pieces = append(pieces, []byte(p))
		}
		if err := w.PushParts(pieces); err != nil {
			t.Fatal(err)
		}
		want += strings.NewReplacer("\n", "", ": ", ":", "\u2028", `\u2028`).Replace(strings.Join(parts, "")) + "\n"
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("%d bytes are written, want %d", out.Len(), len(want))
	}
}
