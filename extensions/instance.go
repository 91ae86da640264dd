package extensions

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// instance is one running process of an extension, with the connection to it.
// After its death it is of no use; the extension then gets another one.
type instance struct {
	x       *extension
	process *process // nil: a process that somebody else started
	plugin  *plugin.Client
	conn    *grpc.ClientConn
	client  pb.ExtensionServiceClient
	token   string
	reg     *registration

	// life ends with the process; its cause says why in words.
	life context.Context
	die  context.CancelCauseFunc

	watch stopwatch
	batch *batch
	bus   *busQueue

	mu       sync.Mutex
	calls    map[string]*call
	nextCall uint64
	idle     chan struct{} // closed when calls is empty and somebody waits for it
	// draining is set when another instance has taken over.
	draining atomic.Bool
}

// call is a handler of the extension that runs.
type call struct {
	id        string
	ctx       context.Context
	isCommand bool
}

// goneError is the end of a call whose process died.
type goneError struct{ text string }

func (e *goneError) Error() string { return e.text }

// startInstance starts a process of the extension and has it register. ctx
// ends the attempt; the process itself lives on its own.
func startInstance(ctx context.Context, x *extension) (*instance, error) {
	i := &instance{x: x, token: proto.NewToken(), calls: map[string]*call{}}
	i.life, i.die = context.WithCancelCause(context.Background())
	i.batch = newBatch(i)
	i.bus = newBusQueue(i)
	limit := x.startDeadline()
	if err := i.launch(ctx, limit); err != nil {
		i.abandon(err)
		return nil, err
	}
	if i.process != nil {
		x.host.supervisors.Go(i.watchProcess)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &slowError{limit})
	defer cancel()
	if x.host.debugging() {
		ctx = context.WithoutCancel(ctx)
	}
	if err := i.register(ctx); err != nil {
		i.abandon(err)
		return nil, err
	}
	x.host.supervisors.Go(i.batch.send)
	x.host.supervisors.Go(i.bus.send)
	return i, nil
}

// launch starts the process and connects to it.
func (i *instance) launch(ctx context.Context, limit time.Duration) error {
	h := i.x.host
	config := &plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion: proto.Version, MagicCookieKey: proto.CookieKey, MagicCookieValue: proto.CookieValue,
		},
		Plugins:          plugin.PluginSet{"extension": nothing{}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
		SkipHostEnv:      true,
		StartTimeout:     limit,
		SyncStdout:       i.x.lines,
		SyncStderr:       i.x.lines,
		GRPCDialOptions:  proto.DialOptions(i.token),
	}
	target, socketBase, err := h.service.start(i)
	if err != nil {
		return err
	}
	config.UnixSocketConfig = &plugin.UnixSocketConfig{TempDir: socketBase}
	if address := h.reattachAddress(i.x.source.path); address != "" {
		config.UnixSocketConfig = nil
		config.Reattach = i.reattach(address)
	} else if err := i.prepare(ctx, config); err != nil {
		return err
	}
	if err := i.connect(ctx, config, limit); err != nil {
		return err
	}
	i.x.log.Debug("extension connected", "pid", i.pid(), "host", target)
	return nil
}

// prepare fills in how the process is started.
func (i *instance) prepare(ctx context.Context, config *plugin.ClientConfig) error {
	s, h := i.x.source, i.x.host
	path, args, err := s.program(ctx, h)
	if err != nil {
		return err
	}
	var wanted []string
	if s.manifest != nil {
		wanted = s.manifest.Env
	}
	i.process = newProcess(nil, &h.spawn, i.x.lines)
	config.RunnerFunc = func(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
		cmd := exec.Command(path, args...)
		cmd.Dir = h.options.ProjectDir
		cmd.Env = append(environment(h.options.Env, wanted), spec.Env...)
		if s.form == manifestFolder {
			cmd.Env = append(cmd.Env, "PI_EXTENSION_DIR="+s.path)
		}
		i.process.cmd = cmd
		return i.process, nil
	}
	return nil
}

// connect runs go-plugin's start, and says in words what went wrong.
func (i *instance) connect(ctx context.Context, config *plugin.ClientConfig, limit time.Duration) error {
	i.plugin = plugin.NewClient(config)
	started := time.Now()
	giveUp := context.AfterFunc(ctx, func() {
		if i.process != nil {
			i.process.abort()
		}
	})
	defer giveUp()
	if _, err := i.plugin.Start(); err != nil {
		return i.explain(ctx, err, time.Since(started), limit)
	}
	protocol, err := i.plugin.Client()
	if err != nil {
		return fmt.Errorf("connect to the program: %w", err)
	}
	i.conn = protocol.(*plugin.GRPCClient).Conn
	i.client = pb.NewExtensionServiceClient(i.conn)
	return nil
}

func (i *instance) explain(ctx context.Context, err error, waited, limit time.Duration) error {
	switch {
	case i.process == nil:
		return fmt.Errorf("attach to the extension that waits under a debugger: %w", err)
	case i.process.startErr != nil:
		return explainExec(i.process.cmd.Path, i.process.startErr)
	case i.process.cmd == nil || i.process.cmd.Process == nil:
		return err
	}
	line, shaken := i.process.shakenLine()
	timedOut := waited >= limit
	i.process.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if shaken {
		if err := checkVersion(line); err != nil {
			return err
		}
		return fmt.Errorf("the handshake %q came to nothing: %w", clip(line, headBytes), err)
	}
	return explainSilence(i.process, limit, timedOut)
}

// register lets the extension say what it is, and accepts that.
func (i *instance) register(ctx context.Context) error {
	h, s := i.x.host, i.x.host.theSession()
	ctx, cancel := i.bound(ctx)
	defer cancel()
	resp, err := i.client.Register(ctx, &pb.RegisterRequest{
		HostVersion:  h.options.Version,
		Capabilities: hostCapabilities(),
		HostTarget:   h.service.target,
		Token:        i.token,
		Name:         i.x.source.name(),
		Path:         i.x.source.path,
		Mode:         s.Mode(),
		HasUi:        s.UI().Interactive(),
	})
	if err != nil {
		return i.phaseError(ctx, "register", err)
	}
	for _, needed := range resp.GetRequires() {
		if !contains(hostCapabilities(), needed) {
			return fmt.Errorf("it needs a pi that can do %q, which this one cannot: update pi", needed)
		}
	}
	var problems []error
	i.reg, problems = newRegistration(resp, i.x.source.manifest, i.x.source.name())
	for _, problem := range problems {
		h.report(i.x.source.path, "registration", problem)
	}
	if _, err := i.client.Initialize(ctx, &pb.InitializeRequest{Flags: i.x.flagValues(i.reg)}); err != nil {
		return i.phaseError(ctx, "initialize", err)
	}
	return nil
}

func (i *instance) phaseError(ctx context.Context, phase string, err error) error {
	cause := context.Cause(ctx)
	var slow *slowError
	var gone *goneError
	switch {
	case errors.As(cause, &slow):
		return fmt.Errorf("the program %w (in the phase %s)", slow, phase)
	case errors.As(cause, &gone):
		return fmt.Errorf("%w (in the phase %s)", gone, phase)
	case cause != nil:
		return cause
	case status.Code(err) == codes.Unavailable && i.process != nil:
		select {
		case <-i.life.Done():
			return fmt.Errorf("%w (in the phase %s)", context.Cause(i.life), phase)
		case <-time.After(drainTime * 2):
		}
	}
	return errors.New(status.Convert(err).Message())
}

// watchProcess notices the end of the process and fails what runs in it.
func (i *instance) watchProcess() {
	<-i.process.exited
	text := "the extension " + i.x.source.name() + " " + i.process.status()
	if i.process.lines.sawPanic() {
		text = "the extension " + i.x.source.name() + " panicked"
	}
	if tail := i.process.lines.lastLines(); tail != "" {
		text += "; its last words were: " + tail
	}
	i.die(&goneError{text})
	i.plugin.Kill() // only tidies up: the process is gone
	i.x.host.service.forget(i)
}

// stop ends the process: it is asked over the connection, then as process.end
// says.
func (i *instance) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if i.client != nil {
		_, _ = i.client.Shutdown(ctx, &pb.ShutdownRequest{}) // what follows does not need its consent
	}
	if i.process == nil {
		i.abandon(&goneError{"the extension " + i.x.source.name() + " was left"})
		return
	}
	i.process.end()
	<-i.life.Done()
}

// abandon lets go of an instance that never came to be, or is not ours.
func (i *instance) abandon(why error) {
	if i.process != nil && i.process.cmd != nil && i.process.cmd.Process != nil {
		i.process.end()
	}
	i.die(why)
	if i.plugin != nil {
		i.plugin.Kill()
	}
	if i.conn != nil {
		_ = i.conn.Close() // go-plugin keeps that of a process which is not ours
	}
	i.x.host.service.forget(i)
}

// bound gives a context that also ends when the process does.
func (i *instance) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(i.life, func() { cancel(context.Cause(i.life)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// begin notes a call, so that what the extension asks meanwhile is known to
// belong to it. The context ends with the caller's, with the process, and
// when the time is up; end must be called.
func (i *instance) begin(ctx context.Context, limit time.Duration, isCommand bool) (*call, *pb.CallContext, func()) {
	ctx, unbind := i.bound(ctx)
	ctx, stop := i.watch.limit(ctx, limit)
	i.mu.Lock()
	i.nextCall++
	c := &call{id: fmt.Sprint(i.nextCall), ctx: ctx, isCommand: isCommand}
	i.calls[c.id] = c
	i.mu.Unlock()
	return c, i.callContext(c.id), func() {
		i.mu.Lock()
		delete(i.calls, c.id)
		if len(i.calls) == 0 && i.idle != nil {
			close(i.idle)
			i.idle = nil
		}
		i.mu.Unlock()
		stop()
		unbind()
	}
}

func (i *instance) callContext(id string) *pb.CallContext {
	s := i.x.host.theSession()
	return &pb.CallContext{
		CallId:         id,
		Generation:     wireGeneration(s),
		Cwd:            s.Cwd(),
		ProjectTrusted: i.x.host.isTrusted(),
	}
}

// wireGeneration is never 0, which stands for whichever session is current.
func wireGeneration(s Session) uint64 { return s.Generation() + 1 }

func (i *instance) callOf(id string) *call {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls[id]
}

// settled is closed when no call runs.
func (i *instance) settled() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.calls) == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if i.idle == nil {
		i.idle = make(chan struct{})
	}
	return i.idle
}

// callError says why a call came to nothing, in words for people. done is what
// was being done: "the handler of tool_call".
func (i *instance) callError(ctx context.Context, done string, err error) error {
	name := i.x.displayName()
	cause := context.Cause(ctx)
	var slow *slowError
	var gone *goneError
	switch {
	case errors.As(cause, &slow):
		return fmt.Errorf("extension %s: %s %w", name, done, slow)
	case errors.As(cause, &gone):
		return fmt.Errorf("extension %s: %s failed, because %w", name, done, gone)
	case cause != nil:
		return cause
	}
	switch s := status.Convert(err); s.Code() {
	case codes.Unavailable:
		// The connection broke before we saw the process end.
		select {
		case <-i.life.Done():
			return fmt.Errorf("extension %s: %s failed, because %w", name, done, context.Cause(i.life))
		case <-time.After(drainTime * 2):
		}
		return fmt.Errorf("extension %s: %s failed: the connection broke: %s", name, done, s.Message())
	case codes.ResourceExhausted:
		return fmt.Errorf("extension %s: %s sent or got more than the limit of %d MiB: %s", name, done, proto.MaxMessageBytes>>20, s.Message())
	case codes.Unimplemented:
		return fmt.Errorf("extension %s does not support %s: %s", name, done, s.Message())
	default:
		return fmt.Errorf("extension %s: %s failed: %s", name, done, s.Message())
	}
}

func (i *instance) pid() int {
	if i.process == nil || i.process.cmd == nil || i.process.cmd.Process == nil {
		return 0
	}
	return i.process.cmd.Process.Pid
}

// reattachAddress gives where an extension of this path waits under a
// debugger; empty: it does not.
func (h *Host) reattachAddress(path string) string {
	for entry := range strings.SplitSeq(lookup(h.options.Env, proto.ReattachEnv), ";") {
		if at, address, ok := strings.Cut(entry, "="); ok && filepath.Clean(at) == path {
			return strings.TrimPrefix(address, "unix:")
		}
	}
	return ""
}

func (i *instance) reattach(address string) *plugin.ReattachConfig {
	return &plugin.ReattachConfig{
		Protocol:        plugin.ProtocolGRPC,
		ProtocolVersion: proto.Version,
		Addr:            &net.UnixAddr{Name: address, Net: "unix"},
		Test:            true, // it is not ours to kill
		ReattachFunc:    func() (runner.AttachedRunner, error) { return &attached{life: i.life}, nil },
	}
}

// attached is a process that somebody else started. It is go-plugin's
// runner.AttachedRunner.
type attached struct{ life context.Context }

// Wait implements runner.AttachedRunner.
func (a *attached) Wait(context.Context) error { <-a.life.Done(); return nil }

// Kill implements runner.AttachedRunner.
func (a *attached) Kill(context.Context) error { return nil }

// ID implements runner.AttachedRunner.
func (a *attached) ID() string { return "attached" }

// PluginToHost implements runner.AttachedRunner.
func (a *attached) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin implements runner.AttachedRunner.
func (a *attached) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// nothing fills go-plugin's set of services: the one of the contract is called
// without its help.
type nothing struct{ plugin.NetRPCUnsupportedPlugin }

func (nothing) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return nil }

func (nothing) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}

func hostCapabilities() []string {
	return []string{proto.CapabilityBus, proto.CapabilityProviders, proto.CapabilityUpdate}
}

func contains(list []string, one string) bool {
	for _, each := range list {
		if each == one {
			return true
		}
	}
	return false
}
