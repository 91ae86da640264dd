package languages_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"

	"github.com/seed-54e836f5/pi/core/export/languages"
)

func TestNamed(t *testing.T) {
	for name, want := range map[string]string{
		"go": "Go", "golang": "Go", "md": "Markdown", "rust": "Rust", "rs": "Rust", "ts": "TypeScript",
		"bash": "Bash", "python": "Python", "yaml": "YAML", "json": "JSON", "html": "HTML", "diff": "Diff",
		"sh": "Bash", "c++": "C++", "tsx": "TypeScript", "proto": "Protocol Buffer", "": "", "klingon": "",
	} {
		got := ""
		if lexer := languages.Named(name); lexer != nil {
			got = lexer.Config().Name
		}
		if !strings.EqualFold(got, want) {
			t.Errorf("Named(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	for name, want := range map[string]string{
		"main.go": "Go", "README.md": "Markdown", "a.py": "Python", "Dockerfile": "Docker", "Makefile": "Makefile", "a": "",
	} {
		got := ""
		if lexer := languages.Of(name); lexer != nil {
			got = lexer.Config().Name
		}
		if !strings.EqualFold(got, want) {
			t.Errorf("Of(%q) is %q, want %q", name, got, want)
		}
	}
}

// TestTokens holds the languages that have no file of chroma's to what their
// tokens are, and to losing nothing.
func TestTokens(t *testing.T) {
	for _, test := range []struct {
		language, text string
		want           map[string]chroma.TokenType
	}{
		{"go", "package a // b\n\nfunc f(s string) int {\n\tx := `r\n` + \"q\\\"\" + 'c' /* d\n */\n\treturn len(s) + 0x1F\n}\n", map[string]chroma.TokenType{
			"package": chroma.KeywordNamespace, "// b": chroma.CommentSingle, "func": chroma.KeywordDeclaration, "f": chroma.NameFunction,
			"string": chroma.KeywordType, "`r\n`": chroma.LiteralString, `"q\""`: chroma.LiteralString, "/* d\n */": chroma.CommentMultiline,
			"return": chroma.Keyword, "len": chroma.NameBuiltin, "0x1F": chroma.LiteralNumber, "x": chroma.NameOther,
		}},
		{"markdown", "# T\n\n- a **b** `c` [d](e)\n\n```go\nx\n```\n> q\n", map[string]chroma.TokenType{
			"# T": chroma.GenericHeading, "-": chroma.Keyword, "**b**": chroma.GenericStrong, "`c`": chroma.LiteralStringBacktick,
			"](e)": chroma.NameAttribute, "```go\nx\n```": chroma.LiteralString, "> q": chroma.GenericEmph,
		}},
	} {
		tokens, err := chroma.Tokenise(languages.Named(test.language), nil, test.text)
		if err != nil {
			t.Fatal(err)
		}
		var whole strings.Builder
		got := map[string]chroma.TokenType{}
		for _, token := range tokens {
			whole.WriteString(token.Value)
			got[token.Value] = token.Type
		}
		if whole.String() != test.text {
			t.Errorf("%s: the tokens say %q, want %q", test.language, whole.String(), test.text)
		}
		for value, want := range test.want {
			if got[value] != want {
				t.Errorf("%s: %q is %v, want %v", test.language, value, got[value], want)
			}
		}
	}
}

// TestEveryLanguageReads catches a file that names a language that is not here.
func TestEveryLanguageReads(t *testing.T) {
	for _, name := range []string{"html", "vue", "markdown", "go", "docker", "twig", "nix", "make", "js", "graphql"} {
		lexer := languages.Named(name)
		if lexer == nil {
			t.Errorf("no %s", name)
			continue
		}
		if _, err := chroma.Tokenise(lexer, nil, "<script>let a = 1</script>\n<style>a { b: c }</style>\nx: 1\n"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStartStaysCheap keeps chroma's own collections out of the binary.
func TestStartStaysCheap(t *testing.T) {
	deps, err := exec.Command("go", "list", "-deps", "github.com/seed-54e836f5/pi/cmd/pi").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(deps)) {
		switch strings.TrimSpace(dep) {
		case "github.com/alecthomas/chroma/v2/lexers", "github.com/alecthomas/chroma/v2/styles":
			t.Errorf("pi depends on %s", dep)
		}
	}
}
