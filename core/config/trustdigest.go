package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// protectedPaths are the parts of a project that are loaded only when it is
// trusted.
var protectedPaths = []string{
	".pi/settings.json", ".pi/extensions", ".pi/skills", ".pi/prompts", ".pi/rules", ".pi/SYSTEM.md", ".pi/APPEND_SYSTEM.md",
	".pi/agent/extensions", ".pi/agent/skills", ".pi/agent/prompts", ".pi/agent/rules",
}

// protectedParts lists what of a project needs trust, with .agents/skills of
// the folders above as far as its repository goes.
func (t *Trust) protectedParts(dir string) []string {
	paths := slices.Clone(protectedPaths)
	for _, at := range projectFolders(dir) {
		if relative, err := filepath.Rel(dir, filepath.Join(at, ".agents", "skills")); err == nil {
			paths = append(paths, relative)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		full := filepath.Join(dir, path)
		_, err := os.Stat(full)
		return err != nil || t.isOwn(full)
	})
}

// isOwn says whether a path is the user's, as it is for a project in the home
// folder: its .pi/agent is the agent folder.
func (t *Trust) isOwn(path string) bool {
	path = canonical(path)
	return slices.ContainsFunc(t.own, func(own string) bool {
		relative, err := filepath.Rel(own, path)
		return err == nil && filepath.IsLocal(relative)
	})
}

// projectFolders lists a folder and those above it, innermost first, up to
// the root of its git repository; or up to the root of the file system where
// there is no repository.
func projectFolders(dir string) []string {
	var folders []string
	for at := dir; ; at = filepath.Dir(at) {
		folders = append(folders, at)
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			return folders
		}
	}
}

// projectDigest sums up the parts of a project that can run: its extensions,
// with the Go packages that are built into them, its settings (which name
// commands, paths and packages) and the lock files of its packages. Prompts and skills are texts that people edit all day, and
// are not in it. A project without such parts has a digest too, so that one
// that grows an extension asks again.
func projectDigest(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	d := digest{sum: sha256.New(), root: dir, realRoot: real, followed: map[string]bool{}, sources: map[string]goSource{}}
	for _, path := range executableParts(dir) {
		if err := d.addTree(filepath.Join(dir, path)); err != nil {
			return "", err
		}
	}
	if err := d.addImports(); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(d.sum.Sum(nil)), nil
}

// executableParts lists them relative to the project, in a fixed order. Where
// the settings name extensions elsewhere in the project, those count.
func executableParts(dir string) []string {
	parts := []string{".pi/settings.json", ".pi/extensions", ".pi/agent/extensions"}
	locks, _ := filepath.Glob(filepath.Join(dir, ".pi", "*lock*"))
	for _, lock := range locks {
		parts = append(parts, filepath.Join(".pi", filepath.Base(lock)))
	}
	var settings struct {
		Extensions []string `json:"extensions"`
	}
	data, err := readObject(filepath.Join(dir, ".pi", "settings.json"))
	if err == nil && data != nil && json.Unmarshal(data, &settings) == nil {
		for _, text := range settings.Extensions {
			parts = append(parts, namedFiles(dir, text)...)
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// namedFiles gives the files in the project that a line of its settings
// means, relative to the project.
func namedFiles(dir, text string) []string {
	text = strings.TrimLeft(text, "+-!")
	if filepath.IsAbs(text) || strings.HasPrefix(text, "~") {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, ".pi", filepath.FromSlash(text)))
	if err != nil {
		return nil
	}
	var inside []string
	for _, file := range files {
		if relative, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(relative) {
			inside = append(inside, relative)
		}
	}
	return inside
}

// digest is the sum of a project in the making.
type digest struct {
	sum            hash.Hash
	root, realRoot string          // the project, as it was named and without links
	followed       map[string]bool // where links led: each is added once, so that loops end
	goFolders      []string        // of the Go files added, each once, in order
	sources        map[string]goSource
}

// addTree adds names, modes and contents of a file or of all files below a
// folder. A symbolic link counts by what it points to, at the top; below by
// where it points, so that a link that is turned elsewhere is a change, and,
// inside the project, by what it points to.
func (d *digest) addTree(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(real, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(real, file)
		if err != nil {
			return err
		}
		part, err := filepath.Rel(d.root, path)
		if err != nil {
			return err
		}
		return d.addFile(filepath.ToSlash(filepath.Join(part, name)), file, entry)
	})
}

func (d *digest) addFile(name, file string, entry fs.DirEntry) error {
	if dir := filepath.Dir(file); isGoSource(entry.Name()) && !slices.Contains(d.goFolders, dir) {
		d.goFolders = append(d.goFolders, dir)
	}
	if entry.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(d.sum, "link %q %q\n", name, target)
		return d.follow(file)
	}
	if !entry.Type().IsRegular() {
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	content := sha256.New()
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(content, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(d.sum, "file %q %t %x\n", name, info.Mode()&0o111 != 0, content.Sum(nil))
	return nil
}

// follow adds what a link leads to in the project, which changes with the
// project; what lies elsewhere is the user's own.
func (d *digest) follow(link string) error {
	real, err := filepath.EvalSymlinks(link)
	if err != nil {
		return nil // it leads nowhere, so there is nothing to run
	}
	inside, err := filepath.Rel(d.realRoot, real)
	if err != nil || !filepath.IsLocal(inside) || d.followed[real] {
		return nil
	}
	d.followed[real] = true
	return d.addTree(filepath.Join(d.root, inside))
}
