package extensions

import (
	"slices"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
)

// latencies remember how long the last calls of each kind took.
type latencies struct {
	mu    sync.Mutex
	kinds map[event.Kind]*ring
}

// ring holds the last samples.
type ring struct {
	samples [256]time.Duration
	count   uint64
}

func (l *latencies) add(kind event.Kind, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kinds == nil {
		l.kinds = map[event.Kind]*ring{}
	}
	r := l.kinds[kind]
	if r == nil {
		r = &ring{}
		l.kinds[kind] = r
	}
	r.samples[r.count%uint64(len(r.samples))] = d
	r.count++
}

// Latency says how long the handlers of a kind took, in milliseconds, from our
// side of the connection; of the last 256 calls.
type Latency struct {
	Count uint64 // of all calls
	P50   float64
	P99   float64
}

func (l *latencies) summary() map[string]Latency {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]Latency{}
	for kind, r := range l.kinds {
		samples := slices.Clone(r.samples[:min(r.count, uint64(len(r.samples)))])
		slices.Sort(samples)
		at := func(percent int) float64 {
			return float64(samples[(len(samples)-1)*percent/100]) / float64(time.Millisecond)
		}
		all[string(kind)] = Latency{Count: r.count, P50: at(50), P99: at(99)}
	}
	return all
}
