package config

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-54e836f5/pi/core/readfile"
)

// addImports adds the packages that the Go files seen so far import from their
// own module, from its vendor folder and from where its go.mod replaces others,
// and what these import in turn: all of that is built into an extension. They
// are found by reading, for before a project is trusted not even the go
// command is run in it. What lies outside the repository is the user's own.
func (d *digest) addImports() error {
	seen := map[string]bool{}
	for _, dir := range d.goFolders {
		seen[dir] = true
	}
	top := repositoryRoot(d.realRoot)
	modules := map[string]*goModule{}
	for i := 0; i < len(d.goFolders); i++ {
		dir := d.goFolders[i]
		m := moduleOf(dir, top)
		if m == nil {
			continue
		}
		if modules[m.dir] == nil {
			modules[m.dir] = m
			if err := d.addBuilt(m.dir, func(name string) bool { return name == "go.mod" || name == "go.sum" }); err != nil {
				return err
			}
		}
		for _, path := range importsIn(dir) {
			for _, folder := range m.folders(path) {
				if seen[folder] || !inside(top, folder) {
					continue
				}
				seen[folder] = true
				if err := d.addBuilt(folder, isBuilt); err != nil {
					return err
				}
				// Its Go files have made it one of d.goFolders.
			}
		}
	}
	return nil
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

func inside(top, path string) bool {
	relative, err := filepath.Rel(top, path)
	return err == nil && filepath.IsLocal(relative)
}

// importsIn lists what the Go files of a folder import. A file that cannot be
// read or parsed is not built either.
func importsIn(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var paths []string
	for _, entry := range entries {
		if !isGoSource(entry.Name()) {
			continue
		}
		file := filepath.Join(dir, entry.Name())
		source, err := readfile.Ordinary(file)
		if err != nil {
			continue
		}
		parsed, _ := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
		if parsed == nil {
			continue
		}
		for _, spec := range parsed.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// goModule is what decides where the imports of a module are found.
type goModule struct {
	dir   string
	roots map[string]string // folders of modules by their paths: its own, and those replaced by folders
}

// moduleOf finds the module of a folder, not looking above top; nil: none.
func moduleOf(dir, top string) *goModule {
	for at := dir; inside(top, at); at = filepath.Dir(at) {
		if data, err := readfile.Ordinary(filepath.Join(at, "go.mod")); err == nil {
			return readModule(at, data)
		}
	}
	return nil
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
		case arrow > 0 && arrow+1 < len(words) && strings.HasPrefix(words[arrow+1], "."):
			from := words[0]
			if from == "replace" && arrow > 1 {
				from = words[1]
			}
			m.roots[from] = filepath.Join(dir, filepath.FromSlash(words[arrow+1]))
		}
	}
	return m
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
