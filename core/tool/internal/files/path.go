// Package files is what the built-in tools share about files: which one a
// model means by a path, one writer at a time, and replacing the content so
// that a reader sees the old or the new, never half.
//
// It imports the standard library and golang.org/x/text only. All functions
// may be called from any goroutine.
package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/text/unicode/norm"
)

// Resolve makes a path that a model wrote absolute. ~ is the home folder, and
// an @ in front, as people mention files in prompts, is left out unless
// something of that name exists.
func Resolve(cwd, path string) string {
	if rest, ok := strings.CutPrefix(path, "@"); ok && !mentionExists(cwd, path) {
		path = rest
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, path[1:])
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(cwd, path)
}

// mentionExists says whether the first part of a path that begins with @ is a
// real name, like that of a package scope.
func mentionExists(cwd, path string) bool {
	first, _, _ := strings.Cut(filepath.ToSlash(path), "/")
	_, err := os.Lstat(filepath.Join(cwd, first))
	return err == nil
}

// Find resolves a path to something that exists. Where nothing does by that
// name, it takes the one entry of the folder whose name looks the same:
// systems name files with characters that models write plainly, like narrow
// blanks and curly quotes in the names of screenshots.
func Find(cwd, path string) (string, fs.FileInfo, error) {
	resolved := Resolve(cwd, path)
	info, err := os.Stat(resolved)
	if !errors.Is(err, fs.ErrNotExist) {
		return resolved, info, Explain(err, resolved)
	}
	if alike := lookalike(resolved); alike != "" {
		if info, err := os.Stat(alike); err == nil {
			return alike, info, nil
		}
	}
	return resolved, nil, Explain(err, resolved)
}

func lookalike(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	wanted, found := plainName(filepath.Base(path)), ""
	for _, entry := range entries {
		if plainName(entry.Name()) != wanted {
			continue
		}
		if found != "" {
			return "" // two look alike: which is meant cannot be known
		}
		found = filepath.Join(filepath.Dir(path), entry.Name())
	}
	return found
}

var plainCharacters = strings.NewReplacer(
	"\u00a0", " ", "\u2007", " ", "\u2009", " ", "\u202f", " ", "\u3000", " ",
	"\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`,
)

func plainName(name string) string { return plainCharacters.Replace(norm.NFC.String(name)) }

// Explain puts an error of the file system into words for a model. It wraps
// the error; nil stays nil.
func Explain(err error, path string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return explained{"no such file or folder: " + path, err}
	case errors.Is(err, fs.ErrPermission):
		return explained{"no permission for " + path, err}
	case errors.Is(err, syscall.ENOTDIR):
		return explained{"a part of this path is a file, not a folder: " + path, err}
	case errors.Is(err, syscall.EISDIR):
		return explained{"this is a folder, not a file: " + path, err}
	}
	return fmt.Errorf("%s: %w", path, err)
}

type explained struct {
	text string
	err  error
}

func (e explained) Error() string { return e.text }
func (e explained) Unwrap() error { return e.err }

// NotRegular is the error for a path that is neither a file nor a folder:
// reading a pipe or a device may wait for ever.
func NotRegular(path string) error {
	return fmt.Errorf("this is no ordinary file but a pipe, socket or device: %s", path)
}

// Target is where writing to a path ends up: symbolic links are followed, also
// one whose target does not exist yet. Paths that lead to one file have one
// target.
func Target(path string) (string, error) {
	const maxLinks = 40 // as the systems have it
	for range maxLinks {
		link, err := os.Readlink(path)
		if err != nil { // no link, or nothing there
			return realFolder(path), nil //nolint:nilerr // this is where the way ends
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", fmt.Errorf("too many symbolic links at %s", path)
}

// TargetOf is the target of the path among a tool's arguments, meant in the
// folder cwd; empty when there is none.
func TargetOf(cwd string, arguments json.RawMessage) string {
	var args struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(arguments, &args) != nil || args.Path == "" {
		return ""
	}
	target, err := Target(Resolve(cwd, args.Path))
	if err != nil {
		return ""
	}
	return target
}

// realFolder resolves the links in the folders of a path, as far as they
// exist.
func realFolder(path string) string {
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = realFolder(dir)
	}
	return filepath.Join(real, filepath.Base(path))
}
