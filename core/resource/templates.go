package resource

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/seed-54e836f5/pi/core/readfile"
)

// Template is a prompt that is sent by its name.
type Template struct {
	Name        string // of the command, without the slash: the file's without .md
	Description string // of the frontmatter, or the first line
	Body        string
	Info        Info
}

// descriptionLength is where a description that is taken from the body is
// cut.
const descriptionLength = 60

// loadTemplates reads the templates of all places. Of two with one name the
// first counts, but one that was named for this run counts before all.
func (l *loader) loadTemplates() []Template {
	var list named[Template]
	for _, file := range l.find(promptKind) {
		t, err := readTemplate(file)
		if err != nil {
			l.report(file.Path, err.Error()+"; the template is left out.")
			continue
		}
		if clash := list.add(t.Name, t, t.Info); clash != nil {
			l.report(clash.lost.Path, fmt.Sprintf("the template /%s of %s has the same name and is used.", t.Name, clash.kept.Path))
		}
	}
	return list.items
}

func readTemplate(info Info) (Template, error) {
	t := Template{Name: strings.TrimSuffix(filepath.Base(info.Path), ".md"), Info: info}
	if strings.ContainsFunc(t.Name, unicode.IsSpace) {
		return t, fmt.Errorf("a command's name cannot have a blank, so %q cannot be called", t.Name)
	}
	data, err := readfile.Ordinary(info.Path)
	if err != nil {
		return t, fmt.Errorf("cannot be read: %w", reason(err))
	}
	doc, err := parseDocument(data)
	if err != nil {
		return t, err
	}
	t.Body = doc.body
	if t.Description = doc.text("description"); t.Description == "" {
		t.Description = shorten(firstLine(doc.body), descriptionLength)
	}
	return t, nil
}

func shorten(text string, length int) string {
	if runes := []rune(text); len(runes) > length {
		return string(runes[:length]) + "..."
	}
	return text
}

// Expand replaces a text that begins with the name of a skill or template by
// what it stands for; false: the text is no such command and stays as it is.
func (s *Set) Expand(text string) (string, bool) {
	if !strings.HasPrefix(text, "/") {
		return text, false
	}
	name, rest := cutWord(text[1:])
	if skill, ok := strings.CutPrefix(name, "skill:"); ok {
		return s.expandSkill(text, skill, rest)
	}
	for _, t := range s.templates {
		if t.Name == name {
			return substitute(t.Body, splitArguments(rest)), true
		}
	}
	return text, false
}

// cutWord cuts a text behind its first word.
func cutWord(text string) (word, rest string) {
	if at := strings.IndexFunc(text, unicode.IsSpace); at >= 0 {
		return text[:at], text[at:]
	}
	return text, ""
}

// filesIn lists the files of a folder that end so, in the order of their names.
// what is what they are, for people.
func (l *loader) filesIn(dir, ending, what string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !os.IsNotExist(err) {
			l.report(dir, fmt.Sprintf("cannot be read, so its %s are left out: %v.", what, reason(err)))
		}
		return nil
	}
	var files []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasSuffix(e.Name(), ending) && isFile(path, e) {
			files = append(files, path)
		}
	}
	return files
}

// isFile says whether an entry is a file or a link to one.
func isFile(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
