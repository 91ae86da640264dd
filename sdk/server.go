package sdk

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// server is the extension's side of the contract. gRPC calls its methods from
// as many goroutines as there are calls.
type server struct {
	pb.UnimplementedExtensionServiceServer
	register func(*Extension)
	log      *slog.Logger
	grpc     *grpc.Server

	// base ends when the process is to end.
	base context.Context
	stop context.CancelCauseFunc
	// asked is closed when pi has asked for the end.
	asked chan struct{}

	mu        sync.Mutex
	token     string
	extension *Extension
	host      *host
	started   bool // no session_shutdown has come since the start
	tasks     sync.WaitGroup
}

var errHostGone = errors.New("pi has gone")

func newServer(register func(*Extension), log *slog.Logger) *server {
	s := &server{register: register, log: log, asked: make(chan struct{})}
	s.base, s.stop = context.WithCancelCause(context.Background())
	s.grpc = grpc.NewServer(proto.ServerOptions(s.allowed)...)
	pb.RegisterExtensionServiceServer(s.grpc, s)
	return s
}

// allowed lets the first caller in, who brings the token, and then only those
// who have it.
func (s *server) allowed(method, token string) bool {
	if method == pb.ExtensionService_Register_FullMethodName {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token != "" && proto.SameToken(token, s.token)
}

// Register implements the contract.
func (s *server) Register(_ context.Context, req *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" {
		return nil, status.Error(codes.FailedPrecondition, "the extension is registered already")
	}
	x := newExtension(s.log)
	if failure := guard(func() error { s.register(x); return nil }); failure != nil {
		s.log.Error("the registration panicked: "+failure.GetMessage(), "stack", failure.GetStack())
		return nil, status.Error(codes.Internal, "the registration panicked: "+short(failure.GetMessage()))
	}
	h, err := dialHost(req)
	if err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	x.sealed = true
	x.tasks = &s.tasks
	x.background = newContext(s.base, x, h, nil)
	s.token, s.extension, s.host = req.GetToken(), x, h
	return x.registration(), nil
}

// Initialize implements the contract.
func (s *server) Initialize(_ context.Context, req *pb.InitializeRequest) (*pb.InitializeResponse, error) {
	for name, value := range req.GetFlags() {
		if f, ok := s.extension.flags[name]; ok {
			f.value.Store(&value)
		}
	}
	s.noteSession(event.KindSessionStart)
	return &pb.InitializeResponse{}, nil
}

// Handle implements the contract.
func (s *server) Handle(ctx context.Context, req *pb.HandleRequest) (*pb.HandleResponse, error) {
	c := newContext(ctx, s.extension, s.host, req.GetContext())
	if req.GetKind() == proto.KindBus {
		return &pb.HandleResponse{Failure: s.bus(c, req.GetPayload())}, nil
	}
	kind := event.Kind(req.GetKind())
	handlers := s.extension.handlersOf(kind)
	if len(handlers) == 0 {
		return nil, status.Errorf(codes.Unimplemented, "the extension has no handler for %q", req.GetKind())
	}
	if handlers[0].decided {
		if int(req.GetHandler()) >= len(handlers) {
			return nil, status.Errorf(codes.Unimplemented, "the extension has no handler %d for %q", req.GetHandler(), req.GetKind())
		}
		var result []byte
		failure := guard(func() (err error) {
			result, err = handlers[req.GetHandler()].run(c, req.GetPayload())
			return err
		})
		return &pb.HandleResponse{Result: result, Failure: s.logged(kind, failure)}, nil
	}
	s.noteSession(kind)
	return &pb.HandleResponse{Failure: s.tell(c, handlers, req.GetPayload())}, nil
}

// HandleBatch implements the contract.
func (s *server) HandleBatch(ctx context.Context, req *pb.HandleBatchRequest) (*pb.HandleBatchResponse, error) {
	c := newContext(ctx, s.extension, s.host, req.GetContext())
	resp := &pb.HandleBatchResponse{}
	failed := map[string]bool{}
	for _, e := range req.GetEvents() {
		if ctx.Err() != nil {
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		failure := s.tell(c, s.extension.handlersOf(event.Kind(e.GetKind())), e.GetPayload())
		if failure != nil && !failed[e.GetKind()] {
			failed[e.GetKind()] = true
			resp.Failures = append(resp.Failures, &pb.EventFailure{Kind: e.GetKind(), Failure: failure})
		}
	}
	return resp, nil
}

// tell passes an event to all handlers, and gives the first failure.
func (s *server) tell(c *Context, handlers []*handler, payload []byte) *pb.Failure {
	var first *pb.Failure
	for _, h := range handlers {
		failure := s.logged(h.kind, guard(func() error {
			_, err := h.run(c, payload)
			return err
		}))
		if first == nil {
			first = failure
		}
	}
	return first
}

// RunCommand implements the contract.
func (s *server) RunCommand(ctx context.Context, req *pb.RunCommandRequest) (*pb.RunCommandResponse, error) {
	command := s.extension.command(req.GetName())
	if command == nil {
		return nil, status.Errorf(codes.Unimplemented, "the extension has no command %q", req.GetName())
	}
	c := &CommandContext{newContext(ctx, s.extension, s.host, req.GetContext())}
	failure := guard(func() error { return command.Run(c, req.GetArguments()) })
	return &pb.RunCommandResponse{Failure: s.logged(event.Kind("command "+req.GetName()), failure)}, nil
}

// CompleteCommand implements the contract.
func (s *server) CompleteCommand(ctx context.Context, req *pb.CompleteCommandRequest) (*pb.CompleteCommandResponse, error) {
	command := s.extension.command(req.GetName())
	if command == nil || !command.completes() {
		return nil, status.Errorf(codes.Unimplemented, "the extension completes no command %q", req.GetName())
	}
	resp := &pb.CompleteCommandResponse{}
	c := newContext(ctx, s.extension, s.host, req.GetContext())
	failure := guard(func() error { return command.complete(c, req.GetPrefix(), resp) })
	resp.Failure = s.logged(event.Kind("completion of "+req.GetName()), failure)
	return resp, nil
}

// Shutdown implements the contract. The process ends once this is answered.
func (s *server) Shutdown(context.Context, *pb.ShutdownRequest) (*pb.ShutdownResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.asked:
	default:
		close(s.asked)
	}
	return &pb.ShutdownResponse{}, nil
}

// noteSession remembers whether a session is on, so that handlers of
// session_shutdown are called also when pi is gone before it could.
func (s *server) noteSession(kind event.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind {
	case event.KindSessionStart:
		s.started = true
	case event.KindSessionShutdown:
		s.started = false
	}
}

// sayGoodbye calls the handlers of session_shutdown if nobody did.
func (s *server) sayGoodbye(ctx context.Context) {
	s.mu.Lock()
	x, h, started := s.extension, s.host, s.started
	s.started = false
	s.mu.Unlock()
	if x == nil || !started {
		return
	}
	s.tell(newContext(ctx, x, h, nil), x.handlersOf(event.KindSessionShutdown), []byte(`{"reason":"quit"}`))
}

// close ends the connection to pi and waits for what Compact began.
func (s *server) close() {
	s.mu.Lock()
	h := s.host
	s.mu.Unlock()
	if h != nil {
		_ = h.conn.Close()
	}
	s.tasks.Wait()
}

// logged writes the stack of a panic to the log, where its author looks.
func (s *server) logged(kind event.Kind, failure *pb.Failure) *pb.Failure {
	if failure.GetReason() == pb.Failure_REASON_PANIC {
		s.log.Error("the handler of "+string(kind)+" panicked: "+failure.GetMessage(), "stack", failure.GetStack())
	}
	return failure
}

// short keeps a text small enough for a gRPC status, which travels in headers.
func short(text string) string {
	const limit = 2000
	if len(text) > limit {
		return text[:limit] + "..."
	}
	return text
}
