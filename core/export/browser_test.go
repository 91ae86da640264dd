//go:build browser

package export_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/export"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/store"
)

var (
	pictures = flag.String("pictures", "", "folder that gets screenshots of the page and its print, to look at")
	mebibyte = flag.Int64("mebibyte", 8, "size of the session that TestLargePage opens")
)

// exported writes the page of a session to a file.
func exported(t *testing.T, log *store.Log) string {
	t.Helper()
	var page bytes.Buffer
	if err := export.Write(&page, export.Page{Log: log, Version: "1.0.0"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// entryWith finds the entry whose line holds a text.
func entryWith(t *testing.T, log *store.Log, text string) string {
	t.Helper()
	for _, e := range log.Entries() {
		if strings.Contains(string(e.Raw), text) {
			return e.ID
		}
	}
	t.Fatalf("no entry holds %q", text)
	return ""
}

// seen is an expression: an entry is on the screen, below the bar.
func seen(id string) string {
	return fmt.Sprintf(`(() => {
		const r = document.getElementById(%s).getBoundingClientRect();
		return r.height > 0 && r.bottom > document.querySelector(".bar").getBoundingClientRect().bottom && r.top < innerHeight;
	})()`, quote(id))
}

// quiet fails the test if the page complained, or asked for anything but
// itself.
func (b *tab) quiet() {
	b.t.Helper()
	b.yes("true") // all that was said until now has come
	for _, line := range b.console {
		b.t.Errorf("the console says %s", line)
	}
	for _, e := range b.events {
		var request struct{ Request struct{ URL string } }
		if e.Method == "Page.javascriptDialogOpening" {
			b.t.Error("the page opened a dialog")
		}
		if e.Method != "Network.requestWillBeSent" {
			continue
		}
		if err := json.Unmarshal(e.Params, &request); err != nil {
			b.t.Fatal(err)
		}
		if url := request.Request.URL; !strings.HasPrefix(url, "file:///") && !strings.HasPrefix(url, "data:image/") && !strings.HasPrefix(url, "about:") {
			b.t.Errorf("the page asked for %s", url)
		}
	}
}

func TestBranchesInABrowser(t *testing.T) {
	log := sample(t)
	b := newTab(t)
	b.screen(1440, 900, false)
	b.open(exported(t, log), "")
	left, last := entryWith(t, log, "keep the signature"), entryWith(t, log, "Release notes:")
	b.yes(`!` + seen(left))

	// The arrows show the branch beside, and what was shown last behind it.
	b.click(`main section:not([hidden]) > nav.branch button:not(:disabled)`)
	b.yes(`document.getElementById(` + quote(left) + `).checkVisibility() && !document.getElementById(` + quote(last) + `).checkVisibility()`)
	b.click(`main section:not([hidden]) > nav.branch button:not(:disabled)`)
	b.yes(`!document.getElementById(` + quote(left) + `).checkVisibility() && document.getElementById(` + quote(last) + `).checkVisibility()`)

	// The outline leads to any place, and shows which are on the path.
	other := entryWith(t, log, "Another answer")
	b.click(`.outline a[href="#` + other + `"]`)
	b.yes(seen(other) + ` && location.hash === "#` + other + `"`)
	b.yes(`!document.querySelector('.outline a[href="#` + other + `"]').parentElement.classList.contains("off")`)
	b.yes(`document.querySelectorAll(".outline li.off").length > 3`)
	b.yes(`document.querySelector(".outline [aria-current] a").hash === "#` + other + `"`)
	// A second click comes back there.
	b.eval(`scrollTo(0, 0)`, nil)
	b.click(`.outline a[href="#` + other + `"]`)
	b.yes(seen(other))
	// The history of the browser does as well.
	b.eval(`location.hash = ""; history.back()`, nil)
	b.yes(seen(other))
	b.quiet()
}

func TestLinksInABrowser(t *testing.T) {
	log := sample(t)
	file := exported(t, log)
	b := newTab(t)
	b.screen(1440, 900, false)
	for _, e := range log.Entries() {
		b.open(file, "#"+e.ID)
		if e.Type == store.TypeLabel || e.Type == store.TypeCustom {
			b.yes(`document.getElementById(` + quote(e.ID) + `).closest("section").checkVisibility()`)
			continue
		}
		b.yes(seen(e.ID))
	}
	b.open(file, "#no-such-entry")
	b.open(file, "#%")
	b.quiet()
}

func TestSearchInABrowser(t *testing.T) {
	log := sample(t)
	b := newTab(t)
	b.screen(1440, 900, false)
	b.open(exported(t, log), "")
	counter := func(text string) string {
		return `document.querySelector("output").textContent === ` + quote(text)
	}
	marked := `(() => { const list = [...CSS.highlights.get("found")]; return list.length > 0 && list.map((r) => r.toString().toLowerCase()).every((s) => s === "%s"); })()`

	// Found in folded output, which unfolds.
	b.press("/", 191, 0)
	b.typeText("PKG99")
	b.yes(counter("1"))
	b.press("Enter", 13, 0)
	b.yes(counter("1 / 1") + ` && document.querySelector("article.hit details").open && ` + fmt.Sprintf(marked, "pkg99"))

	// Found on branches that are not shown, over the borders of elements.
	b.eval(`document.querySelector("input").select()`, nil)
	b.typeText("signature. Try")
	b.yes(counter("1"))
	b.press("Enter", 13, 0)
	b.yes(counter("1 / 1") + ` && ` + seen(entryWith(t, log, "keep the signature")))
	b.eval(`document.querySelector("input").select()`, nil)
	b.typeText("p.peek() ==")
	b.yes(counter("2"))
	b.press("Enter", 13, 0)
	b.yes(counter("1 / 2") + ` && ` + fmt.Sprintf(marked, "p.peek() =="))
	b.press("Enter", 13, 8) // with shift: backwards, around the beginning
	b.yes(counter("2 / 2"))
	b.click(`button[data-do=next]`)
	b.yes(counter("1 / 2"))

	// Nothing, and the end of it. What was typed is no expression.
	b.click(`input[type=search]`)
	b.eval(`document.querySelector("input").select()`, nil)
	b.typeText("(.*")
	b.yes(counter("0"))
	b.press("Escape", 27, 0)
	b.yes(counter("") + ` && document.querySelector("input").value === "" && CSS.highlights.get("found").size === 0`)
	b.quiet()
}

func TestButtonsInABrowser(t *testing.T) {
	log := sample(t)
	b := newTab(t)
	b.screen(390, 844, false)
	b.open(exported(t, log), "")

	b.yes(`!document.querySelector("nav.outline").checkVisibility()`)
	b.click(`button[data-do=outline]`)
	b.yes(`document.querySelector("nav.outline").checkVisibility()`)
	last := entryWith(t, log, "Write the release notes")
	b.click(`.outline a[href="#` + last + `"]`)
	b.yes(`!document.querySelector("nav.outline").checkVisibility() && ` + seen(last))

	b.click(`button[data-do=tools]`)
	b.yes(`[...document.querySelectorAll("article.tool")].every((a) => !a.checkVisibility())`)
	b.click(`button[data-do=tools]`)
	b.yes(`[...document.querySelectorAll("section:not([hidden]) article.tool")].every((a) => a.checkVisibility())`)

	b.click(`button[data-do=unfold]`)
	b.yes(`[...document.querySelectorAll("details")].every((d) => d.open)`)
	b.click(`button[data-do=unfold]`)
	b.yes(`[...document.querySelectorAll("details")].every((d) => !d.open)`)
	b.quiet()
}

func TestHostileContentInABrowser(t *testing.T) {
	b := newTab(t)
	b.screen(1440, 900, false)
	// Everything at once, and a page for what only does harm alone.
	texts := append([]string{strings.Join(hostile, "\n\n")}, hostile...)
	for _, text := range texts {
		log := everywhere(t, text)
		b.open(exported(t, log), "#"+log.Leaf())
		b.click(`button[data-do=unfold]`)
		b.eval(`for (const e of document.querySelectorAll("main *")) for (const kind of ["mouseover", "focus", "click", "error", "load"])
			if (!e.closest("button, summary, a[href]")) e.dispatchEvent(new Event(kind, { bubbles: true }))`, nil)
		b.yes(`typeof pwned === "undefined" && document.querySelectorAll("script, style").length === 2`)
		b.quiet()
		if t.Failed() {
			t.Fatalf("the text is %q", text)
		}
	}
}

// cost is how long the page kept its thread busy, whatever else the machine
// does.
func (b *tab) cost() (milliseconds float64) {
	b.t.Helper()
	var result struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	b.call("Performance.getMetrics", nil, &result)
	for _, m := range result.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value * 1000
		}
	}
	b.t.Fatal("the browser does not say how busy it was")
	return 0
}

func TestLargePage(t *testing.T) {
	for name, log := range map[string]*store.Log{
		"long": large(t, *mebibyte<<20),
		// A branch at every turn: the path is of many short pieces.
		"branched": manyBranches(t, int(*mebibyte)*200),
	} {
		t.Run(name, func(t *testing.T) { openLarge(t, log) })
	}
}

func manyBranches(t *testing.T, turns int) *store.Log {
	t.Helper()
	s := newSession(t)
	last := s.user("the beginning")
	for i := range turns {
		s.leaf(last)
		s.user(fmt.Sprintf("question %d, asked badly", i))
		s.leaf(last)
		s.user(fmt.Sprintf("question %d", i))
		s.answer(message.TextBlock(markdownAnswer), call("c", "bash", map[string]any{"command": "go test ./..."}))
		last = s.result("c", "bash", fmt.Sprintf("ok pkg%d\nok pkg49\n", i))
	}
	return s.log
}

func openLarge(t *testing.T, log *store.Log) {
	file := exported(t, log)
	b := newTab(t)
	b.screen(1440, 900, false)
	b.call("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil)
	b.open(file, "")
	b.yes("true")
	opened := b.cost()

	const frames = 120
	scroll := fmt.Sprintf(`(async () => {
		for (let i = 0; i < %d; i++) {
			scrollBy(0, 100);
			await new Promise((done) => requestAnimationFrame(done));
		}
	})()`, frames)
	b.eval(scroll, nil)
	before := b.cost()
	b.eval(scroll, nil)
	frame := (b.cost() - before) / frames

	before = b.cost()
	entries := log.Entries()
	far := entries[len(entries)/2].ID
	b.eval(`location.hash = `+quote(far), nil)
	b.yes(seen(far))
	jump := b.cost() - before

	before = b.cost()
	b.click(`input[type=search]`)
	b.typeText("pkg49")
	b.yes(`/^\d+$/.test(document.querySelector("output").textContent)`)
	b.press("Enter", 13, 0)
	b.yes(`document.querySelector("output").textContent.startsWith("1 / ")`)
	search := b.cost() - before

	t.Logf("%d MiB: open %.0f ms, a frame of scrolling %.1f ms, a jump %.0f ms, a search %.0f ms", *mebibyte, opened, frame, jump, search)
	// Generous, for machines that are slow: what counts is that it does not
	// grow with the square of the session.
	if limit := 400 * float64(*mebibyte); opened > limit || search > limit || jump > limit {
		t.Errorf("more than %.0f ms for one of open, search and jump", limit)
	}
	if frame > 33 {
		t.Errorf("a frame takes %.1f ms: scrolling is not smooth", frame)
	}
	b.quiet()
}

func TestScreens(t *testing.T) {
	file := exported(t, sample(t))
	b := newTab(t)
	for _, s := range []struct {
		name          string
		width, height int
		dark          bool
	}{
		{"desktop", 1440, 900, false}, {"desktop-dark", 1440, 900, true}, {"tablet", 900, 1100, false},
		{"phone", 390, 844, false}, {"phone-dark", 390, 844, true}, {"small-phone", 320, 568, false},
	} {
		b.screen(s.width, s.height, s.dark)
		b.open(file, "")
		b.yes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, s.width)) // nothing sticks out
		var faint []string
		b.eval(contrast, &faint)
		if len(faint) > 0 {
			t.Errorf("%s: there is too little contrast in %q", s.name, faint)
		}
		var height int
		b.eval(`document.documentElement.scrollHeight`, &height)
		b.screen(s.width, height, s.dark)
		b.eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil)
		b.keep("Page.captureScreenshot", s.name+".png", nil)
	}
	b.screen(794, 1123, true) // paper is light, whatever the screen is
	b.open(file, "")
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	b.yes(`!document.querySelector(".bar").checkVisibility() && !document.querySelector(".outline").checkVisibility()`)
	b.keep("Page.captureScreenshot", "print.png", map[string]any{"captureBeyondViewport": true})
	if pdf := b.keep("Page.printToPDF", "print.pdf", nil); !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Error("the page does not print")
	}
	b.quiet()
}

// contrast is an expression for the texts that stand out from what lies behind
// them less than the accessibility guidelines ask for.
const contrast = `(() => {
	const parse = (c) => c.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => {
		const [x, y, z] = [r, g, b].map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
		return 0.2126 * x + 0.7152 * y + 0.0722 * z;
	};
	const behind = (e) => {
		for (; e; e = e.parentElement) {
			const c = parse(getComputedStyle(e).backgroundColor);
			if (c.length < 4 || c[3] > 0) return c;
		}
		return [255, 255, 255];
	};
	const faint = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walker.nextNode(); n; n = walker.nextNode()) {
		const e = n.parentElement;
		if (!n.data.trim() || !e.checkVisibility() || e.closest("button:disabled, script")) continue;
		const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) faint.push(ratio.toFixed(1) + " " + e.className + " " + n.data.trim());
	}
	return faint;
})()`
