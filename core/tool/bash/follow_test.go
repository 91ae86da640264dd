package bash

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Something is written at the given times; reports come at once for the first
// and at most once in an interval after that.
func TestPaced(t *testing.T) {
	for _, c := range []struct {
		name          string
		writes        []time.Duration
		end           time.Duration
		want          []time.Duration
		left          bool // something was written since the last report
		stopsWithDone time.Duration
	}{
		{"nothing", nil, time.Second, nil, false, time.Second},
		{"one", []time.Duration{0}, time.Second, []time.Duration{0}, false, time.Second},
		{"slowly", []time.Duration{0, 400 * time.Millisecond, 800 * time.Millisecond}, time.Second, []time.Duration{0, 400 * time.Millisecond, 800 * time.Millisecond}, false, time.Second},
		{"a burst", []time.Duration{0, time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond}, time.Second, []time.Duration{0, interval}, false, time.Second},
		{"one in the pause", []time.Duration{0, 30 * time.Millisecond}, 50 * time.Millisecond, []time.Duration{0}, true, 50 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				written, done := make(chan struct{}, 1), make(chan string, 1)
				for _, at := range c.writes {
					time.AfterFunc(at, func() {
						select {
						case written <- struct{}{}:
						default:
						}
					})
				}
				time.AfterFunc(c.end, func() { done <- "end" })
				var reports []time.Duration
				last := paced(written, done, func() { reports = append(reports, time.Since(begun)) })
				if last != "end" || time.Since(begun) != c.stopsWithDone {
					t.Errorf("ended with %q after %v", last, time.Since(begun))
				}
				if !slices.Equal(reports, c.want) || len(written) == 1 != c.left {
					t.Errorf("reports at %v, want %v; left %d", reports, c.want, len(written))
				}
			})
		})
	}
}
