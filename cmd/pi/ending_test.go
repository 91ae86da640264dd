package main

import (
	"testing"
	"time"
)

// What the session takes of the time at the end, extensions do not have.
func TestTimeLeftForExtensions(t *testing.T) {
	begun := time.Now()
	r := &running{ending: begun}
	for took, want := range map[time.Duration]time.Duration{
		0: closeTime, 300 * time.Millisecond: closeTime - 300*time.Millisecond, closeTime: lastMoments, time.Hour: lastMoments,
	} {
		if got := r.timeLeft(begun.Add(took)); got != want {
			t.Errorf("behind a session that took %v they have %v, want %v", took, got, want)
		}
	}
}
