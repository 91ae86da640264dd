package rpcmode

import (
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long a command that must not wait lets those in front of it
// take effect first. Usually they have long done so, and the order is that of
// the input; but a hook that does not return, or a client that does not read,
// must not keep anybody from an abort.
const patience = 50 * time.Millisecond

// lane carries out commands in the order in which they were read, one after
// the other, on one goroutine. A command that is marked as ahead is carried
// out by a goroutine of its own when the lane has not come to it in time.
type lane struct {
	mu     sync.Mutex
	some   sync.Cond
	jobs   []*job
	closed bool
	own    sync.WaitGroup // of commands that overtook
	done   chan struct{}  // closed when run has ended
}

// job is one command in the lane.
type job struct {
	run   func()
	taken atomic.Bool
	// ahead says that the command must not wait.
	ahead bool
	timer *time.Timer
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
	if j.ahead {
		l.own.Add(1)
		j.timer = time.AfterFunc(patience, func() {
			defer l.own.Done()
			l.overtake(j)
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

func (l *lane) work() {
	defer close(l.done)
	for {
		j := l.next()
		if j == nil {
			return
		}
		if j.timer != nil && j.timer.Stop() {
			l.own.Done()
		}
		if j.taken.CompareAndSwap(false, true) {
			j.run()
		}
	}
}

func (l *lane) next() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
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
