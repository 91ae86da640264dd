// Package sdktest lets an author test an extension in a few lines: it serves
// the extension inside the test's process, over a real connection, and plays
// pi for it, with a session in memory and dialogs that the test answers.
//
//	func TestHello(t *testing.T) {
//		pi := sdktest.Start(t, register)
//		pi.Answer("What is your name?", sdktest.Text("Ada"))
//		pi.Command("/hello")
//		pi.WantNotice("Hello Ada!")
//	}
//
// Tools are called with Host.Tool and Host.TryTool, which also gives what a
// tool showed before its result and takes a context to abort it with; hooks
// with Decide and Host.Tell. Every program in examples/extensions has a test of
// this kind.
//
// It imports the standard library, sdk, proto, gRPC, and of the core only the
// values that extensions see. It must not import core/session or extensions:
// the real session has its own tests.
package sdktest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
	"github.com/seed-54e836f5/pi/sdk"
)

// Patience is how long the methods that wait do so before they fail the test.
const Patience = 10 * time.Second

// Host plays pi for one extension. Its methods may be called from the test's
// goroutine and from those it starts; where they fail, they fail the test.
type Host struct {
	t      testing.TB
	client pb.ExtensionServiceClient
	reg    *pb.RegisterResponse
	config config
	nextID atomic.Uint64

	ui      screen
	session memory
	calls   running
}

// config is what the options change.
type config struct {
	cwd     string
	mode    string
	hasUI   bool
	trusted bool
	flags   map[string]string
	models  []sdk.Model
	tools   []sdk.ToolInfo
}

// Option changes how pi presents itself.
type Option func(*config)

// WithFlag gives a flag of the command line.
func WithFlag(name, value string) Option { return func(c *config) { c.flags[name] = value } }

// WithCwd is the folder of the session; without it, it is an empty one.
func WithCwd(dir string) Option { return func(c *config) { c.cwd = dir } }

// WithoutUI is a pi that nobody answers, as with pi -p.
func WithoutUI() Option { return func(c *config) { c.mode, c.hasUI = "print", false } }

// WithModels are the models that there are credentials for; the first is the
// session's.
func WithModels(models ...sdk.Model) Option { return func(c *config) { c.models = models } }

// WithTools are tools that others have brought, by name.
func WithTools(names ...string) Option {
	return func(c *config) {
		for _, name := range names {
			c.tools = append(c.tools, sdk.ToolInfo{Name: name, Active: true, Source: "builtin", Parameters: []byte(`{"type":"object"}`)})
		}
	}
}

// Start serves an extension and has it register. What it logs is in the
// test's output. It ends with the test.
func Start(t testing.TB, register func(x *sdk.Extension), options ...Option) *Host {
	t.Helper()
	c := config{cwd: t.TempDir(), mode: "rpc", hasUI: true, trusted: true, flags: map[string]string{}}
	for _, option := range options {
		option(&c)
	}
	h := &Host{t: t, config: c}
	h.session.init(c)
	h.ui.init(t)
	token := proto.NewToken()
	target := h.serve(token)
	ctx, cancel := context.WithCancel(context.Background())
	log := slog.New(slog.NewTextHandler(&testLog{t: t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	address, ended, err := sdk.Listen(ctx, register, log)
	if err != nil {
		cancel()
		t.Fatalf("serve the extension: %v", err)
	}
	conn, err := grpc.NewClient(address, append(proto.DialOptions(token), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		cancel()
		t.Fatalf("dial the extension: %v", err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		cancel()
		ended()
	})
	h.client = pb.NewExtensionServiceClient(conn)
	h.register(target, token)
	return h
}

func (h *Host) register(target, token string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	reg, err := h.client.Register(ctx, &pb.RegisterRequest{
		HostVersion:  "1.0.0",
		Capabilities: []string{proto.CapabilityBus, proto.CapabilityProviders, proto.CapabilityUpdate, proto.CapabilitySetup},
		HostTarget:   target, Token: token, Name: "extension", Path: "/test/extension",
		Mode: h.config.mode, HasUi: h.config.hasUI,
	})
	if err != nil {
		h.t.Fatalf("the extension does not register: %v", err)
	}
	h.reg = reg
	if _, err := h.client.Initialize(ctx, &pb.InitializeRequest{Flags: h.config.flags}); err != nil {
		h.t.Fatalf("the extension does not initialize: %v", err)
	}
}

// serve makes the side of the contract that the extension calls.
func (h *Host) serve(token string) (target string) {
	h.t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pi-test-") // TMPDIR may be too long for a socket
	if err != nil {
		dir = h.t.TempDir()
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "pi"))
	if err != nil {
		h.t.Fatalf("listen for the extension: %v", err)
	}
	server := grpc.NewServer(proto.ServerOptions(func(_, got string) bool { return proto.SameToken(got, token) })...)
	pb.RegisterHostServiceServer(server, &service{h: h})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with Stop
	}()
	h.t.Cleanup(func() {
		server.Stop()
		<-served
		_ = os.RemoveAll(dir)
	})
	return "unix:" + listener.Addr().String()
}

// running keeps the calls that are under way, so that a dialog ends with the
// handler that opened it.
type running struct {
	mu    sync.Mutex
	calls map[string]context.Context
}

func (r *running) get(id string) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[id]
}

// begin makes the context of one call to the extension.
func (h *Host) begin(ctx context.Context) (context.Context, *pb.CallContext, func()) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	id := fmt.Sprint(h.nextID.Add(1))
	h.calls.mu.Lock()
	if h.calls.calls == nil {
		h.calls.calls = map[string]context.Context{}
	}
	h.calls.calls[id] = ctx
	h.calls.mu.Unlock()
	call := &pb.CallContext{CallId: id, Generation: h.session.current(), Cwd: h.config.cwd, ProjectTrusted: h.config.trusted}
	return ctx, call, func() {
		cancel()
		h.calls.mu.Lock()
		delete(h.calls.calls, id)
		h.calls.mu.Unlock()
	}
}

// testLog writes to the test's output as long as there is one.
type testLog struct {
	t testing.TB
}

func (l *testLog) Write(p []byte) (int, error) { return l.t.Output().Write(p) }
