package resource

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/readfile"
)

// ContextFile is a file of instructions that the model always sees.
type ContextFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// contextNames are the context files of a folder; the first that is there
// counts.
var contextNames = []string{"AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"}

// loadContext reads the user's context file, then those of the working folder
// and all above it, from the outside in: what is nearer is said last.
func (l *loader) loadContext() []ContextFile {
	var above []string
	for at := l.options.Cwd; ; at = filepath.Dir(at) {
		above = append(above, at)
		if at == filepath.Dir(at) {
			break
		}
	}
	slices.Reverse(above)
	var files []ContextFile
	seen := map[string]bool{}
	for _, dir := range append([]string{l.options.AgentDir}, above...) {
		file, ok := l.contextOf(dir)
		if real := realPath(file.Path); ok && !seen[real] {
			seen[real] = true
			files = append(files, file)
		}
	}
	return files
}

func (l *loader) contextOf(dir string) (ContextFile, bool) {
	for _, name := range contextNames {
		path := filepath.Join(dir, name)
		content, ok := l.readText(path)
		if ok {
			return ContextFile{Path: path, Content: content}, true
		}
	}
	return ContextFile{}, false
}

// readText reads a file of text; false: there is none, or it is a folder or
// cannot be read, which is reported.
func (l *loader) readText(path string) (string, bool) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return "", false
	}
	var data []byte
	if err == nil {
		data, err = readfile.Ordinary(path)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			l.report(path, fmt.Sprintf("cannot be read, so it is left out: %v.", reason(err)))
		}
		return "", false
	}
	text := strings.TrimPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), "\uFEFF")
	return strings.ReplaceAll(text, "\r\n", "\n"), true
}

// loadSystem finds the texts that replace the system prompt's first part and
// that are appended to it.
func (l *loader) loadSystem() (system string, appended []string) {
	o := l.options
	dirs := []string{o.AgentDir}
	if o.Trusted {
		dirs = []string{filepath.Join(o.Cwd, ".pi"), o.AgentDir}
	}
	first := func(name string) string {
		for _, dir := range dirs {
			if text, ok := l.readText(filepath.Join(dir, name)); ok && strings.TrimSpace(text) != "" {
				return text
			}
		}
		return ""
	}
	if system = l.textOrFile(o.SystemPrompt); system == "" {
		system = first("SYSTEM.md")
	}
	if text := first("APPEND_SYSTEM.md"); text != "" {
		appended = append(appended, text)
	}
	for _, text := range o.AppendSystemPrompt {
		if text = l.textOrFile(text); text != "" {
			appended = append(appended, text)
		}
	}
	return system, appended
}

// textOrFile gives the content of the file that a flag names, or the flag's
// own text.
func (l *loader) textOrFile(value string) string {
	if value == "" || strings.Contains(value, "\n") {
		return value
	}
	path := l.absolute(Place{Text: value, BaseDir: l.options.Cwd})
	if strings.ContainsAny(value[:1], "!+-") {
		return value
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return value
	}
	if text, ok := l.readText(path); ok {
		return text
	}
	return value
}
