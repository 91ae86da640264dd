// Package export writes a session as one page of HTML that needs nothing
// else: no network, no second file. It reads well on a phone and in print, in
// the dark and in the light, and nothing in a conversation can run in it.
//
// It imports core/store, core/message, core/proc (for what terminals write), its
// own languages and libraries for markdown and highlighting, and nothing else of
// this module.
package export

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"sync"

	"github.com/seed-54e836f5/pi/core/export/languages"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

//go:embed assets
var assets embed.FS

// Page is what there is to show.
type Page struct {
	Log *store.Log
	// Leaf is the entry whose path is shown first; empty: the log's leaf.
	Leaf string
	// Version names the program in the page's footer; empty: it is not named.
	Version string
}

// Write writes the page. The whole session is in it, all branches, and every
// entry has an element of its id. It reads the log once, and holds one entry and an outline of the
// rest beside it. The error is that of the writer.
func Write(to io.Writer, p Page) error {
	out := bufio.NewWriterSize(to, 1<<16)
	w := &writer{out: out, markdown: newMarkdown(), page: p, seen: map[string]bool{}, calls: map[string]string{}}
	err := w.write()
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("export session %s: %w", p.Log.ID(), err)
	}
	return nil
}

type writer struct {
	out      *bufio.Writer
	markdown *markdown
	page     Page
	seen     map[string]bool   // ids that have an element already
	calls    map[string]string // what tool calls asked for, by id, for the headings of their results
}

var pageTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"dollars": dollars, "thousands": thousands, "plural": plural,
}).ParseFS(assets, "assets/*.tmpl"))

// foot is what the end of the page is made of.
type foot struct {
	Outline [][]outlineItem // in chunks
	Chunked bool            // there are so many that those off the screen are left out
	Version string
	Script  template.JS
}

func (w *writer) write() error {
	own, err := readAssets()
	if err != nil {
		return err
	}
	if err := w.put("head", w.describe(own.style, own.script)); err != nil {
		return err
	}
	segments := split(w.page.Log, w.page.Leaf)
	for _, s := range segments {
		if err := w.segment(s); err != nil {
			return err
		}
	}
	lines := slices.Collect(slices.Chunk(outline(segments), outlineChunk))
	return w.put("foot", foot{Outline: lines, Chunked: len(lines) > 1, Version: w.page.Version, Script: template.JS(own.script)}) //nolint:gosec // our own file
}

func (w *writer) put(name string, data any) error {
	return pageTemplates.ExecuteTemplate(w.out, name, data)
}

// readAssets gives what is the same in every page.
var readAssets = sync.OnceValues(func() (own struct{ style, script string }, err error) {
	css, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return own, err
	}
	js, err := assets.ReadFile("assets/page.js")
	if err != nil {
		return own, err
	}
	code, err := languages.Style()
	own.style, own.script = string(css)+code, string(js)
	return own, err
})

// head is what the top of the page is made of.
type head struct {
	Title  string
	ID     string
	Cwd    string
	Begun  string
	Totals store.Totals
	Style  template.CSS
	Policy string
}

func (w *writer) describe(style, script string) head {
	log := w.page.Log
	h := head{
		Title: clean(log.Name()), ID: log.ID(), Cwd: clean(log.Header().Cwd), Begun: readable(log.Header().Timestamp),
		Totals: log.Totals(),
		Style:  template.CSS(style), //nolint:gosec // our own file
		Policy: "default-src 'none'; img-src data:; style-src " + hashOf(style) + "; script-src " + hashOf(script) +
			"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	}
	if h.Title == "" {
		h.Title = firstWords(log)
	}
	return h
}

// hashOf names a piece of the page that its policy allows.
func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// firstWords names a session that nobody named by how it began.
func firstWords(log *store.Log) string {
	for _, e := range log.Entries() {
		if e.Role() != message.RoleUser {
			continue
		}
		if m, err := e.Message(); err == nil && m != nil {
			if text := titleOf(message.TextOf(m)); text != "" {
				return text
			}
		}
	}
	return "Session " + log.ID()
}
