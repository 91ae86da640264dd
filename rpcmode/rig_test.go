package rpcmode_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/internal/scripted"
	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
)

// rig is a session that is served over pipes in memory. The model answers
// what the prompt orders: see scripted.Model.
type rig struct {
	t       *testing.T
	session *session.Session
	ui      *rpcmode.UI
	model   *scripted.Model
	input   *io.PipeWriter
	output  *output
	served  chan struct{} // closed when Serve has returned
	err     error         // of Serve
}

// setup changes what a rig is made of.
type setup func(*session.Config, *rpcmode.Options)

func xcsh(_ *session.Config, o *rpcmode.Options) { o.Dialect = rpcmode.XCSH }

// withHooks gives the session listeners.
func withHooks(listeners ...hook.Listener) setup {
	return func(c *session.Config, _ *rpcmode.Options) { c.Hooks.Set(listeners) }
}

func newRig(t *testing.T, change ...setup) *rig {
	t.Helper()
	in, input := io.Pipe()
	out := newOutput()
	r := &rig{t: t, input: input, output: out, served: make(chan struct{}), model: &scripted.Model{}}
	config, options := scripted.Config(t.TempDir(), r.model), rpcmode.Options{In: in, Version: "1.2.3"}
	for _, f := range change {
		f(&config, &options)
	}
	if options.Dialect == "" {
		options.Dialect = rpcmode.Pi
	}
	options.Out = watched(t, options.Dialect, out)
	if options.UI == nil {
		options.UI = rpcmode.NewUI(options.Dialect, false)
	}
	r.ui, config.UI = options.UI, options.UI
	r.session = session.New(config)
	options.Session = r.session
	options.Started = func() { r.session.Start("startup", "") }
	go func() {
		defer close(r.served)
		r.err = rpcmode.Serve(t.Context(), options)
	}()
	t.Cleanup(func() { // for a test that gave up
		_ = input.Close()
		<-r.served
	})
	return r
}

// watched holds every frame that is written to out against its schema.
func watched(t *testing.T, dialect rpcmode.Dialect, out io.Writer) io.Writer {
	return contracts[dialect].Watch(out, func(line []byte, err error) { t.Errorf("%v: %.1000s", err, line) })
}

// send writes lines.
func (r *rig) send(lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(r.input, line+"\n"); err != nil {
			r.t.Fatalf("send %s: %v", line, err)
		}
	}
}

// end closes the input and waits for Serve.
func (r *rig) end() {
	r.t.Helper()
	if err := r.input.Close(); err != nil {
		r.t.Fatal(err)
	}
	<-r.served
	if r.err != nil {
		r.t.Errorf("Serve gave %v", r.err)
	}
}

// play carries out a script, in a bubble of virtual time. Its lines are
//
//	> text    sent, together with the lines like it that follow
//	< text    expected next, once nothing moves any more; … stands for anything
//	<* text   like it, but a row of these comes in any order
//	wait d    time passes
//	close     the input ends
//
// Blank lines and those behind # say nothing. What comes and is not expected
// is an error, save the events whose type is named in skip.
func play(t *testing.T, script string, skip []string, change ...setup) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, change...)
		var sending []string
		var closed bool
		flush := func() {
			if len(sending) > 0 {
				r.send(strings.Join(sending, "\n"))
				sending = nil
			}
			synctest.Wait()
		}
		var unordered []string
		for n, line := range strings.Split(script, "\n") {
			verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if verb != "<*" && len(unordered) > 0 {
				r.expectAll(n, unordered, skip)
				unordered = nil
			}
			switch verb {
			case "", "#":
			case ">":
				sending = append(sending, rest)
			case "<":
				flush()
				r.expect(n+1, rest, skip)
			case "<*":
				flush()
				unordered = append(unordered, rest)
			case "wait":
				flush()
				d, err := time.ParseDuration(rest)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(d)
				synctest.Wait()
			case "close":
				flush()
				closed = true
				r.end()
			default:
				t.Fatalf("line %d of the script makes no sense: %s", n+1, line)
			}
		}
		flush()
		r.output.drop(skip)
		if left := r.output.take(); len(left) > 0 {
			t.Errorf("came and was not expected:\n%s", strings.Join(left, "\n"))
		}
		if !closed {
			r.end()
		}
	})
}

func (r *rig) expect(n int, pattern string, skip []string) {
	r.t.Helper()
	r.output.drop(skip)
	line, ok := r.output.next()
	if !ok {
		r.t.Fatalf("line %d of the script: nothing came, want %s", n, pattern)
	}
	if !matches(pattern, line) {
		r.t.Fatalf("line %d of the script:\n got %s\nwant %s", n, line, pattern)
	}
}

func (r *rig) expectAll(n int, patterns, skip []string) {
	r.t.Helper()
	r.output.drop(skip)
	lines := r.output.take()
	for _, pattern := range patterns {
		i := slices.IndexFunc(lines, func(line string) bool { return matches(pattern, line) })
		if i < 0 {
			r.t.Fatalf("before line %d of the script:\nnothing is like %s in\n%s", n+1, pattern, strings.Join(lines, "\n"))
		}
		lines = slices.Delete(lines, i, i+1)
	}
	r.output.putBack(lines)
}

// matches says whether a line is like a pattern, in which … stands for
// anything.
func matches(pattern, line string) bool {
	parts := strings.Split(pattern, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(line)
}

// output collects what is written, by line.
type output struct {
	mu    sync.Mutex
	some  sync.Cond
	rest  []byte // of a line that is not whole yet
	lines []string
	block bool // nobody reads
	ended bool
}

func newOutput() *output {
	o := &output{}
	o.some.L = &o.mu
	return o
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.block {
		o.some.Wait()
	}
	if o.ended {
		return 0, io.ErrClosedPipe
	}
	n := len(p)
	for {
		head, tail, whole := bytes.Cut(p, []byte("\n"))
		o.rest = append(o.rest, head...)
		if !whole {
			break
		}
		o.lines = append(o.lines, string(o.rest))
		o.rest, p = o.rest[:0], tail
	}
	o.some.Broadcast()
	return n, nil
}

func (o *output) stall(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.block = on
	o.some.Broadcast()
}

func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
}

func (o *output) next() (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lines) == 0 {
		return "", false
	}
	line := o.lines[0]
	o.lines = o.lines[1:]
	return line, true
}

func (o *output) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := o.lines
	o.lines = nil
	return lines
}

func (o *output) putBack(lines []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(lines, o.lines...)
}

// drop removes lines of the named types.
func (o *output) drop(types []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = slices.DeleteFunc(o.lines, func(line string) bool {
		var head struct{ Type string }
		return json.Unmarshal([]byte(line), &head) == nil && slices.Contains(types, head.Type)
	})
}

// until gives the lines up to one that holds text, waiting for it.
func (o *output) until(text string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for i, line := range o.lines {
			if strings.Contains(line, text) {
				lines := o.lines[:i+1]
				o.lines = slices.Clone(o.lines[i+1:])
				return lines
			}
		}
		o.some.Wait()
	}
}

// listener is an extension in the same process: handlers by kind.
type listener map[event.Kind]func(ctx context.Context, e event.Event) (any, error)

func (listener) Path() string                 { return "test/extension" }
func (l listener) Wants(kind event.Kind) bool { return l[kind] != nil }
func (l listener) Handle(ctx context.Context, e event.Event) (any, error) {
	return l[e.Kind()](ctx, e)
}

// newLines gives the lines of a stream, one a call, until it ends.
func newLines(src io.Reader) func() (string, bool) {
	lines := jsonl.NewReader(src)
	return func() (string, bool) {
		line, err := lines.Next()
		return string(line), err == nil
	}
}
