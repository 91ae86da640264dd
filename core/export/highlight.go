package export

import (
	"bytes"
	"html"
	"html/template"
	"path"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"

	"github.com/seed-54e836f5/pi/core/export/languages"
)

const (
	// codeLimit is how many bytes of one piece of code are shown in colour at
	// most, and pageCodeLimit of a whole page: colours make it many times as
	// large.
	codeLimit     = 64 << 10
	pageCodeLimit = 8 << 20
	// codeTime is how long one piece may take, and pageCodeTime a whole page:
	// languages are told apart by expressions that some texts keep busy.
	codeTime     = 500 * time.Millisecond
	pageCodeTime = 20 * time.Second
)

// highlighter shows code in colour.
type highlighter struct {
	left  int                     // bytes that may still be shown in colour
	time  time.Duration           // that may still be spent on colours
	named map[string]chroma.Lexer // by the ending of file names; nil: none
}

func newHighlighter() highlighter {
	return highlighter{left: pageCodeLimit, time: pageCodeTime, named: map[string]chroma.Lexer{}}
}

// code shows code, in colour where the language is known.
func (h *highlighter) code(text, language string) template.HTML {
	if language == "" {
		return h.colour(text, nil)
	}
	return h.colour(text, languages.Named(language))
}

// codeOf shows the code of a file.
func (h *highlighter) codeOf(text, name string) template.HTML {
	ending := path.Ext(name)
	lexer, known := h.named[ending]
	if !known {
		if ending != "" {
			lexer = languages.Of("x" + ending)
		}
		h.named[ending] = lexer
	}
	return h.colour(text, lexer)
}

func (h *highlighter) colour(text string, lexer chroma.Lexer) template.HTML {
	text = clean(text)
	var out bytes.Buffer
	out.WriteString(`<pre class="chroma"><code>`)
	if lexer == nil || len(text) > min(codeLimit, h.left) || !h.tokens(&out, text, lexer) {
		return template.HTML(`<pre class="chroma"><code>` + html.EscapeString(text) + "</code></pre>") //nolint:gosec // escaped
	}
	h.left -= len(text)
	out.WriteString("</code></pre>")
	return template.HTML(out.String()) //nolint:gosec // tokens escapes
}

// tokens writes text with a class for each of its tokens. It gives false where
// that takes too long, or goes wrong.
func (h *highlighter) tokens(out *bytes.Buffer, text string, lexer chroma.Lexer) bool {
	begun := time.Now()
	defer func() { h.time -= time.Since(begun) }()
	next, err := lexer.Tokenise(nil, text)
	if err != nil {
		return false
	}
	size := 0
	var last chroma.Token // with those of its kind before it
	for token := next(); ; token = next() {
		if time.Since(begun) > min(codeTime, h.time) {
			return false
		}
		if token.Type == last.Type && token != chroma.EOF {
			last.Value += token.Value
			continue
		}
		size += len(last.Value)
		writeToken(out, last)
		if token == chroma.EOF {
			return size >= len(text) // a lexer may add a line feed, but must not lose anything
		}
		last = token
	}
}

func writeToken(out *bytes.Buffer, token chroma.Token) {
	class := chroma.StandardTypes[token.Type]
	if class == "" || strings.TrimSpace(token.Value) == "" {
		out.WriteString(html.EscapeString(token.Value))
		return
	}
	out.WriteString(`<span class="` + class + `">` + html.EscapeString(token.Value) + "</span>")
}
