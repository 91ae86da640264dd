package languages

import "github.com/alecthomas/chroma/v2"

// newMarkdown makes the language Markdown, which chroma has no file for. It
// looks at lines and at what stands out in them, not at what is nested.
func newMarkdown() chroma.Lexer {
	return chroma.MustNewLexer(&chroma.Config{
		Name: "Markdown", Aliases: []string{"markdown", "md"}, Filenames: []string{"*.md", "*.markdown"},
	}, func() chroma.Rules {
		return chroma.Rules{"root": {
			{Pattern: "(?m)^(?:```|~~~)[\\s\\S]*?(?:^(?:```|~~~)[ \t]*$|\\z)", Type: chroma.LiteralString},
			{Pattern: `(?m)^#{1,6}\s[^\n]*`, Type: chroma.GenericHeading},
			{Pattern: `(?m)^>[^\n]*`, Type: chroma.GenericEmph},
			{Pattern: `(?m)^[ \t]*(?:[-*+]|\d+[.)])(?=[ \t])`, Type: chroma.Keyword},
			{Pattern: `<!--[\s\S]*?-->`, Type: chroma.Comment},
			{Pattern: "`[^`\n]+`", Type: chroma.LiteralStringBacktick},
			{Pattern: `\*\*[^*\n]+\*\*|__[^_\n]+__`, Type: chroma.GenericStrong},
			{Pattern: `\]\([^)\n]*\)`, Type: chroma.NameAttribute},
			{Pattern: `[^\n*_<\]` + "`" + `]+|[\s\S]`, Type: chroma.Text},
		}}
	})
}
