package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"

	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/extensions"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// newHost makes the host of the extensions that flags and settings ask for.
func (p *process) newHost(chain *hook.Chain, log *slog.Logger) *extensions.Host {
	settings := p.loaded.Settings
	var named []extensions.Place
	for _, entry := range settings.Extensions {
		path := entry.Text
		if !filepath.IsAbs(path) {
			path = filepath.Join(entry.BaseDir, path)
		}
		named = append(named, extensions.Place{Path: path, Source: "settings", Scope: string(entry.Scope)})
	}
	return extensions.New(extensions.Options{
		AgentDir: p.paths.AgentDir, ProjectDir: p.paths.Cwd, Trusted: p.trust.Trusted,
		Paths: p.options.extensions, Places: func() []extensions.Place { return named }, Disabled: p.options.noExtensions,
		Flags: p.options.extensionFlags, StartDeadline: settings.ExtensionStartTimeout, Log: log, Version: version,
		Hooks: chain, Providers: p.models,
	})
}

// described tells rpcmode of the extensions.
type described struct{ host *extensions.Host }

// Describe implements rpcmode.Extensions.
func (d described) Describe() []wire.Extension {
	var list []wire.Extension
	for _, info := range d.host.Infos() {
		row := wire.Extension{
			Name: info.Name, Version: info.Version, Path: info.Path, PID: info.PID, State: string(info.State), Restarts: info.Restarts,
			MemoryBytes: info.Memory, Commands: info.Commands, Tools: info.Tools, Events: info.Events, Hooks: []wire.HookLatency{},
			LastError: info.LastError, Slow: info.Slow, DroppedEvents: int64(info.Dropped),
		}
		for _, kind := range slices.Sorted(maps.Keys(info.Latency)) {
			l := info.Latency[kind]
			row.Hooks = append(row.Hooks, wire.HookLatency{Event: kind, Calls: int64(l.Count), P50Ms: l.P50, P99Ms: l.P99})
		}
		list = append(list, row)
	}
	return list
}

// listSessions lists the session files of the session's folder, or all.
func (p *process) listSessions(s *session.Session) func(context.Context, bool) ([]store.Summary, error) {
	return func(_ context.Context, all bool) ([]store.Summary, error) {
		dir := p.sessionFolder()
		if file := s.File(); file != "" {
			dir = filepath.Dir(file)
		}
		if all {
			dir = filepath.Join(p.paths.AgentDir, "sessions")
		}
		return store.List(dir)
	}
}

// exporter writes the session as a page.
func exporter(*session.Session) func(context.Context, string) (string, error) {
	return func(context.Context, string) (string, error) { return "", errors.New("export is not there") }
}
