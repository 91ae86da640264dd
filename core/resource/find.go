package resource

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// kind is what differs between looking for templates, skills and rules.
type kind struct {
	folder string                       // name of the usual folder
	named  func(*Options) []Place       // what was named
	off    func(*Options) bool          // nothing is looked for without a name
	agents bool                         // .agents folders have it too
	list   func(*loader, root) []string // the files of a folder
}

var (
	promptKind = kind{
		folder: "prompts",
		named:  func(o *Options) []Place { return o.Prompts },
		off:    func(o *Options) bool { return o.NoPrompts },
		list:   func(l *loader, r root) []string { return l.filesIn(r.dir, ".md", "templates") },
	}
	skillKind = kind{
		folder: "skills",
		named:  func(o *Options) []Place { return o.Skills },
		off:    func(o *Options) bool { return o.NoSkills },
		agents: true,
		list:   (*loader).skillFiles,
	}
	ruleKind = kind{
		folder: "rules",
		named:  func(o *Options) []Place { return o.Rules },
		off:    func(o *Options) bool { return o.NoRules },
		list:   (*loader).ruleFiles,
	}
)

// root is a folder that is looked through.
type root struct {
	dir   string
	plain bool // Markdown files in it count, not only folders
	info  Info // of what is found, without Path
}

// found is one file, and the folder that was looked through to find it.
type found struct {
	info Info
	root string
}

// find lists the files of a kind: the project's before the user's, and what
// the settings name before what is found; then packages, and what was named
// for this run. A file that is reached twice comes once.
func (l *loader) find(k kind) []Info {
	var files []Info
	seen := map[string]bool{}
	add := func(list []found) {
		for _, f := range list {
			if real := realPath(f.info.Path); !seen[real] && l.allowed(k, f) {
				seen[real] = true
				files = append(files, f.info)
			}
		}
	}
	scopes := []Scope{User}
	if l.options.Trusted {
		scopes = []Scope{Project, User}
	}
	for _, scope := range scopes {
		add(l.namedFiles(k, scope, OriginTopLevel))
		if !k.off(&l.options) {
			for _, r := range l.usualRoots(k, scope) {
				add(r.found(k.list(l, r)))
			}
		}
	}
	for _, scope := range scopes {
		add(l.namedFiles(k, scope, OriginPackage))
	}
	add(l.namedFiles(k, Temporary, ""))
	return files
}

func (r root) found(paths []string) []found {
	list := make([]found, len(paths))
	for i, path := range paths {
		list[i] = found{info: r.info, root: r.dir}
		list[i].info.Path = path
	}
	return list
}

// usualRoots lists the folders that are looked at without being named.
func (l *loader) usualRoots(k kind, scope Scope) []root {
	var roots []root
	add := func(base string, plain bool) {
		roots = append(roots, root{filepath.Join(base, k.folder), plain, Info{Source: SourceAuto, Scope: scope, Origin: OriginTopLevel, BaseDir: base}})
	}
	o := l.options
	userAgents := ""
	if o.Home != "" {
		userAgents = filepath.Join(o.Home, ".agents")
	}
	if scope == User {
		add(o.AgentDir, true)
		if k.agents && userAgents != "" {
			add(userAgents, false)
		}
		return roots
	}
	add(filepath.Join(o.Cwd, ".pi"), true)
	if agent := filepath.Join(o.Cwd, ".pi", "agent"); realPath(agent) != realPath(o.AgentDir) {
		add(agent, true)
	}
	if k.agents {
		for _, dir := range projectFolders(o.Cwd) {
			if agents := filepath.Join(dir, ".agents"); realPath(agents) != realPath(userAgents) {
				add(agents, false)
			}
		}
	}
	return roots
}

// projectFolders lists a folder and those above it, innermost first, up to
// the root of its git repository, or of the file system where there is none.
func projectFolders(dir string) []string {
	var folders []string
	for at := dir; ; at = filepath.Dir(at) {
		folders = append(folders, at)
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			return folders
		}
	}
}

// namedFiles lists what was named for a scope. An empty origin is any.
func (l *loader) namedFiles(k kind, scope Scope, origin string) []found {
	var files []found
	for _, p := range k.named(&l.options) {
		p = l.complete(p)
		if p.Scope != scope || origin != "" && p.Origin != origin || strings.HasPrefix(p.Text, "!") || strings.HasPrefix(p.Text, "-") {
			continue
		}
		paths := []string{l.absolute(p)}
		if hasWildcard(p.Text) && !exists(paths[0]) {
			paths = l.glob(paths[0])
		}
		for _, path := range paths {
			files = append(files, l.placeFiles(k, p, path)...)
		}
	}
	return files
}

// placeFiles lists the files of one named file or folder.
func (l *loader) placeFiles(k kind, p Place, path string) []found {
	info := Info{Path: path, Source: p.Source, Scope: p.Scope, Origin: p.Origin}
	if p.Origin == OriginPackage {
		info.BaseDir = p.BaseDir
	}
	stat, err := os.Stat(path)
	if err != nil {
		l.report(path, fmt.Sprintf("was named, but cannot be used: %v.", reason(err)))
		return nil
	}
	files := []found{{info, filepath.Dir(path)}}
	if stat.IsDir() {
		r := root{dir: path, plain: true, info: info}
		files = r.found(k.list(l, r))
	}
	if p.Scope == Temporary {
		for i := range files {
			files[i].info.BaseDir = filepath.Dir(files[i].info.Path)
		}
	}
	return files
}

// complete fills what a place need not say.
func (l *loader) complete(p Place) Place {
	if p.Scope == "" {
		p.Scope = Temporary
	}
	if p.Source == "" {
		p.Source = SourceLocal
	}
	if p.Origin == "" {
		p.Origin = OriginTopLevel
	}
	if p.BaseDir == "" {
		p.BaseDir = l.options.Cwd
	}
	return p
}

// absolute gives the path of a place without its sign.
func (l *loader) absolute(p Place) string {
	text := strings.TrimLeft(p.Text, "!+-")
	if rest, ok := strings.CutPrefix(text, "~"); ok && l.options.Home != "" && (rest == "" || rest[0] == '/') {
		text = l.options.Home + rest
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(p.BaseDir, text)
	}
	return filepath.Clean(text)
}

func (l *loader) glob(pattern string) []string {
	base, below := doublestar.SplitPattern(filepath.ToSlash(pattern))
	paths, err := doublestar.Glob(endingFS{os.DirFS(base), l.ended}, below)
	if err != nil {
		l.report(pattern, fmt.Sprintf("is no pattern: %v.", err))
		return nil
	}
	for i, path := range paths {
		paths[i] = filepath.Join(base, filepath.FromSlash(path))
	}
	slices.Sort(paths)
	return paths
}

// endingFS has nothing in it any more once nobody waits for what is in it.
type endingFS struct {
	fs.FS
	ended func() bool
}

// Open implements fs.FS.
func (e endingFS) Open(name string) (fs.File, error) {
	if e.ended() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: context.Canceled}
	}
	return e.FS.Open(name)
}

// allowed says whether a file is not taken away: by !glob unless +path adds it
// again, or by -path. What is said of a folder counts for all below it.
func (l *loader) allowed(k kind, f found) bool { return l.allows(k.named(&l.options), f) }

// Allows says whether places with a sign leave alone what was found in a
// folder, as they do for templates and skills. It is for things that are found
// elsewhere, such as extensions.
func Allows(o Options, places []Place, scope Scope, path, folder string) bool {
	l := &loader{options: o}
	return l.allows(places, found{Info{Path: path, Scope: scope}, folder})
}

func (l *loader) allows(places []Place, f found) bool {
	allowed := true
	for _, sign := range []string{"!", "+", "-"} {
		for _, p := range places {
			p = l.complete(p)
			if p.Scope == f.info.Scope && strings.HasPrefix(p.Text, sign) && l.concerns(p, f) {
				allowed = sign == "+"
			}
		}
	}
	return allowed
}

// concerns says whether a place with a sign means a file or a folder that it
// is in, as far as the folder that was looked through.
func (l *loader) concerns(p Place, f found) bool {
	path := l.absolute(p)
	name, isGlob := strings.CutPrefix(p.Text, "!")
	for at := f.info.Path; ; at = filepath.Dir(at) {
		if at == path || isGlob && (matches(path, at) || matches(name, filepath.Base(at))) {
			return true
		}
		if at == f.root || at == filepath.Dir(at) {
			return false
		}
	}
}

func matches(pattern, path string) bool {
	ok, err := doublestar.PathMatch(pattern, path)
	return err == nil && ok
}

func hasWildcard(text string) bool { return strings.ContainsAny(text, "*?[{") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// reason takes the path out of an error that is reported with it.
func reason(err error) error {
	if wrapped, ok := err.(interface{ Unwrap() error }); ok {
		return wrapped.Unwrap()
	}
	return err
}
