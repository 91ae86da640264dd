// Package export writes a session as one page of HTML that needs nothing
// else: no network, no second file. It reads well on a phone and in print, in
// the dark and in the light, and nothing in a conversation can run in it.
//
// It imports core/store, core/message, a markdown and a highlighting library
// only.
package export

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

//go:embed assets
var assets embed.FS

// Page is what there is to show.
type Page struct {
	Log *store.Log
	// Version names the program in the page's footer; empty: it is not named.
	Version string
}

// Write writes the page. The whole session is in it, all branches: the one
// that ends at the log's leaf is shown first. It reads the log once and holds
// one entry at a time beside it. The error is that of the writer.
func Write(to io.Writer, p Page) error {
	out := bufio.NewWriterSize(to, 1<<16)
	w := &writer{out: out, markdown: newMarkdown(), page: p}
	if err := w.write(); err != nil {
		return fmt.Errorf("export session %s: %w", p.Log.ID(), err)
	}
	return out.Flush()
}

type writer struct {
	out      *bufio.Writer
	markdown *markdown
	page     Page
	calls    map[string]string // names of tool calls by id, for their results
}

// head is what the top of the page is made of.
type head struct {
	Title   string
	ID      string
	Cwd     string
	Begun   string
	Entries int
	Totals  message.Usage
	Style   template.CSS
	Policy  string
}

// foot is what its end is made of.
type foot struct {
	Version string
	Script  template.JS
}

func (w *writer) write() error {
	style, script, err := w.readAssets()
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(script))
	segments := split(w.page.Log)
	if err := pageTemplates.ExecuteTemplate(w.out, "head", w.describe(segments, style, base64.StdEncoding.EncodeToString(sum[:]))); err != nil {
		return err
	}
	for _, s := range segments {
		if err := w.segment(s); err != nil {
			return err
		}
	}
	return pageTemplates.ExecuteTemplate(w.out, "foot", foot{Version: w.page.Version, Script: template.JS(script)}) //nolint:gosec // our own file
}

var pageTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"dollars": dollars, "thousands": thousands,
}).ParseFS(assets, "assets/*.tmpl"))

func (w *writer) readAssets() (style, script string, err error) {
	css, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return "", "", err
	}
	js, err := assets.ReadFile("assets/page.js")
	if err != nil {
		return "", "", err
	}
	code, err := w.markdown.style()
	return string(css) + code, string(js), err
}

func (w *writer) describe(segments []*segment, style, scriptHash string) head {
	log := w.page.Log
	h := head{Title: log.Name(), ID: log.ID(), Cwd: log.Header().Cwd, Begun: readable(log.Header().Timestamp), Style: template.CSS(style)} //nolint:gosec // our own file
	if h.Title == "" {
		h.Title = firstWords(log)
	}
	h.Policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" + scriptHash + "'"
	for _, s := range segments {
		h.Entries += len(s.entries)
		for _, e := range s.entries {
			h.Totals = h.Totals.Add(usageOf(e))
		}
	}
	return h
}

// usageOf is what an entry cost; zero where it cost nothing.
func usageOf(e store.Entry) message.Usage {
	switch e.Role() {
	case message.RoleAssistant, message.RoleToolResult, "":
	default:
		return message.Usage{}
	}
	var body struct {
		Usage   *message.Usage `json:"usage"`
		Message struct {
			Usage *message.Usage `json:"usage"`
		} `json:"message"`
	}
	if e.Decode(&body) != nil {
		return message.Usage{}
	}
	switch {
	case body.Message.Usage != nil:
		return *body.Message.Usage
	case body.Usage != nil:
		return *body.Usage
	}
	return message.Usage{}
}

// firstWords names a session that nobody named by how it began.
func firstWords(log *store.Log) string {
	const most = 80
	for _, e := range log.Entries() {
		if e.Role() != message.RoleUser {
			continue
		}
		if m, err := e.Message(); err == nil {
			text := []rune(message.TextOf(m))
			if len(text) > most {
				text = append(text[:most], '…')
			}
			return string(text)
		}
	}
	return "Session " + log.ID()
}

func readable(timestamp string) string {
	t, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return timestamp
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func dollars(amount float64) string {
	if amount == 0 {
		return ""
	}
	if amount < 0.01 {
		return fmt.Sprintf("$%.4f", amount)
	}
	return fmt.Sprintf("$%.2f", amount)
}

func thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}
