package export_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/seed-54e836f5/pi/core/export"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/store/storetest"
)

// large is a session of a size, with all that real ones have.
func large(tb testing.TB, size int64) *store.Log {
	tb.Helper()
	log, err := store.Read(storetest.File(tb, storetest.Options{Size: size, Cwd: "/work", Branch: true, CompactEvery: 200}))
	if err != nil {
		tb.Fatal(err)
	}
	return log
}

// meter counts what is written, and looks now and then at how much memory is
// in use.
type meter struct {
	written, looked int64
	most            uint64
}

func (m *meter) Write(p []byte) (int, error) {
	m.written += int64(len(p))
	if m.written-m.looked > 4<<20 {
		m.looked = m.written
		m.most = max(m.most, inUse())
	}
	return len(p), nil
}

func inUse() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

func TestLargeSession(t *testing.T) {
	const size = 16 << 20
	log := large(t, size)
	log.Totals()
	before := inUse()
	var m meter
	if err := export.Write(&m, export.Page{Log: log}); err != nil {
		t.Fatal(err)
	}
	if m.looked == 0 {
		t.Fatal("nothing was measured")
	}
	if grown := m.most - min(before, m.most); grown > size/2 {
		t.Errorf("the export of %d MiB takes %d KiB of memory beside the session", size>>20, grown>>10)
	}
	if m.written > size*3/2 {
		t.Errorf("%d MiB became a page of %d KiB", size>>20, m.written>>10)
	}
	runtime.KeepAlive(log)
}

// The work grows with the session, and not faster.
func TestWorkGrowsWithTheSession(t *testing.T) {
	work := func(size int64) float64 {
		log := large(t, size)
		log.Totals()
		return testing.AllocsPerRun(1, func() {
			if err := export.Write(io.Discard, export.Page{Log: log}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if small, big := work(1<<20), work(4<<20); big > 5*small {
		t.Errorf("four times the session takes %.1f times the allocations", big/small)
	}
}

func BenchmarkWrite(b *testing.B) {
	log := large(b, 32<<20)
	b.SetBytes(32 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if err := export.Write(io.Discard, export.Page{Log: log}); err != nil {
			b.Fatal(err)
		}
	}
}
