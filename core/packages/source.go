package packages

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ErrNotSupported marks sources that only the reference agents can install.
var ErrNotSupported = errors.New("it is not supported")

// Source is where a package comes from.
type Source struct {
	// Text is how the settings name it.
	Text string
	// Folder is the package itself, absolute; empty: it is in a repository.
	Folder string
	// URL is the repository, as git takes it: an address, or an absolute path.
	URL string
	// Ref is a branch, tag or commit; empty: what the repository has checked
	// out by default.
	Ref string
}

// schemes are the addresses that mean a repository without more words.
var schemes = []string{"https://", "http://", "ssh://", "git://", "file://"}

// Parse reads a source as the settings have it:
//
//	./pack, ../pack, ~/pack, /pack    a folder; of a bare repository, its content
//	git:./pack, git:/pack             a repository in a folder
//	git:host/user/repo                a repository at https://host/user/repo
//	git:user@host:path                a repository by ssh
//	https://, ssh://, git://, file:// a repository
//
// A repository may have @ref behind it. baseDir is what a relative path is
// relative to, and home what ~ stands for.
func Parse(text, baseDir, home string) (Source, error) {
	s := Source{Text: text}
	if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\x00\r\n") {
		return s, fmt.Errorf("the source %q is empty or has a line break in it", text)
	}
	if strings.HasPrefix(text, "npm:") || strings.HasPrefix(text, "builtin:") {
		return s, fmt.Errorf("the package %s comes from npm or is part of another agent: %w; name a folder or a git repository", text, ErrNotSupported)
	}
	rest, isGit := strings.CutPrefix(text, "git:")
	for _, scheme := range schemes {
		isGit = isGit || strings.HasPrefix(text, scheme)
	}
	if strings.HasPrefix(text, "git://") {
		rest = text
	}
	if !isGit {
		s.Folder = resolve(rest, baseDir, home)
		if isBareRepository(s.Folder) {
			s.URL, s.Folder = s.Folder, ""
		}
		return s, nil
	}
	err := s.parseRepository(rest, baseDir, home)
	return s, err
}

func (s *Source) parseRepository(text, baseDir, home string) error {
	s.URL, s.Ref = cutRef(text)
	switch {
	case s.URL == "" || strings.HasPrefix(s.URL, "-") || strings.Contains(s.URL, "::") || strings.HasPrefix(s.Ref, "-"):
		return fmt.Errorf("the source %s names no git repository", s.Text)
	case isPath(s.URL):
		s.URL = resolve(s.URL, baseDir, home)
	case hasScheme(s.URL) || isScpLike(s.URL):
	case strings.Count(s.URL, "/") >= 2:
		s.URL = "https://" + s.URL
	default:
		return fmt.Errorf("the source %s names no git repository: write git:host/user/repository, or an address", s.Text)
	}
	return nil
}

// cutRef takes @ref off. An @ before the last slash is a user's name.
func cutRef(text string) (url, ref string) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 || at < strings.LastIndexByte(text, '/') || at < strings.LastIndexByte(text, ':') {
		return text, ""
	}
	return text[:at], text[at+1:]
}

func isPath(text string) bool {
	return filepath.IsAbs(text) || text == "." || text == ".." || text == "~" ||
		strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "~/")
}

func hasScheme(text string) bool {
	for _, scheme := range schemes {
		if strings.HasPrefix(text, scheme) && len(text) > len(scheme) {
			return true
		}
	}
	return false
}

// isScpLike says whether a text is user@host:path.
func isScpLike(text string) bool {
	host, path, ok := strings.Cut(text, ":")
	return ok && path != "" && strings.Contains(host, "@") && !strings.ContainsAny(host, "/ ")
}

func isBareRepository(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func resolve(text, baseDir, home string) string {
	if home != "" && text == "~" {
		return home
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok && home != "" {
		text = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(baseDir, text)
	}
	return filepath.Clean(text)
}

// Identity is the same for two spellings of one package, and for two refs of
// one repository: a package is there once.
func (s Source) Identity() string {
	url := s.URL
	if s.Folder != "" {
		url = s.Folder
	}
	url = strings.TrimPrefix(url, "file://")
	if filepath.IsAbs(url) {
		if real, err := filepath.EvalSymlinks(url); err == nil {
			return real
		}
		return url
	}
	for _, scheme := range schemes {
		url = strings.TrimPrefix(url, scheme)
	}
	if _, after, ok := strings.Cut(url, "@"); ok {
		url = after // the user's name
	}
	if host, rest, ok := strings.Cut(url, ":"); ok && isScpLike(s.URL) {
		url = host + "/" + rest
	}
	return "git:" + strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(path.Clean(url), "/"), ".git"))
}
