package session

import "sync"

// gate makes operations take effect in the order they were asked for. A short
// operation passes at once while the gate is open; one that takes its time,
// such as a change of session, closes it, and what comes behind waits in
// line. Its callers never wait.
type gate struct {
	mu      sync.Mutex
	held    bool
	waiting []func(release func())
}

// pass runs an operation that is over when it returns, now or in its turn.
func (g *gate) pass(f func()) {
	g.hold(func(release func()) {
		f()
		release()
	})
}

// hold runs an operation that keeps the gate closed until it calls release,
// which may be later and on another goroutine. f itself must not wait.
func (g *gate) hold(f func(release func())) {
	g.mu.Lock()
	if g.held {
		g.waiting = append(g.waiting, f)
		g.mu.Unlock()
		return
	}
	g.held = true
	g.mu.Unlock()
	f(g.release)
}

func (g *gate) release() {
	g.mu.Lock()
	if len(g.waiting) == 0 {
		g.held = false
		g.mu.Unlock()
		return
	}
	next := g.waiting[0]
	g.waiting = g.waiting[1:]
	g.mu.Unlock()
	next(g.release)
}
