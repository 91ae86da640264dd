package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// interruptedCode is the exit code after an INT, on its way to main.
const interruptedCode = 128 + int(syscall.SIGINT)

// signals ends the process in good order at the first INT, TERM or HUP, and at
// once at the second: once it is shutting down, only a person who insists
// cuts that short. What runs for the process is in groups of its own, which a
// terminal's INT does not reach.
type signals struct {
	got     atomic.Int32
	channel chan os.Signal
	done    chan struct{}
	cancel  context.CancelFunc
}

// watchSignals gives a context that ends with the first signal.
func watchSignals(ctx context.Context) (context.Context, *signals) {
	s := &signals{channel: make(chan os.Signal, 2), done: make(chan struct{})}
	ctx, s.cancel = context.WithCancel(ctx)
	for _, number := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(number) { // nohup and shells' background jobs are meant to go on
			signal.Notify(s.channel, number)
		}
	}
	go func() {
		defer close(s.done)
		for received := range s.channel {
			number, ok := received.(syscall.Signal)
			if !ok {
				continue
			}
			if !s.got.CompareAndSwap(0, int32(number)) {
				os.Exit(128 + int(number))
			}
			s.cancel()
		}
	}()
	return ctx, s
}

// stop lets signals do again what they do by default.
func (s *signals) stop() {
	signal.Stop(s.channel)
	close(s.channel)
	<-s.done
	s.cancel()
}

// code is the exit code: 128 and the signal's number, or what it would be
// without a signal.
func (s *signals) code(otherwise int) int {
	if number := s.got.Load(); number != 0 {
		return 128 + int(number)
	}
	return otherwise
}
