package session

import (
	"context"
	"fmt"

	"github.com/seed-54e836f5/pi/core/event"
)

// changeFolder brings settings and extensions to another working folder. The
// settings come first, so that nothing runs there as the folder that was left
// wanted it; and again when extensions of the user have had their say about
// the new one.
func (s *Session) changeFolder(cwd string) {
	s.enterFolder()
	if s.config.Extensions == nil {
		return
	}
	s.stage(func(ctx context.Context) {
		if err := s.config.Extensions.Enter(ctx, cwd); err != nil && !s.isClosed() {
			s.reportRuntime(string(event.KindSessionStart), fmt.Errorf("extensions of %s: %w", cwd, err))
		}
	})
	s.enterFolder()
}

// enterFolder lets hold what the settings of the working folder say now. What
// the client chose stays.
func (s *Session) enterFolder() {
	if s.config.Enter == nil {
		return
	}
	folder := s.config.Enter(s.Cwd())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings, s.scoped = folder.Settings, folder.Scoped
	for _, choose := range s.chosen {
		choose(&s.settings)
	}
	s.tools.enter(folder)
}

// choose makes a setting hold as the client wants it, in every folder that the
// process works in.
func (s *Session) choose(name string, set func(*Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chosen[name] = set
	set(&s.settings)
}
