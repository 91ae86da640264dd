// Package languages tells code apart, so that a page can show it in colour: the
// languages that coding sessions are about, read when the first is asked for.
//
// It imports chroma only, and of chroma not the packages of all its languages
// and styles: those are read at every start of a program that they are part of,
// which costs more than everything else that pi does before its first answer.
package languages

import (
	"embed"
	"io/fs"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

//go:generate go run ./generate data

//go:embed data
var data embed.FS

// Named gives the language of a name, an alias ("golang") or the ending of a
// file's name ("rs"), and nil where none is known. It may be called from any
// goroutine.
func Named(name string) chroma.Lexer { return known().Get(name) }

// Of gives the language of a file by its name, and nil where none is known. It
// may be called from any goroutine.
func Of(name string) chroma.Lexer { return known().Match(name) }

// Style gives the colours of code as CSS, for the light, the dark and paper.
func Style() (string, error) {
	css, err := data.ReadFile("data/style.css")
	return string(css), err
}

var known = sync.OnceValue(func() *chroma.LexerRegistry {
	registry := chroma.NewLexerRegistry()
	files, err := fs.Glob(data, "data/*.xml")
	if err != nil {
		panic("languages: " + err.Error()) // the pattern is fixed
	}
	for _, file := range files {
		registry.Register(chroma.MustNewXMLLexer(data, file))
	}
	registry.Register(newGo())
	registry.Register(newMarkdown())
	return registry
})
