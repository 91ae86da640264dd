package session

import "time"

// shutdownPatience is how long a shutdown waits for commands of extensions: a
// command that asks for it may still say goodbye, and one that hangs does not
// keep the process.
const shutdownPatience = time.Second

// RequestShutdown asks the process to end: at once when idle, else when what
// runs has settled. ShutdownRequested is closed then.
func (s *Session) RequestShutdown() {
	s.mu.Lock()
	first := !s.stop
	s.stop = true
	s.mu.Unlock()
	if s.checkShutdown(); !first {
		return
	}
	s.owned.run(func() {
		patience := time.NewTimer(shutdownPatience)
		defer patience.Stop()
		select {
		case <-patience.C:
		case <-s.stopped:
		case <-s.life.Done():
		}
		s.mu.Lock()
		s.overdue = true
		s.mu.Unlock()
		s.checkShutdown()
	})
}

// ShutdownRequested is closed when the process should end because an
// extension or the client asked for it.
func (s *Session) ShutdownRequested() <-chan struct{} { return s.stopped }

func (s *Session) checkShutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stop || s.run != nil || (s.commandCalls.any() && !s.overdue) {
		return
	}
	select {
	case <-s.stopped:
	default:
		close(s.stopped)
	}
}
