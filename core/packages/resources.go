package packages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed-54e836f5/pi/core/readfile"
)

// manifest is what package.json may say under pi: where the resources are.
// Without it they are in the folders named like their kinds.
type manifest struct {
	Prompts    []string `json:"prompts"`
	Skills     []string `json:"skills"`
	Rules      []string `json:"rules"`
	Extensions []string `json:"extensions"`
}

// kind is what differs between prompts, skills, rules and extensions of a
// package.
type kind struct {
	folder string
	named  func(manifest) []string
	// parts lists what a filter chooses from in a folder.
	parts func(dir string) []string
}

var (
	prompts    = kind{"prompts", func(m manifest) []string { return m.Prompts }, promptParts}
	skills     = kind{"skills", func(m manifest) []string { return m.Skills }, skillParts}
	rules      = kind{"rules", func(m manifest) []string { return m.Rules }, ruleParts}
	extensions = kind{"extensions", func(m manifest) []string { return m.Extensions }, extensionParts}
)

// roots lists the files and folders of a kind that a package offers.
func (k kind) roots(dir string) ([]string, error) {
	data, err := readfile.Ordinary(filepath.Join(dir, "package.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var file struct {
		Pi *manifest `json:"pi"`
	}
	if err == nil {
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "package.json"), err)
		}
	}
	if file.Pi == nil {
		return existing(filepath.Join(dir, k.folder)), nil
	}
	var roots []string
	for _, pattern := range k.named(*file.Pi) {
		if strings.HasPrefix(pattern, "!") || !filepath.IsLocal(filepath.FromSlash(pattern)) {
			continue
		}
		found, err := doublestar.FilepathGlob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", filepath.Join(dir, "package.json"), pattern, err)
		}
		roots = append(roots, found...)
	}
	for _, pattern := range k.named(*file.Pi) {
		if not, ok := strings.CutPrefix(pattern, "!"); ok {
			roots = slices.DeleteFunc(roots, func(path string) bool { return concerns(dir, not, path) })
		}
	}
	return roots, nil
}

// choose lists what the settings take of a kind: all without a filter, nothing
// with an empty one.
func (k kind) choose(dir string, filter []string) ([]string, error) {
	if filter != nil && len(filter) == 0 {
		return nil, nil
	}
	roots, err := k.roots(dir)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, root := range roots {
		if info, err := os.Stat(root); err == nil && info.IsDir() {
			parts = append(parts, k.parts(root)...)
		} else {
			parts = append(parts, root)
		}
	}
	return slices.DeleteFunc(parts, func(path string) bool { return filter != nil && !chosen(dir, filter, path) }), nil
}

// chosen says whether a filter lets a path through: patterns choose, !pattern
// takes away, +path and -path are about exactly one.
func chosen(dir string, filter []string, path string) bool {
	plain, is := false, false
	for _, text := range filter {
		if !strings.ContainsAny(text[:min(1, len(text))], "!+-") {
			plain = true
			is = is || concerns(dir, text, path)
		}
	}
	is = is || !plain
	for _, sign := range []string{"!", "+", "-"} {
		for _, text := range filter {
			if pattern, ok := strings.CutPrefix(text, sign); ok && concerns(dir, pattern, path) {
				is = sign == "+"
			}
		}
	}
	return is
}

// concerns says whether a pattern means a path of the package, a folder that
// it is in, or the folder of a skill by its SKILL.md.
func concerns(dir, pattern, path string) bool {
	pattern = strings.TrimSuffix(filepath.ToSlash(filepath.Clean(filepath.FromSlash(pattern))), "/SKILL.md")
	relative, err := filepath.Rel(dir, path)
	if err != nil {
		return false
	}
	for at := filepath.ToSlash(relative); at != "." && at != "/"; at = filepath.ToSlash(filepath.Dir(at)) {
		if ok, err := doublestar.Match(pattern, at); err == nil && ok {
			return true
		}
	}
	ok, err := doublestar.Match(pattern, filepath.Base(path))
	return err == nil && ok
}

func promptParts(dir string) []string {
	return children(dir, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".md") })
}

func ruleParts(dir string) []string {
	return children(dir, func(e fs.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".md") || strings.HasSuffix(e.Name(), ".mdc")
	})
}

// skillParts lists folders with a SKILL.md, wherever they are, and the
// Markdown files at the top.
func skillParts(dir string) []string {
	parts := children(dir, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".md") && e.Name() != "SKILL.md" })
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return nil
		case notContent[entry.Name()]:
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "SKILL.md")); err == nil {
			parts = append(parts, path)
			return filepath.SkipDir
		}
		return nil
	})
	return parts
}

// scripts are extensions of the reference agents, which do not run here.
var scripts = []string{".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"}

// extensionParts lists what is in a folder of extensions, or the folder itself
// where it is one.
func extensionParts(dir string) []string {
	if len(children(dir, func(e fs.DirEntry) bool { return e.Name() == "extension.json" || strings.HasSuffix(e.Name(), ".go") })) > 0 {
		return []string{dir}
	}
	return children(dir, func(e fs.DirEntry) bool {
		hidden := strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_")
		return !hidden && !slices.Contains(scripts, strings.ToLower(filepath.Ext(e.Name()))) && (e.IsDir() || isProgram(e))
	})
}

// isProgram says whether a file can be run; a link may lead to one.
func isProgram(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && (info.Mode()&0o111 != 0 || strings.EqualFold(filepath.Ext(e.Name()), ".exe"))
}

func children(dir string, is func(fs.DirEntry) bool) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if is(e) {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list
}

func existing(path string) []string {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	return []string{path}
}
