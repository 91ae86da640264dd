//go:build browser

package export_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/export"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/store/storetest"
)

var pictures = flag.String("pictures", "", "folder that gets screenshots of the page and its print, to look at")

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

func TestPictures(t *testing.T) {
	file := exported(t, sample(t))
	b := newTab(t)
	for _, s := range []struct {
		name          string
		width, height int
		dark          bool
	}{{"desktop", 1440, 900, false}, {"desktop-dark", 1440, 900, true}, {"tablet", 900, 1100, false}, {"phone", 390, 844, false}, {"phone-dark", 390, 844, true}} {
		b.screen(s.width, s.height, s.dark)
		b.open(file, "")
		// Nothing may make the page wider than the screen.
		b.yes(`document.documentElement.scrollWidth <= innerWidth`)
		var height int
		b.eval(`document.documentElement.scrollHeight`, &height)
		b.screen(s.width, height, s.dark)
		b.eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil)
		b.keep("Page.captureScreenshot", *pictures, s.name+".png", nil)
	}
	b.keep("Page.printToPDF", *pictures, "print.pdf", map[string]any{"printBackground": false})
}

func TestBigZZ(t *testing.T) {
	p := storetest.File(t, storetest.Options{Size: 32 << 20, Cwd: "/w", Branch: true, CompactEvery: 200})
	l, err := store.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	file := exported(t, l)
	b := newTab(t)
	b.screen(1440, 900, false)
	at := time.Now()
	b.call("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil)
	b.open(file, "")
	t.Log("load event", time.Since(at))
	metrics := func(name string) {
		var r struct {
			Metrics []struct {
				Name  string
				Value float64
			}
		}
		b.call("Performance.getMetrics", nil, &r)
		for _, m := range r.Metrics {
			switch m.Name {
			case "TaskDuration", "LayoutDuration", "RecalcStyleDuration", "ScriptDuration", "LayoutCount", "Nodes", "JSHeapUsedSize", "DevToolsCommandDuration":
				t.Log(name, m.Name, m.Value)
			}
		}
	}
	metrics("load")
	var v any
	b.eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))`, &v)
	t.Log("painted", time.Since(at), v)
	b.eval(`(async () => {
		const frames = [];
		let last = performance.now();
		for (let i = 0; i < 120; i++) {
			scrollBy(0, 200);
			await new Promise((d) => requestAnimationFrame(d));
			const now = performance.now();
			frames.push(Math.round(now - last));
			last = now;
		}
		return frames;
	})()`, &v)
	t.Log("frames", v)
	metrics("scroll")
	at = time.Now()
	b.eval(`(async () => { const i = document.querySelector("input[type=search]"); i.focus(); i.value = "pkg49"; i.dispatchEvent(new Event("input")); 
	  const o = document.querySelector("output"); let n; do { n = o.textContent; await new Promise(d => setTimeout(d, 400)); } while (n !== o.textContent || n === ""); return n })()`, &v)
	t.Log("search", time.Since(at), v)
	at = time.Now()
	b.press("Enter", 13, 0)
	b.yes("document.querySelector('article.hit') != null")
	t.Log("hit", time.Since(at))
	at = time.Now()
	b.eval("document.querySelector('nav.branch button:not(:disabled)').click()", nil)
	b.eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil)
	b.eval("performance.now()", &v)
	t.Log("branch", v, time.Since(at))
	at = time.Now()
	b.eval("document.querySelector('[data-do=unfold]').click()", nil)
	b.eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil)
	t.Log("unfold", time.Since(at))
	t.Log(b.console)
	b.eval("performance.memory.usedJSHeapSize/1e6", &v)
	t.Log("heap", v)
	b.keep("Page.captureScreenshot", *pictures, "big.png", nil)
}
