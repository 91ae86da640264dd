package extensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/tool"
)

// State says how an extension is.
type State string

// The states of an extension.
const (
	Starting   State = "starting"
	Running    State = "running"
	Restarting State = "restarting"
	Failed     State = "failed"  // it did not start, or died too often; Reload tries again
	Stopped    State = "stopped" // it was shut down
)

// Restarts after a death: so many in a minute, each after a longer wait. Then
// the extension stays down.
const restartsPerMinute = 3

var restartWaits = []time.Duration{50 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second}

// extension is one extension under supervision: a process at a time.
type extension struct {
	host   *Host
	source source
	log    *slog.Logger
	lines  *lineLog
	// up is closed when the extension has come up for the first time, or has
	// failed to.
	up chan struct{}
	// life ends when the extension is to end.
	life context.Context
	end  context.CancelFunc

	latency latencies

	enlisting sync.Mutex // held by register, so that what the session has last is what was registered last
	retired   bool       // nothing more is taken from it; enlisting guards it

	mu      sync.Mutex
	state   State
	current *instance     // nil: down
	reg     *registration // of the last process that came up; nil: none did
	deaths  []time.Time   // of the last minute
	starts  int
	// lastError is what went wrong last; empty: nothing yet.
	lastError string
	// candidate extensions add nothing to the session until they take over
	// from the one that was there before.
	candidate bool
}

func newExtension(h *Host, s source) *extension {
	log := h.log.With("extension", s.name())
	x := &extension{
		host: h, source: s, log: log, lines: &lineLog{log: log},
		up: make(chan struct{}), state: Starting,
	}
	x.life, x.end = context.WithCancel(h.life)
	return x
}

// supervise starts the extension, and again when it dies, until it is to end.
func (x *extension) supervise() {
	defer x.end()
	first := true
	for {
		i, err := x.start()
		if x.life.Err() != nil {
			x.finish(i, Stopped)
			break
		}
		if err != nil {
			x.note(fmt.Errorf("the extension %s did not start: %w", x.displayName(), err))
			if first || !x.mayRestart() {
				x.finish(nil, Failed)
				break
			}
			continue
		}
		x.came(i)
		if first {
			first = false
			close(x.up)
		} else {
			x.tellSession(i)
		}
		select {
		case <-x.life.Done():
			x.host.retire(i)
			x.finish(nil, Stopped)
			return
		case <-i.life.Done():
		}
		x.died(i)
		if !x.mayRestart() {
			x.finish(nil, Failed)
			break
		}
	}
	if first {
		close(x.up)
	}
}

// awaitStart waits until the extension is up, and says whether it is. Where ctx
// ends first it is given up.
func (x *extension) awaitStart(ctx context.Context) bool {
	select {
	case <-x.up:
		return x.running()
	case <-ctx.Done():
	}
	x.end()
	<-x.up
	return false // also where it came up in the same moment
}

// start makes the next process. What the last one wrote is no matter of it.
func (x *extension) start() (*instance, error) {
	if x.source.err != nil {
		return nil, x.source.err
	}
	x.mu.Lock()
	x.starts++
	x.lines = &lineLog{log: x.log}
	x.mu.Unlock()
	return startInstance(x.life, x)
}

// came puts a process into service.
func (x *extension) came(i *instance) {
	x.mu.Lock()
	x.current, x.reg, x.state = i, i.reg, Running
	candidate := x.candidate
	x.mu.Unlock()
	if !candidate {
		x.enlist()
		x.host.setListeners()
	}
	x.log.Debug("extension started", "version", i.reg.version, "pid", i.pid())
}

// takePlace fixes the extension's place among those that add commands, which
// is that of the load order, whoever comes up first.
func (x *extension) takePlace() { x.host.theSession().RegisterCommands(x.source.path, nil) }

// takeOver puts a candidate into the place of the extension before it.
func (x *extension) takeOver() {
	x.mu.Lock()
	enlist := x.candidate && x.current != nil
	x.candidate = false
	x.mu.Unlock()
	if enlist {
		x.enlist()
	}
}

// enlist adds to the session what the extension registered.
func (x *extension) enlist() {
	for _, err := range x.register() {
		x.note(err)
	}
}

func (x *extension) register() (problems []error) {
	x.enlisting.Lock()
	defer x.enlisting.Unlock()
	if x.retired {
		return nil
	}
	x.mu.Lock()
	reg := x.reg
	x.mu.Unlock()
	s, path := x.host.theSession(), x.source.path
	s.RegisterCommands(path, x.sessionCommands(reg.commands))
	var tools []tool.Tool
	for _, spec := range reg.tools {
		tools = append(tools, &extensionTool{x: x, spec: spec})
	}
	s.RegisterTools(path, tools)
	for _, config := range reg.providers {
		if err := x.addProvider(config); err != nil {
			problems = append(problems, fmt.Errorf("the provider %s of the extension %s was not added: %w", config.Name, x.displayName(), err))
		}
	}
	return problems
}

// withdraw takes away what the extension registered, once it is retired.
func (x *extension) withdraw() {
	s, path := x.host.theSession(), x.source.path
	s.RegisterCommands(path, nil)
	s.RegisterTools(path, nil)
	if p := x.host.options.Providers; p != nil {
		p.UnregisterProvider(path, "")
	}
}

// retire ends the extension once it has finished what it was called for. It
// does not wait for that. What it would add meanwhile is not taken: its place is
// another's by then, or nobody's.
func (x *extension) retire() {
	x.enlisting.Lock()
	x.retired = true
	x.enlisting.Unlock()
	x.end()
}

func (x *extension) isRetired() bool {
	x.enlisting.Lock()
	defer x.enlisting.Unlock()
	return x.retired
}

// errRetired is the answer to what a retired extension would add.
var errRetired = errors.New("this extension ends, because it was reloaded or belongs to a folder that the session left: nothing more is taken from it")

// retire lets a process finish its calls, unless pi ends, and stops it.
func (h *Host) retire(i *instance) {
	const patience = time.Minute
	select {
	case <-i.settled():
	case <-i.life.Done():
	case <-h.life.Done():
	case <-time.After(patience):
		i.x.log.Warn("calls of the extension that was replaced are cut off", "after", patience)
	}
	i.stop()
}

// died reports the end of a process that nobody asked for.
func (x *extension) died(i *instance) {
	x.mu.Lock()
	x.current, x.state = nil, Restarting
	x.mu.Unlock()
	x.note(context.Cause(i.life))
}

// mayRestart waits before another start, or says that there have been too
// many.
func (x *extension) mayRestart() bool {
	x.mu.Lock()
	now := time.Now()
	x.deaths = slices.DeleteFunc(x.deaths, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	x.deaths = append(x.deaths, now)
	count := len(x.deaths)
	x.mu.Unlock()
	if count > restartsPerMinute {
		x.note(fmt.Errorf("the extension %s died %d times within a minute and stays down: reload to try again", x.displayName(), count))
		return false
	}
	select {
	case <-time.After(restartWaits[min(count, len(restartWaits))-1]):
		return true
	case <-x.life.Done():
		return true // supervise sees it
	}
}

// tellSession lets a process that came in another's place know of the session
// that is live.
func (x *extension) tellSession(i *instance) {
	x.host.mu.Lock()
	live := x.host.live
	x.host.mu.Unlock()
	if live == nil || len(i.reg.handlers[event.KindSessionStart]) == 0 {
		return
	}
	if _, err := i.handle(x.life, &event.SessionStart{Reason: "reload"}, i.reg.handlers[event.KindSessionStart][0], 0); err != nil && x.life.Err() == nil {
		x.host.report(x.source.path, string(event.KindSessionStart), err)
	}
}

// finish ends the supervision.
func (x *extension) finish(i *instance, state State) {
	if i != nil {
		i.stop()
	}
	x.mu.Lock()
	x.current, x.state = nil, state
	candidate := x.candidate
	x.mu.Unlock()
	if state == Failed && !candidate {
		x.host.setListeners()
	}
}

// note remembers and reports what went wrong.
func (x *extension) note(err error) {
	x.mu.Lock()
	x.lastError = err.Error()
	x.mu.Unlock()
	if errors.Is(err, context.Canceled) {
		return
	}
	x.host.report(x.source.path, "process", err)
}

// instance gives the process that runs, or says why there is none.
func (x *extension) instance() (*instance, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current != nil {
		return x.current, nil
	}
	reason := x.lastError
	if reason == "" {
		reason = "it is not up yet"
	}
	return nil, fmt.Errorf("the extension %s is down (%s)", x.nameLocked(), reason)
}

func (x *extension) running() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.current != nil
}

// all lists the extensions in load order.
func (h *Host) all() []*extension {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.extensions)
}

// displayName is the name that the extension gave itself, if it could.
func (x *extension) displayName() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.nameLocked()
}

func (x *extension) nameLocked() string {
	if x.reg != nil {
		return x.reg.name
	}
	return x.source.name()
}

func (x *extension) sourceInfo() session.SourceInfo {
	return x.source.info
}

// noDeadline stands for the lack of one where a number is needed.
const noDeadline = 365 * 24 * time.Hour

// startDeadline is the manifest's, else the user's.
func (x *extension) startDeadline() time.Duration {
	if m := x.source.manifest; m != nil {
		if d, ok := m.Deadlines[startDeadline]; ok {
			return time.Duration(d)
		}
	}
	if d := x.host.inForce().StartDeadline; d > 0 {
		return d
	}
	return noDeadline
}

// flagValues are those of the command line that the extension registered.
func (x *extension) flagValues(reg *registration) map[string]string {
	values := map[string]string{}
	for _, f := range reg.flags {
		if value, given := x.host.options.Flags[f.GetName()]; given {
			values[f.GetName()] = value
		}
	}
	return values
}
