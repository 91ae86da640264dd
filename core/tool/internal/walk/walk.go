// Package walk goes through folders in order of names, and leaves out what
// ignore files say: .gitignore and .ignore at any depth and above, and git's
// own exclude file. It also holds the globs that the find and grep tools take.
//
// It imports the standard library and doublestar only. What is in .git is
// left out; names that begin with a dot are not.
package walk

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
)

// Entry is one file or folder below the root of a walk.
type Entry struct {
	Rel  string // path from the root, with slashes
	Path string // absolute
	Type fs.FileMode
}

// Tree walks all that is below root, an absolute path, and calls visit for
// each file and folder, a folder before what is in it. Symbolic links are
// entries too and are not followed. visit says whether to go on; for a folder,
// enter says whether to look into it.
//
// Ignore files above root count up to the repository's root; where there is
// none, up to base, if root is below it. The root itself is never ignored:
// whoever names a folder means it.
//
// The names of folders that could not be read are returned. The error is the
// context's.
func Tree(ctx context.Context, root, base string, visit func(Entry) (goOn, enter bool)) (unread []string, err error) {
	w := walker{ctx: ctx, visit: visit}
	w.folder(root, "", scopeAbove(root, base))
	return w.unread, ctx.Err()
}

type walker struct {
	ctx    context.Context
	visit  func(Entry) (goOn, enter bool)
	unread []string
}

// folder walks one folder and says whether to go on behind it.
func (w *walker) folder(dir, rel string, above *scope) bool {
	if w.ctx.Err() != nil {
		return false
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.unread = append(w.unread, dir)
	}
	s := enter(above, filepath.ToSlash(dir), func(name string) bool { return contains(entries, name) })
	for _, found := range entries {
		e := Entry{Rel: found.Name(), Path: filepath.Join(dir, found.Name()), Type: found.Type()}
		if rel != "" {
			e.Rel = rel + "/" + found.Name()
		}
		if found.Name() == ".git" || s.ignores(filepath.ToSlash(e.Path), found.IsDir()) {
			continue
		}
		goOn, look := w.visit(e)
		if !goOn || look && found.IsDir() && !w.folder(e.Path, e.Rel, s) {
			return false
		}
	}
	return true
}

// contains looks for a name in entries, which are sorted.
func contains(entries []os.DirEntry, name string) bool {
	low, high := 0, len(entries)
	for low < high {
		middle := (low + high) / 2
		switch n := entries[middle].Name(); {
		case n == name:
			return true
		case n < name:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}

// scopeAbove reads the ignore files above a folder.
func scopeAbove(root, base string) *scope {
	var dirs []string // from the folder above root upwards
	for dir := root; ; {
		if exists(filepath.Join(dir, ".git")) {
			break // root is in this repository, or is it
		}
		above := filepath.Dir(dir)
		if above == dir {
			dirs = dirs[:countBelow(dirs, base)] // no repository
			break
		}
		dir = above
		dirs = append(dirs, dir)
	}
	var s *scope
	for i := len(dirs) - 1; i >= 0; i-- {
		dir := dirs[i]
		s = enter(s, filepath.ToSlash(dir), func(name string) bool { return exists(filepath.Join(dir, name)) })
	}
	return s
}

// countBelow says how many of the folders, which go upwards, are base or in
// it. Where base is not among them it is none.
func countBelow(dirs []string, base string) int {
	for i, dir := range dirs {
		if dir == filepath.Clean(base) {
			return i + 1
		}
	}
	return 0
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
