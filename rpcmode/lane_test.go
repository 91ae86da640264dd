package rpcmode

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestLaneKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane()
		var got []int
		for i := range 100 {
			l.push(&job{patience: time.Duration(i%3) * urgent, run: func() { got = append(got, i) }})
		}
		l.close()
		<-l.done
		l.own.Wait()
		for i, n := range got {
			if i != n {
				t.Fatalf("got %v", got)
			}
		}
		if len(got) != 100 {
			t.Errorf("%d of 100 ran", len(got))
		}
	})
}

// A long row of short commands is no reason to leave the order.
func TestLaneKeepsTheOrderOfALongRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane()
		var got []int
		for i := range 100 {
			l.push(&job{patience: time.Duration(i%3) * urgent, run: func() {
				time.Sleep(urgent / 2)
				got = append(got, i)
			}})
		}
		l.close()
		<-l.done
		l.own.Wait()
		if len(got) != 100 || !slices.IsSorted(got) {
			t.Errorf("got %v", got)
		}
	})
}

func TestLaneLetsTheUrgentOvertakeAndWithdrawsWhatTheyWouldHaveStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane()
		start := time.Now()
		var mu sync.Mutex
		var got []string
		note := func(what string) func() {
			return func() {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprintf("%s at %v", what, time.Since(start)))
			}
		}
		stuck := make(chan struct{})
		l.push(&job{run: func() { <-stuck; note("slow")() }})
		l.push(&job{begins: aRun, run: note("first prompt"), withdraw: note("first prompt withdrawn")})
		l.push(&job{begins: aBash, run: note("bash"), withdraw: note("bash withdrawn")})
		l.push(&job{patience: urgent, stops: aRun, run: note("abort")})
		l.push(&job{begins: aRun, run: note("second prompt"), withdraw: note("second prompt withdrawn")})
		time.Sleep(time.Second)
		l.push(&job{patience: soon, run: note("state")})
		time.Sleep(time.Second)
		close(stuck)
		l.close()
		<-l.done
		l.own.Wait()
		want := []string{
			"first prompt withdrawn at 50ms", "abort at 50ms", "state at 1s",
			"slow at 2s", "bash at 2s", "second prompt at 2s",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
