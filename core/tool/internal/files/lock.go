package files

import (
	"context"
	"sync"
)

// locks has one entry for each file that somebody writes or waits to write.
var locks = struct {
	sync.Mutex
	held map[string]*lock
}{held: map[string]*lock{}}

type lock struct {
	free  chan struct{} // holds a value while nobody has the lock
	users int           // holder and waiters; guarded by locks
}

// Lock waits until no other tool call of this process writes the file at a
// target, as Target gives it. The error is the context's.
func Lock(ctx context.Context, target string) (unlock func(), err error) {
	locks.Lock()
	l := locks.held[target]
	if l == nil {
		l = &lock{free: make(chan struct{}, 1)}
		l.free <- struct{}{}
		locks.held[target] = l
	}
	l.users++
	locks.Unlock()

	leave := func() {
		locks.Lock()
		defer locks.Unlock()
		if l.users--; l.users == 0 {
			delete(locks.held, target)
		}
	}
	select {
	case <-l.free:
		return func() { l.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
