package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// signals ends the process in good order at the first TERM or HUP, and at
// once at the second: once it is shutting down, only a person who insists
// cuts that short.
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
	signal.Notify(s.channel, syscall.SIGTERM, syscall.SIGHUP)
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
