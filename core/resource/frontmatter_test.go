package resource

import (
	"strings"
	"testing"
)

func TestParseDocument(t *testing.T) {
	for _, c := range []struct {
		name, text        string
		description, body string
		meta              bool
		err               string
	}{
		{"none", "just text\n", "", "just text\n", false, ""},
		{"usual", "---\ndescription: Reviews\n---\n\nBody $1\n\n", "Reviews", "Body $1", true, ""},
		{"windows", "---\r\ndescription: Reviews\r\n---\r\na\r\nb\r\n", "Reviews", "a\nb", true, ""},
		{"byte order mark", "\ufeff---\ndescription: x\n---\nb", "x", "b", true, ""},
		{"blanks behind the dashes", "---  \ndescription: x\n--- \nb", "x", "b", true, ""},
		{"empty", "---\n---\nb", "", "b", true, ""},
		{"empty file", "", "", "", false, ""},
		{"not closed", "---\ndescription: x\nbody", "", "---\ndescription: x\nbody", false, ""},
		{"closed at the end", "---\ndescription: x\n---", "x", "", true, ""},
		{"dashes in the body", "---\ndescription: x\n---\na\n---\nb", "x", "a\n---\nb", true, ""},
		{"a rule, not frontmatter", "text\n---\nmore", "", "text\n---\nmore", false, ""},
		{"folded", "---\ndescription: >\n  one\n  two\n---\nb", "one two", "b", true, ""},
		{"number", "---\ndescription: 42\n---\nb", "42", "b", true, ""},
		{"list", "---\ndescription: [a]\n---\nb", "", "b", true, ""},
		{"colon in a plain text", "---\ndescription: Use when: you must, e.g. now\nname: x\n---\nb", "Use when: you must, e.g. now", "b", true, ""},
		{"colon with a quote in it", "---\ndescription: Say \"hi\": now\n---\nb", `Say "hi": now`, "b", true, ""},
		{"not a mapping", "---\n- a\n- b\n---\nb", "", "b", true, "not a list of names"},
		{"not YAML", "---\ndescription: [x\n---\nb", "", "b", true, "not YAML"},
		{"tab", "---\na:\n\t- b\n---\nb", "", "b", true, "not YAML"},
		{"too long", "---\nd: " + strings.Repeat("x", frontmatterLimit) + "\n---\nb", "", "b", true, "longer than"},
		{"nested", "---\nd: " + strings.Repeat("[", frontmatterBrackets+1) + "\n---\nb", "", "b", true, "more than"},
		{"not UTF-8", "---\ndescription: a\xffb\n---\nc\xff", "a\ufffdb", "c\ufffd", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := parseDocument([]byte(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("error %q, want one line with %q", err, c.err)
				}
				return
			}
			if err != nil || doc.text("description") != c.description || doc.body != c.body || (doc.meta != nil) != c.meta {
				t.Errorf("got %+v, %v", doc, err)
			}
		})
	}
}

func FuzzParseDocument(f *testing.F) {
	for _, seed := range []string{
		"---\nname: x\ndescription: y\n---\nbody", "---\n---\n", "---\na: &a [*a]\n---\n", "---\n? x\n: y\n---\n", "---\r\na: >\r\n b\r\n---\r\nc",
		"---\na: {b: [c, {d: e}]}\n---", "---\n!!binary x: y\n---\n", "---\n<<: *x\n---\n", "---\na: 2001-01-01\n---\n", "---\ndescription: a: b\n---\n", "---\n\"\\", "---\na: |+\n\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := parseDocument(data)
		if err == nil && doc.meta == nil && strings.HasPrefix(string(data), "---\n---\n") {
			t.Fatalf("the frontmatter of %q was not seen", data)
		}
		for _, field := range []string{"name", "description", "disable-model-invocation"} {
			if text := doc.text(field); text != strings.TrimSpace(text) {
				t.Fatalf("%s of %q is %q", field, data, text)
			}
		}
	})
}
