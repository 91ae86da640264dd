package sdk

import (
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Extension collects what a program adds to pi. It is filled by the function
// that Main is given, and by nobody after that function has returned, except
// where a method says otherwise. Its methods panic when they are given
// something that makes no sense.
type Extension struct {
	name, version string
	handlers      []*handler
	tools         map[string]*toolEntry
	commands      map[string]*Command
	providers     map[string]*Provider
	flags         map[string]*Flag
	topics        map[string][]busHandler
	order         order
	log           *slog.Logger

	// mu guards tools, commands, their order and updates, which Extend changes
	// while pi runs. Everything else is fixed once sealed is set.
	mu     sync.RWMutex
	sealed bool
	// extending lets tools and commands be added all the same: it is a draft.
	extending bool
	// updates counts those that were made for pi.
	updates uint64
	// background and tasks are set when the host is known.
	background *Context
	tasks      *sync.WaitGroup
}

// order keeps the names in the order of registration, which is the order in
// which people see them.
type order struct {
	tools, commands, providers, flags, topics []string
}

type handler struct {
	kind     event.Kind
	decided  bool
	run      handlerFunc
	failOpen bool
	deadline time.Duration
	tools    []string
}

func newExtension(log *slog.Logger) *Extension {
	return &Extension{
		tools:     map[string]*toolEntry{},
		commands:  map[string]*Command{},
		providers: map[string]*Provider{},
		flags:     map[string]*Flag{},
		topics:    map[string][]busHandler{},
		log:       log,
	}
}

// Info says how the extension is called, and which version it is. Without it
// the name is that of the file or folder.
func (x *Extension) Info(name, version string) {
	x.mustBeOpen("Info")
	x.name, x.version = name, version
}

// Log writes to pi's log, under the extension's name. It may be used at any
// time, from any goroutine. slog's default logger and the package log write
// there too.
func (x *Extension) Log() *slog.Logger { return x.log }

// Background is a context for work outside of any handler, such as a timer's.
// It means whichever session is current, and ends with the process. It may be
// called from any goroutine, but only once pi has started the extension: in
// handlers, and in what they begin.
func (x *Extension) Background() *Context {
	if x.background == nil {
		panic("sdk: Background was called before the registration was over; call it from a handler, e.g. of SessionStart")
	}
	return x.background
}

// HandlerOption changes how pi treats a handler.
type HandlerOption func(*handler)

// FailOpen lets a tool run although the handler of ToolCall failed or did not
// answer. Without it the tool is refused then.
func FailOpen() HandlerOption { return func(h *handler) { h.failOpen = true } }

// Deadline is how long pi waits for the handler, not counting the time in
// which a dialog of the extension is open. The user's settings may shorten it.
func Deadline(d time.Duration) HandlerOption { return func(h *handler) { h.deadline = d } }

// ForTools limits a handler of ToolCall or ToolResult to the tools of these
// names.
func ForTools(names ...string) HandlerOption { return func(h *handler) { h.tools = names } }

// On adds a handler for a kind of event. Several of one kind are called in the
// order in which they were added.
func On[H any](x *Extension, d Descriptor[H], handle H, options ...HandlerOption) {
	x.mustBeOpen("On")
	info, known := event.Lookup(d.kind)
	if !known || d.wrap == nil {
		panic("sdk: On needs one of the descriptors of this package, such as sdk.ToolCall")
	}
	if reflect.ValueOf(handle).IsNil() {
		panic(fmt.Sprintf("sdk: the handler of %s is nil", d.kind))
	}
	h := &handler{kind: d.kind, decided: info.Hook == event.Decide, run: d.wrap(handle)}
	for _, option := range options {
		option(h)
	}
	if h.failOpen && d.kind != event.KindToolCall {
		panic(fmt.Sprintf("sdk: FailOpen is for ToolCall, not for %s, whose failures never stop anything", d.kind))
	}
	if h.tools != nil && d.kind != event.KindToolCall && d.kind != event.KindToolResult {
		panic(fmt.Sprintf("sdk: ForTools is for ToolCall and ToolResult, not for %s", d.kind))
	}
	x.handlers = append(x.handlers, h)
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`)

// claim panics unless name is well formed and not yet taken.
func claim[V any](what, name string, taken map[string]V) {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("sdk: %q is no name for a %s: letters, digits and _ . : - only, and a letter, a digit or _ first", name, what))
	}
	if _, is := taken[name]; is {
		panic(fmt.Sprintf("sdk: there are two %ss of the name %q", what, name))
	}
}

func (x *Extension) mustBeOpen(method string) {
	if x.sealed {
		panic("sdk: " + method + " was called after the function given to Main had returned")
	}
}

// mustTakeMore is mustBeOpen for what Extend may add too.
func (x *Extension) mustTakeMore(method string) {
	if x.sealed && !x.extending {
		panic("sdk: " + method + " was called after the function given to Main had returned; see Context.Extend, and use the Extension that it gives")
	}
}

func (x *Extension) tool(name string) *toolEntry {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.tools[name]
}

func (x *Extension) command(name string) *Command {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.commands[name]
}

// handlersOf gives the handlers of a kind in the order of registration.
func (x *Extension) handlersOf(kind event.Kind) []*handler {
	var found []*handler
	for _, h := range x.handlers {
		if h.kind == kind {
			found = append(found, h)
		}
	}
	return found
}

// registration is the wire form of all that was collected.
func (x *Extension) registration() *pb.RegisterResponse {
	r := &pb.RegisterResponse{
		Name:    x.name,
		Version: x.version,
		Library: "go-sdk/" + Version,
		Topics:  slices.Clone(x.order.topics),
	}
	for _, h := range x.handlers {
		r.Handlers = append(r.Handlers, &pb.Handler{
			Kind:       string(h.kind),
			FailOpen:   h.failOpen,
			DeadlineMs: h.deadline.Milliseconds(),
			Tools:      h.tools,
		})
	}
	x.mu.RLock()
	r.Tools, r.Commands = x.toolsAndCommands()
	x.mu.RUnlock()
	for _, name := range x.order.flags {
		r.Flags = append(r.Flags, x.flags[name].wire())
	}
	for _, name := range x.order.providers {
		r.Providers = append(r.Providers, x.providers[name].wire())
	}
	return r
}

// Version is the version of this package, which extensions report to pi.
const Version = "1.0.0"

// toolsAndCommands is the wire form of what Extend may add to. The caller holds
// mu.
func (x *Extension) toolsAndCommands() (tools []*pb.Tool, commands []*pb.Command) {
	for _, name := range x.order.tools {
		tools = append(tools, x.tools[name].wire)
	}
	for _, name := range x.order.commands {
		c := x.commands[name]
		commands = append(commands, &pb.Command{Name: c.Name, Description: c.Description, Completes: c.completes()})
	}
	return tools, commands
}
