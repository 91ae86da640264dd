package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
)

// project is what a folder's own files come to: whether they are loaded, and
// the settings with them or without.
type project struct {
	cwd   string
	trust config.Decision
	// loaded has the project's own settings only where it is trusted.
	loaded config.Loaded
}

// withheld says which of the project's files are not loaded and how to allow
// it; empty: none.
func (p project) withheld() string {
	if !p.trust.Needed || p.trust.Trusted {
		return ""
	}
	parts := make([]string, len(p.trust.Found))
	for i, part := range p.trust.Found {
		parts[i] = strconv.Quote(part)
	}
	return fmt.Sprintf("this project's own files (%s) are not loaded. %s", strings.Join(parts, ", "), p.trust.Reason)
}

// projects decides about the folders that a process works in, about each for
// itself: a session of another folder brings nothing of what was allowed for
// the first. Methods may be called from any goroutine.
type projects struct {
	paths    config.Paths // with the folder that the process was started in
	flags    config.TrustFlags
	settings map[string]string // flags that stand for settings
	trust    *config.Trust
	hooks    *hook.Chain // of extensions that may decide; nil: there are none

	mu sync.Mutex
	// approved are the folders that --approve is about.
	approved []string
	// asked are the folders that extensions were asked about, and what they
	// said.
	asked map[string]event.ProjectTrustResult
	// trusted are folders that stay trusted as long as the process runs, so
	// that who changes an extension and reloads it sees the change, and why
	// they are.
	trusted map[string]string
}

func newProjects(paths config.Paths, flags config.TrustFlags, settings map[string]string) *projects {
	return &projects{
		paths: paths, flags: flags, settings: settings, trust: config.NewTrust(paths),
		approved: []string{paths.Cwd}, asked: map[string]event.ProjectTrustResult{}, trusted: map[string]string{},
	}
}

// approve makes --approve count for a folder too: that of the session which
// the flags name.
func (s *projects) approve(cwd string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.approved = append(s.approved, cwd)
}

// look reads trust and settings for a folder as they are now.
func (s *projects) look(cwd string) project {
	options := config.SettingsOptions{Paths: s.paths, Env: os.Getenv, Flags: s.settings}
	options.Paths.Cwd = cwd
	p := project{cwd: cwd, loaded: config.LoadSettings(options)}
	p.trust = s.decide(cwd, p.loaded.Settings.DefaultProjectTrust)
	if p.trust.Trusted && p.trust.Needed {
		options.Trusted = true
		p.loaded = config.LoadSettings(options)
	}
	return p
}

func (s *projects) decide(cwd, byDefault string) config.Decision {
	s.mu.Lock()
	flags := config.TrustFlags{NoApprove: s.flags.NoApprove, Approve: s.flags.Approve && slices.Contains(s.approved, cwd)}
	answer, reason := s.asked[cwd], s.trusted[cwd]
	s.mu.Unlock()
	if reason != "" {
		flags.Approve = true // what it holds need not be looked at again
	}
	d := s.trust.Decide(cwd, flags, byDefault)
	switch {
	case d.Trusted && reason != "":
		d.Reason = reason
	case d.Undecided && answer.Decision == "yes":
		d.Trusted, d.Undecided, d.Reason = true, false, "An extension of yours trusts it."
	case d.Undecided && answer.Decision == "no":
		d.Undecided, d.Reason = false, "An extension of yours declined it."
	}
	if d.Trusted {
		s.mu.Lock()
		s.trusted[cwd] = d.Reason
		s.mu.Unlock()
	}
	return d
}

// ask lets extensions decide about a folder that nobody has decided about,
// once, and remembers what they say for as long as they say. It must not be
// called before they are up.
func (s *projects) ask(ctx context.Context, p project) (project, error) {
	if s.hooks == nil || !p.trust.Undecided || !p.trust.Needed || !s.hooks.Wanted(event.KindProjectTrust) {
		return p, nil
	}
	s.mu.Lock()
	_, done := s.asked[p.cwd]
	s.mu.Unlock()
	if done {
		return p, nil
	}
	answer := hook.Decide[event.ProjectTrustResult](ctx, s.hooks, &event.ProjectTrust{Cwd: p.cwd})
	s.mu.Lock()
	s.asked[p.cwd] = answer
	s.mu.Unlock()
	var err error
	if answer.Remember && (answer.Decision == "yes" || answer.Decision == "no") {
		if err = s.trust.Save(p.cwd, answer.Decision == "yes"); err != nil {
			err = fmt.Errorf("an extension decided about this project, but it could not be remembered: %w", err)
		}
	}
	return s.look(p.cwd), err
}
