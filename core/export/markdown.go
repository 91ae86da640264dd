package export

import (
	"bytes"
	"html"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	rendererhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

const (
	// markdownLimit is how many bytes of a text are read as markdown at most.
	// More of it is a file that somebody pasted.
	markdownLimit = 64 << 10
	// bracketLimit and nestingLimit are how many brackets a text may have, and
	// how many quotes and lists a line may open: nobody writes more, and time
	// grows with their square.
	bracketLimit = 2000
	nestingLimit = 32
)

// isProse says whether a text is read as markdown; if not, it is shown as it
// is.
func isProse(text string) bool {
	if len(text) > markdownLimit || strings.Count(text, "[") > bracketLimit {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) <= nestingLimit {
			continue
		}
		opens := line[:len(line)-len(strings.TrimLeft(line, ">-*+.) \t0123456789"))]
		if max(strings.Count(opens, ">"), len(strings.Fields(opens))) > nestingLimit {
			return false
		}
	}
	return true
}

// markdown turns what people and models write into HTML that is safe to show:
// raw HTML stays text, links lead to the web or nowhere, images become links.
type markdown struct {
	convert goldmark.Markdown // what models write
	hard    goldmark.Markdown // what people write: their line breaks count
	highlighter
}

func newMarkdown() *markdown {
	m := &markdown{highlighter: newHighlighter()}
	options := []goldmark.Option{
		goldmark.WithExtensions(
			extension.Linkify, extension.Strikethrough, extension.TaskList,
			// Styles of single elements are against the page's policy.
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(m, 100))),
	}
	m.convert = goldmark.New(options...)
	m.hard = goldmark.New(append(options, goldmark.WithRendererOptions(rendererhtml.WithHardWraps()))...)
	return m
}

// render shows what a model wrote.
func (m *markdown) render(text string) template.HTML { return convert(m.convert, text) }

// said shows what a person wrote.
func (m *markdown) said(text string) template.HTML { return convert(m.hard, text) }

func convert(by goldmark.Markdown, text string) template.HTML {
	text = clean(text)
	var out bytes.Buffer
	if !isProse(text) || by.Convert([]byte(text), &out) != nil {
		return output(text)
	}
	return template.HTML(out.String()) //nolint:gosec // the renderers escape
}

// RegisterFuncs implements renderer.NodeRenderer for what differs here.
func (m *markdown) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindFencedCodeBlock, m.renderCode)
	register.Register(ast.KindCodeBlock, m.renderCode)
	register.Register(ast.KindHTMLBlock, renderHTMLBlock)
	register.Register(ast.KindRawHTML, renderRawHTML)
	register.Register(ast.KindLink, renderLink)
	register.Register(ast.KindAutoLink, renderAutoLink)
	register.Register(ast.KindImage, renderImage)
}

func (m *markdown) renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var language string
	if fenced, ok := node.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(source))
	}
	_, err := w.WriteString(string(m.code(string(node.Lines().Value(source)), language)))
	return ast.WalkSkipChildren, err
}

// renderHTMLBlock shows HTML as it was written: in a conversation about code
// it is part of what was said.
func renderHTMLBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	block, ok := node.(*ast.HTMLBlock)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	text := string(block.Lines().Value(source))
	if block.HasClosure() {
		text += string(block.ClosureLine.Value(source))
	}
	_, err := w.WriteString(`<p class="plain">` + html.EscapeString(text) + "</p>\n")
	return ast.WalkSkipChildren, err
}

func renderRawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	raw, ok := node.(*ast.RawHTML)
	if !ok || !entering {
		return ast.WalkSkipChildren, nil
	}
	_, err := w.WriteString(html.EscapeString(string(raw.Segments.Value(source))))
	return ast.WalkSkipChildren, err
}

func renderLink(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	link, ok := node.(*ast.Link)
	if !ok {
		return ast.WalkContinue, nil
	}
	open, end := anchor(string(link.Destination))
	if !entering {
		open = end
	}
	_, err := w.WriteString(open)
	return ast.WalkContinue, err
}

func renderAutoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	link, ok := node.(*ast.AutoLink)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	address := string(link.URL(source))
	if link.AutoLinkType == ast.AutoLinkEmail && !isWeb.MatchString(address) {
		address = "mailto:" + address
	}
	open, end := anchor(address)
	_, err := w.WriteString(open + html.EscapeString(string(link.Label(source))) + end)
	return ast.WalkSkipChildren, err
}

// renderImage makes a link of an image: to show it would be a visit to
// wherever it lies.
func renderImage(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	image, ok := node.(*ast.Image)
	if !ok {
		return ast.WalkContinue, nil
	}
	open, end := anchor(string(image.Destination))
	if _, inLink := node.Parent().(*ast.Link); inLink {
		open, end = "", ""
	}
	if image.ChildCount() == 0 {
		open += "image"
	}
	if !entering {
		open = end
	}
	_, err := w.WriteString(open)
	return ast.WalkContinue, err
}

// isWeb tells the addresses that a link may lead to.
var isWeb = regexp.MustCompile(`^(?i:https?://|mailto:)[^\x00-\x20]`)

// anchor is what goes around the text of a link. Where the address is not of
// the web, such as a path in a project, it is shown when somebody points at
// the text.
func anchor(address string) (open, end string) {
	if isWeb.MatchString(address) {
		return `<a rel="noopener noreferrer" href="` + string(util.EscapeHTML(util.URLEscape([]byte(address), false))) + `">`, "</a>"
	}
	return `<span class="link" title="` + html.EscapeString(address) + `">`, "</span>"
}
