package replay

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
)

const (
	// A file of the working directory is kept up to this many characters.
	workLimit = 4000
	// A file that the scenario itself made is left out above this size.
	ownFileLimit = 4000
)

// collect gathers what the run left behind.
func (s *sandbox) collect(sc *Scenario, lines []Line, requests []modelserver.Request) (*Transcript, error) {
	sessions, err := s.sessions()
	if err != nil {
		return nil, err
	}
	work, err := s.work(sc)
	if err != nil {
		return nil, err
	}
	return &Transcript{Lines: lines, Requests: describeRequests(requests), Work: work, Sessions: sessions}, nil
}

// sessions reads every session file, oldest first by its own header, so that
// the order does not depend on the clock of the file system.
func (s *sandbox) sessions() ([]any, error) {
	files, err := s.sessionFiles()
	if err != nil {
		return nil, err
	}
	var out []any
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var lines []any
		for line := range bytes.Lines(data) {
			if line = bytes.TrimSuffix(line, []byte{'\n'}); len(line) > 0 {
				lines = append(lines, outValue(line))
			}
		}
		out = append(out, object{"path": file, "lines": lines})
	}
	slices.SortStableFunc(out, func(a, b any) int { return strings.Compare(sessionTime(a), sessionTime(b)) })
	return out, nil
}

func sessionTime(session any) string { return text(dig(session, "lines.0"), "timestamp") }

// sessionFiles are the files with the suffix .jsonl, wherever a scenario let
// the agent put them.
func (s *sandbox) sessionFiles() ([]string, error) {
	var out []string
	for _, dir := range []string{"agent", "work", "home"} {
		err := filepath.WalkDir(s.dir(dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".jsonl" {
				return err
			}
			out = append(out, path)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// work reads the files of the working directory, except sessions, pages,
// extensions and git's own.
func (s *sandbox) work(sc *Scenario) (object, error) {
	out := object{}
	root, extensions := s.dir("work"), sc.Extensions()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" {
			return filepath.SkipDir
		}
		ext := filepath.Ext(path)
		if entry.IsDir() || ext == ".jsonl" || ext == ".html" || entry.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil || slices.Contains(extensions, "work/"+filepath.ToSlash(name)) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, own := sc.Files["work/"+filepath.ToSlash(name)]; own && len(data) > ownFileLimit {
			return nil
		}
		out[filepath.ToSlash(name)] = cut(strings.ToValidUTF8(string(data), "\uFFFD"), workLimit)
		return nil
	})
	return out, err
}

func cut(s string, characters int) string {
	for i := range s {
		if characters == 0 {
			return s[:i]
		}
		characters--
	}
	return s
}
