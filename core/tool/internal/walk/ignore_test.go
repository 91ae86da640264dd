package walk

import (
	"strings"
	"testing"
)

// FuzzRules checks what holds for every ignore file: it does not depend on
// line endings, a rule for its opposite undoes it, and lines that say nothing
// change nothing.
func FuzzRules(f *testing.F) {
	f.Add("*.log\n!a.log\n", "a.log", false)
	f.Add("/x/**\nfoo\\ \n[a-c]/\n", "x/y", true)
	f.Add("{a}\n\\#b\n", "{a}", false)
	f.Fuzz(func(t *testing.T, text, rel string, folder bool) {
		if strings.ContainsRune(text, '\r') || strings.HasPrefix(text, "\ufeff") {
			return
		}
		said := parseRules(text).say(rel, folder)
		for _, same := range []string{"\ufeff" + text, strings.ReplaceAll(text, "\n", "\r\n"), text + "\n# comment\n\n", text + "\n" + text} {
			if got := parseRules(same).say(rel, folder); got != said {
				t.Fatalf("%q says %d of %q, but %q says %d", text, said, rel, same, got)
			}
		}
		if said == ignored && parseRules(text+"\n!"+lastIgnoring(text, rel, folder)).say(rel, folder) != wanted {
			t.Fatalf("%q: the opposite of the rule that ignores %q does not undo it", text, rel)
		}
	})
}

// lastIgnoring is the line that a path is ignored for.
func lastIgnoring(text, rel string, folder bool) string {
	found := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if r, ok := parseRule(line); ok && r.says == ignored && r.matches(rel, folder) {
			found = line
		}
	}
	return found
}
