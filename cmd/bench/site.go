package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
	"github.com/seed-54e836f5/pi/core/store/storetest"
)

// site is what all runs share: a model server, and for each agent a home of
// its own.
type site struct {
	options options
	root    string
	server  *modelserver.Server
	agents  []*agent
}

// agent is a program to measure.
type agent struct {
	name    string
	command []string
	home    string
	server  *modelserver.Server
	options options
}

func newSite(o options) (s *site, err error) {
	root, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	server, err := modelserver.Listen("127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	s = &site{options: o, root: root, server: server}
	commands := []string{o.pi}
	if o.reference != "" {
		commands = append(commands, o.reference)
	}
	for i, command := range commands {
		name := []string{"pi", "reference"}[i]
		a := &agent{name: name, command: strings.Fields(command), home: filepath.Join(root, name), server: server, options: o}
		if a.command[0], err = filepath.Abs(lookPath(a.command[0])); err != nil {
			return nil, errors.Join(err, s.remove())
		}
		if err := a.furnish(); err != nil {
			return nil, errors.Join(err, s.remove())
		}
		s.agents = append(s.agents, a)
	}
	return s, nil
}

func (s *site) close() {
	if err := s.remove(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

func (s *site) remove() error { return errors.Join(s.server.Close(), os.RemoveAll(s.root)) }

const models = `{"providers": {"mock": {"baseUrl": %q, "api": "anthropic-messages", "apiKey": "x", "models": [
  {"id": "m1", "name": "Mock 1", "reasoning": true, "input": ["text", "image"], "contextWindow": 1000000000, "maxTokens": 16000}]}}}`

// furnish makes the agent's folders and the large session.
func (a *agent) furnish() error {
	for _, dir := range []string{"home", "agent", "work", "tmp"} {
		if err := os.MkdirAll(filepath.Join(a.home, dir), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(a.home, "agent", "models.json"), fmt.Appendf(nil, models, a.server.URL), 0o600); err != nil {
		return err
	}
	// Compaction would change the large session.
	if err := os.WriteFile(filepath.Join(a.home, "agent", "settings.json"), []byte(`{"compaction": {"enabled": false}}`), 0o600); err != nil {
		return err
	}
	f, err := os.Create(a.largeSession())
	if err != nil {
		return err
	}
	err = storetest.Write(f, storetest.Options{Size: a.options.session, Cwd: a.work(), Branch: true})
	return errors.Join(err, f.Close())
}

func (a *agent) work() string         { return filepath.Join(a.home, "work") }
func (a *agent) largeSession() string { return filepath.Join(a.home, "large.jsonl") }

// take runs the measure on each agent in turns, and returns a row for each of
// its values.
func (s *site) take(ctx context.Context, m measure) ([]row, error) {
	agents := s.agents
	if m.extension || m.piOnly {
		agents = agents[:1]
	}
	rows := make([]row, len(m.values))
	for i, v := range m.values {
		rows[i] = row{measure: m.name, value: v, of: make([][]float64, len(s.agents))}
	}
	// One run more, whose figures are not kept: it finds the files cold.
	for round := range s.options.rounds + 1 {
		for i, a := range agents {
			got, err := m.take(ctx, a)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.name, err)
			}
			if s.options.verbose {
				fmt.Fprintf(os.Stderr, "%s: %s: %.4v\n", m.name, a.name, got)
			}
			for j, v := range got {
				if round > 0 {
					rows[j].of[i] = append(rows[j].of[i], v)
				}
			}
		}
	}
	return rows, nil
}
