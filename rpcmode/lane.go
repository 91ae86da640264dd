package rpcmode

import (
	"sync"
	"sync/atomic"
	"time"
)

// How long one command may hold up another that must not wait. Usually all of
// them are over at once, and take effect in the order of the input; but a hook
// that does not return, or a client that does not read, must not keep anybody
// from an abort, nor, for long, from learning how things stand.
const (
	urgent = 50 * time.Millisecond
	soon   = time.Second
)

// lane carries out commands in the order in which they were read, one after
// the other, on one goroutine. When one of them takes its time, those that have
// no patience are carried out by goroutines of their own.
type lane struct {
	mu      sync.Mutex
	some    sync.Cond
	jobs    []*job
	running bool
	since   time.Time // when the running command began
	closed  bool
	own     sync.WaitGroup // of timers, and of commands that overtook
	done    chan struct{}  // closed when work has ended
}

// job is one command in the lane.
type job struct {
	run   func()
	taken atomic.Bool
	// patience is how long the command waits behind one other; 0: for ever.
	patience time.Duration
	timer    *time.Timer
	popped   bool // the lane has come to it
	// begins, stops and withdraw are as in the row of the command.
	begins, stops beginning
	withdraw      func()
}

func newLane() *lane {
	l := &lane{done: make(chan struct{})}
	l.some.L = &l.mu
	go l.work()
	return l
}

// push puts a command in line, or says that none are taken any more. It never
// waits.
func (l *lane) push(j *job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if j.patience > 0 {
		l.own.Add(1)
		j.timer = time.AfterFunc(l.patienceLeft(j), func() {
			if l.impatient(j) {
				l.overtake(j)
				l.own.Done()
			}
		})
	}
	l.jobs = append(l.jobs, j)
	l.some.Signal()
	return true
}

// close lets the lane finish what is in it; done says when. Further commands
// are not taken.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.some.Signal()
}

// patienceLeft says how long the running command may go on before this one is
// let ahead of it. The caller holds mu.
func (l *lane) patienceLeft(j *job) time.Duration {
	if !l.running {
		return j.patience
	}
	return max(j.patience-time.Since(l.since), 0)
}

// impatient is asked when a command's timer has run down, and says whether the
// command is to overtake. If not, the timer runs again, unless the lane has
// come to it.
func (l *lane) impatient(j *job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j.popped {
		l.own.Done()
		return false
	}
	left := l.patienceLeft(j)
	if left > 0 {
		j.timer.Reset(left)
	}
	return left == 0
}

func (l *lane) work() {
	defer close(l.done)
	for j := l.next(); j != nil; j = l.next() {
		if j.taken.CompareAndSwap(false, true) {
			j.run()
		}
	}
}

// next waits for a command, after the one before is over; nil: there are none
// and will be none.
func (l *lane) next() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = false
	for len(l.jobs) == 0 && !l.closed {
		l.some.Wait()
	}
	if len(l.jobs) == 0 {
		return nil
	}
	j := l.jobs[0]
	l.jobs[0] = nil
	if l.jobs = l.jobs[1:]; len(l.jobs) == 0 {
		l.jobs = nil
	}
	j.popped = true
	if j.timer != nil && j.timer.Stop() {
		l.own.Done()
	}
	l.running, l.since = true, time.Now()
	return j
}

// overtake carries out a command ahead of those that it waited behind. What
// it would have stopped, had that begun in time, does not begin.
func (l *lane) overtake(j *job) {
	if !j.taken.CompareAndSwap(false, true) {
		return
	}
	for _, other := range l.before(j) {
		if j.stops != "" && other.begins == j.stops && other.taken.CompareAndSwap(false, true) {
			other.withdraw()
		}
	}
	j.run()
}

func (l *lane) before(j *job) []*job {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.jobs {
		if other == j {
			return append([]*job(nil), l.jobs[:i]...)
		}
	}
	return nil
}
