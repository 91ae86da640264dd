package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

func described(t *testing.T) *reference {
	t.Helper()
	r, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDocumentsAreUpToDate(t *testing.T) {
	r := described(t)
	for file, want := range map[string][]byte{"protocol.md": r.page(), "protocol.d.ts": r.typescript()} {
		got, err := os.ReadFile("../../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("docs/%s is not what the tables say: run go generate ./rpcmode", file)
		}
	}
}

// TestPageHasTheWholeTable checks the page against the table with other means
// than those that wrote it.
func TestPageHasTheWholeTable(t *testing.T) {
	r := described(t)
	sections := map[string]string{}
	for _, section := range strings.Split(string(r.page()), "\n### ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		sections[name] = body
	}
	for _, c := range r.Commands {
		body := sections[c.Name]
		if !strings.Contains(body, c.Description) {
			t.Errorf("%s is not described", c.Name)
		}
		for _, f := range c.Fields {
			row := regexp.MustCompile("(?m)^\\| `" + f.Name + "` \\| .*$").FindString(body)
			if strings.Contains(row, "required") != f.Required || !containsAll(row, f.Enum) {
				t.Errorf("%s: field %s: the row is %q", c.Name, f.Name, row)
			}
		}
		for _, name := range slices.Concat([]string{c.Name}, c.Aliases) {
			if !strings.Contains(body, `"type":"`+name+`"`) {
				t.Errorf("%s: no example of %s", c.Name, name)
			}
		}
		if strings.Contains(body, "has no data") != (c.Data == nil) {
			t.Errorf("%s: data", c.Name)
		}
	}
	for _, e := range r.Events {
		if !strings.Contains(sections[e.Type], `type: "`+e.Type+`";`) {
			t.Errorf("event %s is missing", e.Type)
		}
	}
	for _, f := range r.Frames {
		if !strings.Contains(sections[f.Type], `type: "`+f.Type+`";`) {
			t.Errorf("frame %s is missing", f.Type)
		}
	}
}

func containsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

func TestTypesAreWhole(t *testing.T) {
	r := described(t)
	text := string(r.typescript())
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^export (?:type|interface) (\w+)`).FindAllStringSubmatch(text, -1) {
		if declared[m[1]] {
			t.Errorf("%s is declared twice", m[1])
		}
		declared[m[1]] = true
	}
	for _, c := range r.Commands {
		if !declared[commandType(c.Name)] {
			t.Errorf("no type for the command %s", c.Name)
		}
	}
	for _, e := range r.Events {
		if !declared[eventType(e.Type)] {
			t.Errorf("no type for the event %s", e.Type)
		}
	}
	for _, f := range r.Frames {
		if f.Type != wire.TypeResponse && !declared[frameType(f.Type)] {
			t.Errorf("no type for the frame %s", f.Type)
		}
	}
	for name, s := range r.defs {
		for _, m := range regexp.MustCompile(`: ([A-Z]\w+)`).FindAllStringSubmatch(s.expression(""), -1) {
			if !declared[m[1]] && m[1] != "Record" {
				t.Errorf("%s uses %s, which is not declared", name, m[1])
			}
		}
	}
}
