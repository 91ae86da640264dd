package resource

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/seed-54e836f5/pi/core/readfile"
)

const (
	skillFile = "SKILL.md"
	// walkDepth bounds how deep skills are looked for. Nobody nests them so;
	// a place that was named by mistake, such as /, ends there.
	walkDepth = 12
)

// ignoreFiles are honoured in and below the folder they are in.
var ignoreFiles = []string{".gitignore", ".ignore", ".fdignore"}

// skillWalk looks for skills below one folder.
type skillWalk struct {
	loader  *loader
	root    root
	visited map[string]bool // real folders, so that links cannot lead in circles
	files   []string
}

// skillFiles lists the SKILL.md files of a folder and all below it. A folder
// with one is a skill, and what is below it belongs to it.
func (l *loader) skillFiles(r root) []string {
	if _, err := os.Stat(r.dir); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.report(r.dir, fmt.Sprintf("cannot be read, so its skills are left out: %v.", reason(err)))
		}
		return nil
	}
	w := skillWalk{loader: l, root: r, visited: map[string]bool{}}
	w.folder(r.dir, nil, nil)
	return w.files
}

// folder looks through one folder. at is its path below the root, in parts,
// and ignored what the folders above say.
func (w *skillWalk) folder(dir string, at []string, ignored []gitignore.Pattern) {
	real := realPath(dir)
	if w.visited[real] || len(at) > walkDepth || w.loader.ended() {
		return
	}
	w.visited[real] = true
	skill := filepath.Join(dir, skillFile)
	if info, err := os.Stat(skill); err == nil && info.Mode().IsRegular() {
		w.files = append(w.files, skill)
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.loader.report(dir, fmt.Sprintf("cannot be read, so its skills are left out: %v.", reason(err)))
		return
	}
	ignored = slices.Concat(ignored, readIgnoreFiles(dir, at))
	matcher := gitignore.NewMatcher(ignored)
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		if strings.HasPrefix(name, ".") || name == "node_modules" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue // a link that leads nowhere
		}
		below := slices.Concat(at, []string{name})
		switch {
		case matcher.Match(below, info.IsDir()):
		case info.IsDir():
			w.folder(path, below, ignored)
		case len(at) == 0 && w.root.plain && strings.HasSuffix(name, ".md") && info.Mode().IsRegular():
			w.files = append(w.files, path)
		}
	}
}

func readIgnoreFiles(dir string, at []string) []gitignore.Pattern {
	var patterns []gitignore.Pattern
	for _, name := range ignoreFiles {
		data, err := readfile.Ordinary(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for line := range bytes.Lines(data) {
			text := strings.TrimRight(string(line), "\r\n")
			if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
				continue
			}
			patterns = append(patterns, gitignore.ParsePattern(text, at))
		}
	}
	return patterns
}
