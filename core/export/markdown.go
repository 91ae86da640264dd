package export

import (
	"bytes"
	"html"
	"html/template"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// highlightLimit is how many bytes of code are highlighted at most: more
// would take long to make, and to show.
const highlightLimit = 64 << 10

// markdown turns what models write into HTML that is safe to show: raw HTML
// stays text, dangerous links lose their address, images become links.
type markdown struct {
	convert   goldmark.Markdown
	formatter *chromahtml.Formatter
}

func newMarkdown() *markdown {
	m := &markdown{formatter: chromahtml.New(chromahtml.WithClasses(true), chromahtml.PreventSurroundingPre(true))}
	m.convert = goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(m, 100))),
	)
	return m
}

// RegisterFuncs implements renderer.NodeRenderer for what differs here.
func (m *markdown) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindFencedCodeBlock, m.renderCode)
	register.Register(ast.KindImage, renderImage)
}

func (m *markdown) renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	block, ok := node.(*ast.FencedCodeBlock)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	var code bytes.Buffer
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		code.Write(line.Value(source))
	}
	_, err := w.WriteString(string(m.highlight(code.String(), string(block.Language(source)))))
	return ast.WalkSkipChildren, err
}

// renderImage makes a link of an image: to show it would be a visit to
// wherever it lies.
func renderImage(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	image, ok := node.(*ast.Image)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	address := string(image.Destination)
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		address = ""
	}
	_, err := w.WriteString(`<a rel="noreferrer" href="` + html.EscapeString(address) + `">` + html.EscapeString(string(image.Text(source))) + `</a>`) //nolint:staticcheck // the children are plain text
	return ast.WalkSkipChildren, err
}

// render turns markdown into HTML; what cannot be turned stays text.
func (m *markdown) render(text string) template.HTML {
	var out bytes.Buffer
	if err := m.convert.Convert([]byte(text), &out); err != nil {
		return template.HTML("<pre>" + html.EscapeString(text) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(out.String()) //nolint:gosec // the converter leaves raw HTML out
}

// code shows code, in colour where the language is known.
func (m *markdown) code(text, language string) part {
	return part{HTML: m.highlight(text, language)}
}

func (m *markdown) highlight(text, language string) template.HTML {
	plain := template.HTML(`<pre class="chroma"><code>` + html.EscapeString(text) + `</code></pre>`) //nolint:gosec // escaped
	lexer := lexers.Get(language)
	if lexer == nil || language == "" || len(text) > highlightLimit {
		return plain
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, text)
	if err != nil {
		return plain
	}
	var out bytes.Buffer
	out.WriteString(`<pre class="chroma"><code>`)
	if err := m.formatter.Format(&out, styles.Get("github"), tokens); err != nil {
		return plain
	}
	out.WriteString("</code></pre>")
	return template.HTML(out.String()) //nolint:gosec // the formatter escapes
}

// style gives the colours of code, for the light and for the dark.
func (m *markdown) style() (string, error) {
	var light, dark bytes.Buffer
	if err := m.formatter.WriteCSS(&light, styles.Get("github")); err != nil {
		return "", err
	}
	if err := m.formatter.WriteCSS(&dark, styles.Get("github-dark")); err != nil {
		return "", err
	}
	return light.String() + "\n@media screen and (prefers-color-scheme: dark) {\n" + dark.String() + "}\n", nil
}
