package main

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/resource"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/extensions"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// newHost makes the host of the extensions that flags and settings ask for.
func (p *process) newHost(chain *hook.Chain, resources *loader, log *slog.Logger) *extensions.Host {
	elsewhere := func(dir string) extensions.Folder { return p.extensionsIn(p.projects.look(dir), resources) }
	return extensions.New(extensions.Options{
		AgentDir: p.paths.AgentDir, Folder: p.extensionsIn(p.project, resources), Elsewhere: elsewhere,
		Paths: absolute(p.paths.Cwd, p.options.extensions), Disabled: p.options.noExtensions,
		Flags: p.options.extensionFlags,
		Log:   log, ErrorsShown: p.options.mode != "rpc", // the other modes print them
		Version: version, Hooks: chain, Providers: p.models,
	})
}

// extensionsIn says what the host needs to know of a working folder.
func (p *process) extensionsIn(project project, resources *loader) extensions.Folder {
	cwd, settings := project.cwd, project.loaded.Settings
	return extensions.Folder{
		ProjectDir: cwd, Trusted: project.trust.Trusted,
		DecideTrust:  func(ctx context.Context) bool { return resources.decideFirst(ctx, cwd) },
		Places:       func() []extensions.Place { return p.extensionsOf(p.projects.look(cwd)) },
		Allows:       func(scope, path, folder string) bool { return p.allowsExtension(cwd, scope, path, folder) },
		HookDeadline: settings.HookTimeout, StartDeadline: settings.ExtensionStartTimeout,
	}
}

// extensionsOf are the extensions that the settings of a folder name, and those
// of its packages.
func (p *process) extensionsOf(project project) []extensions.Place {
	var list []extensions.Place
	for _, entry := range project.loaded.Settings.Extensions {
		for _, path := range p.named(entry) {
			list = append(list, extensions.Place{Path: path, Source: "settings", Scope: string(entry.Scope)})
		}
	}
	fromPackages, _ := p.sharedBy(project) // their problems are told where resources are loaded
	for _, s := range fromPackages {
		for _, path := range s.Extensions {
			list = append(list, extensions.Place{
				Path: path, Source: s.of.Entry.Source, Scope: string(s.of.Entry.Scope), Origin: resource.OriginPackage, BaseDir: s.of.Dir,
			})
		}
	}
	return list
}

// named gives the paths that an entry of the settings adds: one, or those that
// its wildcards fit. !path and -path add none.
func (p *process) named(entry config.PathEntry) []string {
	if strings.HasPrefix(entry.Text, "!") || strings.HasPrefix(entry.Text, "-") {
		return nil
	}
	path := strings.TrimPrefix(entry.Text, "+")
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(p.paths.Home, rest)
	}
	path = absolute(entry.BaseDir, []string{path})[0]
	if _, err := os.Stat(path); err == nil || !strings.ContainsAny(path, "*?[{") {
		return []string{path}
	}
	found, err := doublestar.FilepathGlob(path)
	if err != nil {
		return []string{path} // the host says that it is not there
	}
	return found
}

// allowsExtension applies the entries of the settings with a sign to what was
// found.
func (p *process) allowsExtension(cwd, scope, path, folder string) bool {
	entries := p.projects.look(cwd).loaded.Settings.Extensions
	return resource.Allows(resource.Options{Home: p.paths.Home, Cwd: cwd}, places(entries), resource.Scope(scope), path, folder)
}

// absolute makes paths of the command line mean the same wherever the session
// works.
func absolute(cwd string, paths []string) []string {
	var list []string
	for _, path := range paths {
		if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
			path = filepath.Join(cwd, path)
		}
		list = append(list, path)
	}
	return list
}

// described tells rpcmode of the extensions.
type described struct{ host *extensions.Host }

// Describe implements rpcmode.Extensions.
func (d described) Describe() []wire.Extension {
	var list []wire.Extension
	for _, info := range d.host.Infos() {
		list = append(list, wireExtension(info))
	}
	return list
}

func wireExtension(info extensions.Info) wire.Extension {
	row := wire.Extension{
		Name: info.Name, Version: info.Version, Path: info.Path, PID: info.PID, State: string(info.State), Restarts: info.Restarts,
		MemoryBytes: info.Memory, Commands: info.Commands, Tools: info.Tools, Events: info.Events, Hooks: []wire.HookLatency{},
		LastError: info.LastError, Slow: info.Slow, DroppedEvents: int64(info.Dropped),
	}
	for _, kind := range slices.Sorted(maps.Keys(info.Latency)) {
		l := info.Latency[kind]
		row.Hooks = append(row.Hooks, wire.HookLatency{Event: kind, Calls: int64(l.Count), P50Ms: l.P50, P99Ms: l.P99})
	}
	return row
}

// listSessions lists the session files of the session's folder, or all.
func (p *process) listSessions(s *session.Session) func(context.Context, bool) ([]store.Summary, error) {
	return func(_ context.Context, all bool) ([]store.Summary, error) {
		dir := p.sessionFolder()
		if file := s.File(); file != "" {
			dir = filepath.Dir(file)
		}
		if all {
			dir = p.sessionsRoot()
		}
		return store.List(dir)
	}
}
