package extensions

import (
	"runtime"
	"sync"
)

// spawner starts all processes from one thread that lives as long as they do.
// The kernel ties a child's end to that of the thread that started it, not of
// the process, and Go ends threads as it likes.
type spawner struct {
	mu   sync.Mutex
	jobs chan func()
	done chan struct{}
}

// run carries f out on the thread and waits for it.
func (s *spawner) run(f func()) {
	s.mu.Lock()
	if s.jobs == nil {
		s.jobs, s.done = make(chan func()), make(chan struct{})
		go s.serve(s.jobs, s.done)
	}
	jobs := s.jobs
	s.mu.Unlock()
	ended := make(chan struct{})
	jobs <- func() {
		defer close(ended)
		f()
	}
	<-ended
}

func (s *spawner) serve(jobs <-chan func(), done chan<- struct{}) {
	defer close(done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for job := range jobs {
		job()
	}
}

// close ends the thread; nobody calls run any more.
func (s *spawner) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs != nil {
		close(s.jobs)
		<-s.done
	}
}
