package session

import "sync"

// goroutines are those that a session owns. Other than with a sync.WaitGroup
// one may begin while somebody waits for all to end. The zero value has none.
type goroutines struct {
	mu    sync.Mutex
	count int
	ended chan struct{} // closed when count is 0; nil: nobody asked
}

// run begins one.
func (g *goroutines) run(f func()) {
	g.begin()
	go func() {
		defer g.done()
		f()
	}()
}

// begin counts one that calls done when it has ended.
func (g *goroutines) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
}

func (g *goroutines) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count--
	if g.count == 0 && g.ended != nil {
		close(g.ended)
		g.ended = nil
	}
}

// none is closed as soon as no goroutine is left.
func (g *goroutines) none() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.count == 0 {
		over := make(chan struct{})
		close(over)
		return over
	}
	if g.ended == nil {
		g.ended = make(chan struct{})
	}
	return g.ended
}

func (g *goroutines) any() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count > 0
}
