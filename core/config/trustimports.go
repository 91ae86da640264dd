package config

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-54e836f5/pi/core/readfile"
)

// addImports adds the packages that the Go files seen so far import from their
// own module, from its vendor folder and from where a go.mod replaces others,
// with what these embed and import in turn, wherever that lies: all of it is
// built into an extension. They are found by reading, for before a project is
// trusted not even the go command is run in it. A go.work is not looked at:
// extensions of projects are built without.
func (d *digest) addImports() error {
	seen := map[string]bool{}
	for _, dir := range d.goFolders {
		seen[dir] = true
	}
	var modules []*goModule // what a main module replaces, it replaces for all below
	for i := 0; i < len(d.goFolders); i++ {
		source := d.source(d.goFolders[i])
		if source.reachesOut {
			// C code may include, and link, anything that is checked in.
			return d.addTree(repositoryRoot(d.realRoot))
		}
		m := moduleOf(d.goFolders[i])
		if m == nil {
			continue
		}
		if !slices.ContainsFunc(modules, func(known *goModule) bool { return known.dir == m.dir }) {
			modules = append(modules, m)
			if err := d.addBuilt(m.dir, func(name string) bool { return name == "go.mod" || name == "go.sum" }); err != nil {
				return err
			}
		}
		for _, folder := range foldersOf(modules, source.imports) {
			if seen[folder] {
				continue
			}
			seen[folder] = true
			if err := d.addPackage(folder); err != nil {
				return err
			}
			// Its Go files have made it one of d.goFolders.
		}
	}
	return nil
}

// addPackage adds what is built of a folder: all that is below it where its
// files embed something.
func (d *digest) addPackage(dir string) error {
	if d.source(dir).embeds {
		return d.addTree(dir)
	}
	return d.addBuilt(dir, isBuilt)
}

// source reads a folder once.
func (d *digest) source(dir string) goSource {
	s, ok := d.sources[dir]
	if !ok {
		s = readGo(dir)
		d.sources[dir] = s
	}
	return s
}

// addBuilt adds files of one folder, by their names.
func (d *digest) addBuilt(dir string, wanted func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // there is no such package, so nothing is built
	}
	for _, entry := range entries {
		if !wanted(entry.Name()) {
			continue
		}
		file := filepath.Join(dir, entry.Name())
		name, err := filepath.Rel(d.realRoot, file)
		if err != nil {
			return err
		}
		if err := d.addFile(filepath.ToSlash(name), file, entry); err != nil {
			return err
		}
	}
	return nil
}

// isBuilt says whether the go command compiles or links a file of that name
// with a package.
func isBuilt(name string) bool {
	return slices.Contains([]string{
		".go", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".F", ".for", ".f90",
		".s", ".S", ".sx", ".swig", ".swigcxx", ".syso",
	}, filepath.Ext(name)) && !strings.HasSuffix(name, "_test.go")
}

func isGoSource(name string) bool { return isBuilt(name) && filepath.Ext(name) == ".go" }

// repositoryRoot is the folder of the repository that a project is in; where
// there is none, the project.
func repositoryRoot(dir string) string {
	folders := projectFolders(dir)
	top := folders[len(folders)-1]
	if _, err := os.Stat(filepath.Join(top, ".git")); err != nil {
		return dir
	}
	return top
}

// goSource is what the files of a folder bring into a program beside
// themselves.
type goSource struct {
	imports []string
	embeds  bool
	// reachesOut says that there is code in C, or in another language that
	// includes files by a path, which may lead anywhere.
	reachesOut bool
}

var includesByPath = regexp.MustCompile(`#\s*include\s*["<](\.\.|[^">]*/\.\.|/)`)

// readGo reads the source files of a folder. One that cannot be read or parsed
// is not built either.
func readGo(dir string) goSource {
	var s goSource
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if !isBuilt(entry.Name()) {
			continue
		}
		file := filepath.Join(dir, entry.Name())
		text, err := readfile.Ordinary(file)
		if err != nil {
			continue
		}
		if !isGoSource(entry.Name()) {
			s.reachesOut = s.reachesOut || includesByPath.Match(text)
			continue
		}
		s.embeds = s.embeds || bytes.Contains(text, []byte("//go:embed"))
		parsed, _ := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if parsed == nil {
			continue
		}
		for _, spec := range parsed.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				s.imports = append(s.imports, path)
				s.reachesOut = s.reachesOut || path == "C"
			}
		}
	}
	return s
}

// goModule is what decides where the imports of a module are found.
type goModule struct {
	dir   string
	roots map[string]string // folders of modules by their paths: its own, and those replaced by folders
}

// moduleOf finds the module of a folder, as the go command does; nil: none.
func moduleOf(dir string) *goModule {
	for at := dir; ; at = filepath.Dir(at) {
		if data, err := readfile.Ordinary(filepath.Join(at, "go.mod")); err == nil {
			return readModule(at, data)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// readModule reads the two directives of a go.mod that matter here. A replace
// directive may stand in a block, without its first word.
func readModule(dir string, data []byte) *goModule {
	m := &goModule{dir: dir, roots: map[string]string{}}
	for line := range bytes.Lines(data) {
		text, _, _ := strings.Cut(string(line), "//")
		words := strings.Fields(text)
		for i := range words {
			words[i] = strings.Trim(words[i], "\"`")
		}
		arrow := slices.Index(words, "=>")
		switch {
		case len(words) == 2 && words[0] == "module":
			m.roots[words[1]] = dir
		case arrow > 0 && arrow+1 < len(words):
			from, to := words[0], filepath.FromSlash(words[arrow+1])
			if from == "replace" && arrow > 1 {
				from = words[1]
			}
			if filepath.IsAbs(to) {
				m.roots[from] = filepath.Clean(to)
			} else if strings.HasPrefix(to, ".") { // else another module, not a folder
				m.roots[from] = filepath.Join(dir, to)
			}
		}
	}
	return m
}

// foldersOf gives where imports may be found.
func foldersOf(modules []*goModule, imports []string) []string {
	var folders []string
	for _, path := range imports {
		for _, m := range modules {
			folders = append(folders, m.folders(path)...)
		}
	}
	return folders
}

// folders gives where an import may be found.
func (m *goModule) folders(path string) []string {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return nil
	}
	found := []string{filepath.Join(m.dir, "vendor", filepath.FromSlash(path))}
	for root, dir := range m.roots {
		if rest, ok := strings.CutPrefix(path+"/", root+"/"); ok {
			found = append(found, filepath.Join(dir, filepath.FromSlash(rest)))
		}
	}
	slices.Sort(found)
	return found
}
