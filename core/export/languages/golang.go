package languages

import "github.com/alecthomas/chroma/v2"

// newGo makes the language Go, which chroma has no file for.
func newGo() chroma.Lexer {
	return chroma.MustNewLexer(&chroma.Config{
		Name: "Go", Aliases: []string{"go", "golang"}, Filenames: []string{"*.go"},
	}, func() chroma.Rules {
		return chroma.Rules{"root": {
			{Pattern: `\s+`, Type: chroma.TextWhitespace},
			{Pattern: `//[^\n]*`, Type: chroma.CommentSingle},
			{Pattern: `/\*[\s\S]*?\*/`, Type: chroma.CommentMultiline},
			{Pattern: "`[^`]*`" + `|"(?:\\.|[^"\\\n])*"`, Type: chroma.LiteralString},
			{Pattern: `'(?:\\.[^'\n]*|[^'\\\n])'`, Type: chroma.LiteralStringChar},
			{Pattern: chroma.Words(`\b`, `\b`, "import", "package"), Type: chroma.KeywordNamespace},
			{Pattern: chroma.Words(`\b`, `\b`, "chan", "const", "func", "interface", "map", "struct", "type", "var"), Type: chroma.KeywordDeclaration},
			{Pattern: chroma.Words(`\b`, `\b`, "break", "case", "continue", "default", "defer", "else", "fallthrough", "for", "go", "goto",
				"if", "range", "return", "select", "switch"), Type: chroma.Keyword},
			{Pattern: chroma.Words(`\b`, `\b`, "false", "iota", "nil", "true"), Type: chroma.KeywordConstant},
			{Pattern: chroma.Words(`\b`, `\b`, "any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32", "float64",
				"int", "int8", "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr"),
				Type: chroma.KeywordType},
			{Pattern: chroma.Words(`\b`, `\b(?=\s*\()`, "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make",
				"max", "min", "new", "panic", "print", "println", "real", "recover"), Type: chroma.NameBuiltin},
			{Pattern: `(?:0[xX][\da-fA-F_.]+(?:[pP][+-]?\d+)?|0[bBoO][\d_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)i?`,
				Type: chroma.LiteralNumber},
			{Pattern: `[^\W\d]\w*(?=\s*\()`, Type: chroma.NameFunction},
			{Pattern: `[^\W\d]\w*`, Type: chroma.NameOther},
			{Pattern: `[-+*/%&|^!=<>:~]+`, Type: chroma.Operator},
			{Pattern: `[][(){}.,;]`, Type: chroma.Punctuation},
		}}
	})
}
