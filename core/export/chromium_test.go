//go:build browser

package export_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// tab is a tab of a headless Chromium, driven over its debugging pipe: JSON in
// both directions, each message ended by a zero byte.
type tab struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	calls   int
	session string
	events  []frame  // that nobody has waited for yet
	console []string // what the page complained about
}

type frame struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// newTab starts a browser of the test's own.
func newTab(t *testing.T) *tab {
	t.Helper()
	toRead, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, toWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, chromium(t), "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
		"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--hide-scrollbars", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{toRead, toWrite}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = toRead.Close(), toWrite.Close()
	b := &tab{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	t.Cleanup(func() {
		_, _ = in.Close(), out.Close()
		cancel()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("what the browser said: %s", stderr.Bytes())
		}
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("there is no Chromium in PATH: install the package chromium")
	return ""
}

// call makes one call and reads up to its result.
func (b *tab) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.calls++
	command := map[string]any{"id": b.calls, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	raw, err := json.Marshal(command)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(raw, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.read()
		if m.ID != b.calls {
			b.events = append(b.events, m)
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

func (b *tab) read() frame {
	b.t.Helper()
	raw, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	var m frame
	if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	switch m.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
		b.console = append(b.console, string(m.Params))
	}
	return m
}

// wait reads up to an event.
func (b *tab) wait(method string) frame {
	b.t.Helper()
	for {
		for i, m := range b.events {
			if m.Method == method {
				b.events = append(b.events[:i], b.events[i+1:]...)
				return m
			}
		}
		b.events = append(b.events, b.read())
	}
}

// open loads a file, with what follows its name in the address.
func (b *tab) open(file, hash string) {
	b.t.Helper()
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": "about:blank"}, nil)
	b.wait("Page.loadEventFired")
	b.call("Page.navigate", map[string]any{"url": "file://" + filepath.ToSlash(file) + hash}, nil)
	b.wait("Page.loadEventFired")
}

// eval gives the value of an expression, which may be a promise.
func (b *tab) eval(expression string, value any) {
	b.t.Helper()
	var result struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &result)
	if result.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, result.ExceptionDetails)
	}
	if value != nil && json.Unmarshal(result.Result.Value, value) != nil {
		b.t.Fatalf("%s: %s", expression, result.Result.Value)
	}
}

// yes fails the test unless an expression becomes true.
func (b *tab) yes(expression string) {
	b.t.Helper()
	var ok bool
	b.eval(`new Promise((done) => {
		const until = performance.now() + 20000;
		const look = () => ((`+expression+`) ? done(true) : performance.now() > until ? done(false) : requestAnimationFrame(look));
		look();
	})`, &ok)
	if !ok {
		b.t.Errorf("not true in the page: %s", expression)
	}
}

// click clicks into the middle of an element, as a mouse does.
func (b *tab) click(selector string) {
	b.t.Helper()
	var at *struct{ X, Y float64 }
	b.eval(`(() => {
		const e = document.querySelector(`+quote(selector)+`);
		if (!e) return null;
		e.scrollIntoViewIfNeeded();
		const r = e.getBoundingClientRect();
		return { X: r.left + r.width / 2, Y: r.top + r.height / 2 };
	})()`, &at)
	if at == nil {
		b.t.Fatalf("there is no %s in the page", selector)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// typeText types into what has the focus.
func (b *tab) typeText(text string) {
	b.t.Helper()
	b.call("Input.insertText", map[string]any{"text": text}, nil)
}

func (b *tab) press(key string, code int, modifiers int) {
	b.t.Helper()
	for _, kind := range []string{"rawKeyDown", "char", "keyUp"} {
		params := map[string]any{"type": kind, "key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
		if kind == "char" {
			params["text"] = map[string]string{"Enter": "\r"}[key]
		}
		b.call("Input.dispatchKeyEvent", params, nil)
	}
}

// screen sets the size of the window, and the colours that the reader prefers.
func (b *tab) screen(width, height int, dark bool) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// keep gives what Page.captureScreenshot or Page.printToPDF made, and stores it
// in the folder of -pictures, for a person to look at.
func (b *tab) keep(method, name string, params map[string]any) []byte {
	b.t.Helper()
	var result struct{ Data string }
	b.call(method, params, &result)
	data, err := base64.StdEncoding.DecodeString(result.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if *pictures != "" {
		if err := os.WriteFile(filepath.Join(*pictures, name), data, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return data
}

func quote(s string) string {
	raw, _ := json.Marshal(s) // a string always encodes
	return string(raw)
}
