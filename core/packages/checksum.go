package packages

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What a package may be: more is a mistake, such as a home folder.
const (
	mostFiles = 20_000
	mostBytes = 256 << 20
)

// left out of a package's content: what git keeps, and what npm fetches.
var notContent = map[string]bool{".git": true, "node_modules": true}

// Checksum sums up the content of a package: the SHA-256, in hex, of one line
// for each file in the order of their paths,
//
//	<SHA-256 of the content, in hex> <path with slashes, quoted as in Go>
//
// where a symbolic link has its target for content. Modes and times do not
// count, so that it is the same on every system. A link that leads out of the
// package is an error.
func Checksum(dir string) (string, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("read the package: %w", err)
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return "", fmt.Errorf("read the package: %s is no folder", dir)
	}
	c := checksum{root: root}
	sum := sha256.New()
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if notContent[entry.Name()] && path != root {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil // .git is a file in a worktree
		}
		return c.add(sum, path, entry)
	})
	if err != nil {
		return "", fmt.Errorf("read the package %s: %w", dir, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

type checksum struct {
	root  string
	files int
	bytes int64
}

func (c *checksum) add(sum io.Writer, path string, entry fs.DirEntry) error {
	var content []byte
	var err error
	switch {
	case entry.Type()&fs.ModeSymlink != 0:
		content, err = c.link(path)
	case entry.Type().IsRegular():
		content, err = c.file(path)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	if c.files++; c.files > mostFiles || c.bytes > mostBytes {
		return fmt.Errorf("it has more than %d files or %d MiB, which is no package", mostFiles, mostBytes>>20)
	}
	name, err := filepath.Rel(c.root, path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(sum, "%x %q\n", content, filepath.ToSlash(name))
	return err
}

func (c *checksum) file(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, mostBytes+1))
	c.bytes += n
	return sum.Sum(nil), errors.Join(err, f.Close())
}

// link sums up where a link leads, which must be inside.
func (c *checksum) link(path string) ([]byte, error) {
	target, err := os.Readlink(path)
	if err != nil {
		return nil, err
	}
	full := target
	if !filepath.IsAbs(full) {
		full = filepath.Join(filepath.Dir(path), full)
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	if relative, err := filepath.Rel(c.root, full); err != nil || filepath.IsAbs(target) || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
		return nil, fmt.Errorf("the link %s leads out of the package, to %s", path, target)
	}
	sum := sha256.Sum256([]byte(filepath.ToSlash(target)))
	return sum[:], nil
}
