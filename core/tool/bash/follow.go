package bash

import (
	"context"
	"time"

	"github.com/seed-54e836f5/pi/core/proc"
	"github.com/seed-54e836f5/pi/core/tool"
)

// interval is the least time between two updates of one call.
const interval = 100 * time.Millisecond

// follow runs a command and reports its output while it runs: at once when the
// first comes, and then not more often than the interval; what was written
// last is always reported. update is called from this goroutine only; nil:
// nobody wants to know.
func follow(ctx context.Context, o proc.Options, update func(tool.Result)) (proc.Result, error) {
	if update == nil {
		return proc.Run(ctx, o)
	}
	written := make(chan struct{}, 1) // something was, since the last look
	o.OnOutput = func(string) {
		select {
		case written <- struct{}{}:
		default:
		}
	}
	type end struct {
		result proc.Result
		err    error
	}
	done := make(chan end, 1)
	go func() {
		result, err := proc.Run(ctx, o)
		done <- end{result, err}
	}()
	report := func() { update(soFar(o.Capture.Output())) }
	last := paced(written, done, report)
	select {
	case <-written:
		report()
	default:
	}
	return last.result, last.err
}

// paced reports what was written, at most once in an interval, until done has
// its value. Something may have been written since the last report then.
func paced[T any](written <-chan struct{}, done <-chan T, report func()) T {
	for {
		select {
		case <-written:
			report()
		case last := <-done:
			return last
		}
		pause := time.NewTimer(interval)
		select {
		case <-pause.C:
		case last := <-done:
			pause.Stop()
			return last
		}
	}
}

// soFar is an update: all output until now, as much as a result would have.
func soFar(o proc.Output) tool.Result {
	result := tool.TextResult(o.Text)
	details, err := detailsOf(o)
	if err == nil {
		result.Details = details
	}
	return result
}
