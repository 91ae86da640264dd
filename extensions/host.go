package extensions

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/session"
)

// Options say what a Host runs, and how. New keeps them; nobody changes them
// later.
type Options struct {
	// AgentDir is the user's folder: extensions/ in it is searched, and cache/
	// in it keeps what is built.
	AgentDir string
	// Folder is the working folder to begin in.
	Folder
	// Elsewhere says the same of another folder, when the session goes there.
	// Nil: nothing is known of others, so their own extensions do not run.
	Elsewhere func(dir string) Folder
	// Paths are those of -e. Relative ones are meant from ProjectDir.
	Paths []string
	// Disabled leaves only Paths.
	Disabled bool
	// Flags are the values of flags on the command line that pi itself does
	// not know, by name.
	Flags map[string]string
	// Deadlines are the user's for handlers, by kind; what is missing here has
	// the extension's or the default.
	Deadlines map[event.Kind]time.Duration
	// Log takes what extensions write, and what befalls them. Nil: slog's
	// default.
	Log *slog.Logger
	// ErrorsShown says that whoever reads Log is shown the session's
	// extension_error events too: they are not logged then.
	ErrorsShown bool
	// Env is the environment to choose from, NAME=value each; nil: that of
	// this process.
	Env []string
	// Version is pi's, as extensions are told.
	Version string
	// Hooks is the chain that the extensions are set into. Never nil.
	Hooks *hook.Chain
	// Providers takes the model providers that extensions register; nil: they
	// cannot.
	Providers Providers
}

// Folder is what the host is told of a working folder.
type Folder struct {
	// ProjectDir is the project: .pi/extensions in it is searched, if the
	// project is trusted. Extensions are started in it.
	ProjectDir string
	// Trusted says that the project's own extensions may run.
	Trusted bool
	// DecideTrust is asked while the project is not trusted: when the user's
	// extensions are up, which may have a say in it, and at each reload. ctx
	// ends when the host is closed or who wants to know gives up. Nil: the
	// project stays as it is.
	DecideTrust func(ctx context.Context) bool
	// Places gives those of the settings and of packages. It is asked when the
	// folder is entered, again when the project came to be trusted, and at each
	// reload. Nil: there are none.
	Places func() []Place
	// Allows says whether the settings leave alone what was found in a folder
	// of a scope. Paths are always allowed. Nil: everything is.
	Allows func(scope, path, folder string) bool
	// HookDeadline limits handlers of which neither Options.Deadlines nor the
	// extension nor the kind says more; 0: none.
	HookDeadline time.Duration
	// StartDeadline limits the start of one extension, without building it, of
	// which the manifest says nothing; 0: none.
	StartDeadline time.Duration
}

// Host runs the extensions of one pi. Its methods may be called from any
// goroutine.
type Host struct {
	options Options
	log     *slog.Logger // writes to outlet
	outlet  *outlet
	life    context.Context
	end     context.CancelFunc
	ready   chan struct{}
	// supervisors are the goroutines of extensions, background all others that
	// may call into the session.
	supervisors sync.WaitGroup
	background  sync.WaitGroup
	spawn       spawner
	service     service
	encoder     encoder

	reloading sync.Mutex // held during Reload and Enter, so that there is one at a time

	mu         sync.Mutex
	session    Session
	extensions []*extension // in load order
	folder     Folder       // that of the live session; trusted by now
	started    bool
	closing    bool
	live       *event.SessionStart // how the live session began; nil: none is
	closed     chan struct{}
}

// New makes a host. Nothing runs until Start.
func New(o Options) *Host {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	h := &Host{
		options: o, outlet: newOutlet(o.Log.Handler()), folder: o.Folder,
		ready: make(chan struct{}), closed: make(chan struct{}),
	}
	h.log = slog.New(h.outlet)
	h.life, h.end = context.WithCancel(context.Background())
	h.service.host = h
	return h
}

// Start begins to start all extensions at the same time and returns at once.
// It is called once. s is the session that extensions work with; what they add
// to it is there as soon as they are up.
func (h *Host) Start(s Session) {
	h.mu.Lock()
	if h.started {
		h.mu.Unlock()
		panic("extensions: Start was called twice")
	}
	h.started, h.session = true, s
	closing := h.closing
	h.mu.Unlock()
	if closing {
		close(h.ready) // nothing comes up any more
		return
	}
	h.background.Go(func() {
		defer close(h.ready)
		h.startAll()
	})
}

// Any says whether there is any extension to start, as far as folders and
// flags tell, without starting one.
func (h *Host) Any() bool { return len(h.discover(h.isTrusted())) > 0 }

// Found says where the extensions are that Start would start.
func (h *Host) Found() []session.SourceInfo {
	var list []session.SourceInfo
	for _, s := range h.discover(h.isTrusted()) {
		list = append(list, s.info)
	}
	return list
}

// Ready is closed when every extension is up, or has failed to come up.
func (h *Host) Ready() <-chan struct{} { return h.ready }

func (h *Host) startAll() {
	defer h.arrange()
	sources := h.discover(h.isTrusted())
	h.launch(sources)
	if h.isTrusted() || !h.decideTrust(h.life) {
		return
	}
	known := map[string]bool{}
	for _, s := range sources {
		known[s.path] = true
	}
	var more []source
	for _, s := range h.discover(true) {
		if !known[s.path] {
			more = append(more, s)
		}
	}
	h.launch(more)
}

// decideTrust asks whether the project is trusted by now.
func (h *Host) decideTrust(ctx context.Context) bool {
	decide := h.inForce().DecideTrust
	if decide == nil || !decide(ctx) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.folder.Trusted = true
	return true
}

// launch starts extensions side by side and waits until each is up or failed.
func (h *Host) launch(sources []source) {
	list := make([]*extension, len(sources))
	for i, s := range sources {
		list[i] = newExtension(h, s)
		list[i].takePlace()
	}
	h.mu.Lock()
	if h.closing {
		h.mu.Unlock()
		return
	}
	h.extensions = append(h.extensions, list...)
	for _, x := range list {
		h.supervisors.Go(x.supervise)
	}
	h.mu.Unlock()
	for _, x := range list {
		<-x.up
	}
}

// setListeners puts all extensions into the chain, in load order.
func (h *Host) setListeners() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return
	}
	list := []hook.Listener{&tracker{h}}
	for _, x := range h.extensions {
		list = append(list, x.listeners()...)
	}
	h.options.Hooks.Set(list)
}

// settle makes a list the extensions that there are, in load order.
func (h *Host) settle(list []*extension) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.extensions = list
}

// arrange puts what extensions brought into load order, in which it need not
// have come.
func (h *Host) arrange() {
	var paths []string
	for _, x := range h.all() {
		paths = append(paths, x.source.path)
	}
	h.theSession().Arrange(paths)
}

// ErrClosed is the error of calls after Close.
var ErrClosed = errors.New("the extensions have been shut down")

// Close ends all extensions: they are asked, then told, then killed, all at
// the same time, which takes less than a second. Further calls wait for the
// first. ctx bounds the waiting and cuts the asking short.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	first := !h.closing
	h.closing = true
	h.mu.Unlock()
	if first {
		go func() {
			defer close(h.closed)
			h.end()
			h.supervisors.Wait()
			h.background.Wait()
			h.service.close()
			h.spawn.close()
			h.outlet.close()
		}()
	}
	select {
	case <-h.closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Host) isTrusted() bool { return h.inForce().Trusted }

// inForce is the folder that the live session works in.
func (h *Host) inForce() Folder {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.folder
}

func (h *Host) theSession() Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}

// report tells the client, and the log, about trouble in an extension.
func (h *Host) report(path, what string, err error) {
	if !h.options.ErrorsShown {
		h.log.Error(err.Error(), "extension", path, "event", what)
	}
	h.theSession().Emit(&event.ExtensionError{ExtensionPath: path, Event: what, Error: err.Error()})
}

// tracker is the host's own place in the chain: it remembers how the live
// session began, for extensions that come up later.
type tracker struct{ h *Host }

func (t *tracker) Path() string { return "<extensions>" }

func (t *tracker) Wants(kind event.Kind) bool {
	return kind == event.KindSessionStart || kind == event.KindSessionShutdown
}

// Handle implements hook.Listener. At pi's end it also tells all extensions,
// at the same time: there is one short time for all of them.
func (t *tracker) Handle(ctx context.Context, e event.Event) (any, error) {
	t.h.mu.Lock()
	t.h.live, _ = e.(*event.SessionStart)
	t.h.mu.Unlock()
	if end, ok := e.(*event.SessionShutdown); ok && isQuit(end) {
		t.h.sayGoodbye(ctx, end)
	}
	return nil, nil
}

func (h *Host) sayGoodbye(ctx context.Context, end *event.SessionShutdown) {
	var all sync.WaitGroup
	for _, x := range h.all() {
		i, err := x.instance()
		if err != nil || len(i.reg.handlers[end.Kind()]) == 0 {
			continue
		}
		all.Go(func() {
			if _, err := i.handle(ctx, end, i.reg.handlers[end.Kind()][0], 0); err != nil {
				h.report(x.source.path, string(end.Kind()), err)
			}
		})
	}
	all.Wait()
}

func isQuit(e event.Event) bool {
	end, ok := e.(*event.SessionShutdown)
	return ok && end.Reason == "quit"
}
