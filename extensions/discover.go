package extensions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/session"
)

// source is one place that an extension is loaded from.
type source struct {
	// path is absolute, as it was named, and identifies the extension in
	// reports and registries.
	path string
	form form
	// isFolder is whether the path is one, also where it holds no extension.
	isFolder bool
	// manifest is nil where there is none.
	manifest *manifest
	info     session.SourceInfo
	// err says why it cannot be loaded; it is reported like a failed start.
	err error
}

// form is what an extension consists of.
type form int

const (
	executable form = iota
	manifestFolder
	goFolder
)

// name is what the extension is called until it has said its name.
func (s source) name() string {
	if s.manifest != nil && s.manifest.Name != "" {
		return s.manifest.Name
	}
	base := filepath.Base(s.path)
	return strings.TrimSuffix(base, ".exe")
}

// Place is an extension, or a folder of them, that somebody named.
type Place struct {
	Path string // relative: to the project; may begin with ~/
	// Where it was named, as get_commands has it.
	Source string // settings, cli, or the source of a package
	Scope  string // user, project, temporary
	Origin string // top-level, package; empty: top-level
	// BaseDir is the folder of the package; empty: it is of none.
	BaseDir string
}

// discover lists all extensions in load order: the user's, the project's,
// those of settings and packages, those of the command line. One that is found
// twice, also by another name, counts where it is found first.
func (h *Host) discover(withProject bool) []source {
	var list []source
	seen := map[string]bool{}
	add := func(found ...source) {
		for _, s := range found {
			real, err := filepath.EvalSymlinks(s.path)
			if err != nil {
				real = s.path
			}
			if !seen[real] {
				seen[real] = true
				list = append(list, s)
			}
		}
	}
	if !h.options.Disabled {
		add(h.allowed(h.inFolder(h.userFolder(), "user"))...)
		if withProject {
			add(h.allowed(h.inFolder(h.projectFolder(), "project"))...)
		}
		for _, place := range h.places() {
			add(h.allowed(h.named(place))...)
		}
	}
	for _, path := range h.options.Paths {
		add(h.named(Place{Path: path, Source: "cli", Scope: "temporary"})...)
	}
	return list
}

func (h *Host) userFolder() string { return filepath.Join(h.options.AgentDir, "extensions") }
func (h *Host) projectFolder() string {
	return filepath.Join(h.inForce().ProjectDir, ".pi", "extensions")
}

// allowed leaves out what the settings take away.
func (h *Host) allowed(found []source) []source {
	allows := h.inForce().Allows
	if allows == nil {
		return found
	}
	return slices.DeleteFunc(found, func(s source) bool {
		return !allows(s.info.Scope, s.path, filepath.Dir(s.path))
	})
}

func (h *Host) places() []Place {
	places := h.inForce().Places
	if places == nil {
		return nil
	}
	return places()
}

// inFolder lists the extensions of a folder by name. What is no extension is
// passed over; an extension of the reference agent is mentioned in the log.
func (h *Host) inFolder(folder, scope string) []source {
	entries, err := os.ReadDir(folder)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.log.Warn("read the folder of extensions: "+err.Error(), "scope", scope)
		}
		return nil
	}
	var list []source
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_") {
			continue
		}
		s := inspect(filepath.Join(folder, entry.Name()))
		s.info = session.SourceInfo{Path: s.path, Source: "auto", Scope: scope, Origin: "top-level", BaseDir: filepath.Dir(folder)}
		switch {
		case errors.Is(s.err, errScript):
			h.log.Warn(s.err.Error(), "extension", s.path)
		case errors.Is(s.err, errNone):
		default:
			list = append(list, s)
		}
	}
	return list
}

// named gives the extension of a path that somebody wrote down: there, not
// finding one is an error. A folder full of extensions gives all of them.
func (h *Host) named(place Place) []source {
	path := h.absolute(place.Path)
	info := session.SourceInfo{Path: path, Source: place.Source, Scope: place.Scope, Origin: "top-level", BaseDir: place.BaseDir}
	if place.Origin != "" {
		info.Origin = place.Origin
	}
	s := inspect(path)
	s.info = info
	if !errors.Is(s.err, errNone) || !s.isFolder {
		return []source{s}
	}
	inside := h.inFolder(path, place.Scope)
	for i := range inside {
		info.Path = inside[i].path
		if place.BaseDir == "" {
			info.BaseDir = inside[i].info.BaseDir
		}
		inside[i].info = info
	}
	if len(inside) == 0 {
		return []source{s}
	}
	return inside
}

func (h *Host) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(lookup(h.options.Env, "HOME"), rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.options.ProjectDir, path)
	}
	return filepath.Clean(path)
}

var (
	errNone   = errors.New("there is no extension")
	errScript = errors.New("it is an extension in TypeScript or JavaScript, which this pi does not run: the npm package @earendil-works/pi-coding-agent does. Extensions of this pi are programs; see its package sdk")
)

// inspect says what is at a path.
func inspect(path string) source {
	s := source{path: path}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		s.err = fmt.Errorf("load the extension: %w", err)
	case info.IsDir():
		s.isFolder = true
		s.inspectFolder()
	case isScript(path):
		s.err = fmt.Errorf("%s: %w", path, errScript)
	case !isExecutable(path, info):
		s.err = fmt.Errorf("%s is a file that may not be executed (chmod +x it if it is an extension): %w", path, errNone)
	}
	return s
}

func (s *source) inspectFolder() {
	if _, err := os.Stat(filepath.Join(s.path, ManifestName)); err == nil {
		s.form = manifestFolder
		s.manifest, s.err = readManifest(s.path)
		if s.err == nil && s.manifest.Command == nil {
			s.form = goFolder
		}
		return
	}
	entries, err := os.ReadDir(s.path)
	if err != nil {
		s.err = fmt.Errorf("load the extension: %w", err)
		return
	}
	has := func(test func(name string) bool) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && test(e.Name()) })
	}
	switch {
	case has(func(name string) bool { return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") }):
		s.form = goFolder
	case has(func(name string) bool {
		return name == "package.json" || strings.HasPrefix(name, "index.") && isScript(name)
	}):
		s.err = fmt.Errorf("%s: %w", s.path, errScript)
	default:
		s.err = fmt.Errorf("%s has neither an %s nor a Go main package: %w", s.path, ManifestName, errNone)
	}
}

func isScript(path string) bool {
	return slices.Contains([]string{".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"}, strings.ToLower(filepath.Ext(path)))
}

func isExecutable(path string, info fs.FileInfo) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(filepath.Ext(path), ".exe")
	}
	return info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
