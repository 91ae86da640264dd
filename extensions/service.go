package extensions

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// service is what extensions call: one server for all of them, which knows by
// the token who is calling. It is there only once an extension is started.
type service struct {
	pb.UnimplementedHostServiceServer
	host *Host

	starting sync.Mutex // held while the server is made, so that there is one

	mu      sync.Mutex
	server  *grpc.Server
	target  string // as gRPC dials it
	base    string // folder for the sockets of extensions
	release func()
	serving chan struct{}
	callers map[string]*instance // by token
}

// start makes the server, if there is none yet, and lets an instance in.
func (s *service) start(i *instance) (target, base string, err error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.server == nil {
		if err := s.listen(); err != nil {
			return "", "", err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers[i.token] = i
	return s.target, s.base, nil
}

func (s *service) listen() error {
	if !s.host.debugging() {
		if err := shield(); err != nil {
			s.host.log.Warn("extensions can look into the memory of pi: " + err.Error())
		}
	}
	base, release, err := socketDir(s.host.options.Env)
	if err != nil {
		return err
	}
	listener, err := net.Listen("unix", filepath.Join(base, "host"))
	if err != nil {
		release()
		return fmt.Errorf("listen for extensions: %w", err)
	}
	server := grpc.NewServer(append(proto.ServerOptions(s.allowed), grpc.MaxConcurrentStreams(maxCalls))...)
	pb.RegisterHostServiceServer(server, s)
	serving := make(chan struct{})
	s.mu.Lock()
	s.base, s.release, s.target = base, release, "unix:"+listener.Addr().String()
	s.server, s.serving, s.callers = server, serving, map[string]*instance{}
	s.mu.Unlock()
	go func() {
		defer close(serving)
		_ = server.Serve(listener) // ends with Stop
	}()
	return nil
}

// maxCalls is how many calls one extension may have under way; more wait.
const maxCalls = 1000

func (s *service) allowed(_, token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.callers[token] != nil
}

// forget lets an instance do nothing more.
func (s *service) forget(i *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.callers, i.token)
}

func (s *service) close() {
	s.mu.Lock()
	server, serving, release := s.server, s.serving, s.release
	s.mu.Unlock()
	if server == nil {
		return
	}
	server.Stop()
	<-serving
	release()
}

// caller finds out who calls, and on whose behalf. The context ends also when
// the extension's process does, and when the handler that called does.
func (s *service) caller(ctx context.Context, from *pb.CallContext) (*instance, *call, context.Context, func(), error) {
	token := ""
	if values := metadata.ValueFromIncomingContext(ctx, proto.TokenKey); len(values) > 0 {
		token = values[0]
	}
	s.mu.Lock()
	i := s.callers[token]
	s.mu.Unlock()
	if i == nil {
		return nil, nil, nil, nil, status.Error(codes.Unauthenticated, "this process is no extension any more")
	}
	ctx, end := i.bound(ctx)
	c := i.callOf(from.GetCallId())
	if c == nil {
		return i, nil, ctx, end, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	return i, c, ctx, func() {
		stop()
		cancel(nil)
		end()
	}, nil
}

// dialogs are the methods of Ask; what they need beside a title is checked
// here, so that the error reaches the author.
var dialogs = map[string]func(req *pb.AskRequest) error{
	string(ui.Select): func(req *pb.AskRequest) error {
		if len(req.GetOptions()) == 0 {
			return fmt.Errorf("a select dialog needs options")
		}
		return nil
	},
	string(ui.Confirm): nil,
	string(ui.Input):   nil,
	string(ui.Editor):  nil,
}

// Ask implements the contract.
func (s *service) Ask(ctx context.Context, req *pb.AskRequest) (*pb.AskResponse, error) {
	i, _, ctx, end, err := s.caller(ctx, req.GetContext())
	if err != nil {
		return nil, err
	}
	defer end()
	if failure := i.mayNot(proto.CanAsk, "a dialog"); failure != nil {
		return &pb.AskResponse{Failure: failure}, nil
	}
	check, known := dialogs[req.GetMethod()]
	if !known {
		return nil, status.Errorf(codes.Unimplemented, "this pi has no dialog %q", req.GetMethod())
	}
	if check != nil {
		if err := check(req); err != nil {
			return &pb.AskResponse{Failure: invalid(err)}, nil
		}
	}
	defer i.watch.dialogOpened()()
	answer, err := s.host.theSession().UI().Ask(ctx, ui.Dialog{
		Method:      ui.Method(req.GetMethod()),
		Title:       req.GetTitle(),
		Message:     req.GetMessage(),
		Options:     req.GetOptions(),
		Placeholder: req.Placeholder,
		Prefill:     req.Prefill,
		Timeout:     time.Duration(req.GetTimeoutMs()) * time.Millisecond,
	})
	if err != nil {
		return &pb.AskResponse{Failure: invalid(err)}, nil
	}
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return &pb.AskResponse{Value: answer.Value, Confirmed: answer.Confirmed, Dismissed: answer.Dismissed}, nil
}

// notices make the values of Tell, by method.
var notices = map[string]func(req *pb.TellRequest) ui.Notice{
	string(ui.Notify): func(req *pb.TellRequest) ui.Notice {
		return ui.Notice{Message: req.GetText(), Type: req.GetType()}
	},
	string(ui.SetStatus): func(req *pb.TellRequest) ui.Notice {
		return ui.Notice{Key: req.GetKey(), Text: req.Text}
	},
	string(ui.SetWidget): func(req *pb.TellRequest) ui.Notice {
		n := ui.Notice{Key: req.GetKey(), Placement: req.GetPlacement()}
		if req.Lines != nil {
			lines := append([]string{}, req.GetLines().GetLines()...)
			n.Lines = &lines
		}
		return n
	},
	string(ui.SetTitle): func(req *pb.TellRequest) ui.Notice {
		return ui.Notice{Title: req.GetText()}
	},
	string(ui.SetEditorText): func(req *pb.TellRequest) ui.Notice {
		return ui.Notice{Content: req.GetText()}
	},
}

// Tell implements the contract.
func (s *service) Tell(ctx context.Context, req *pb.TellRequest) (*pb.TellResponse, error) {
	i, _, _, end, err := s.caller(ctx, req.GetContext())
	if err != nil {
		return nil, err
	}
	defer end()
	if failure := i.mayNot(proto.CanAsk, "a notice"); failure != nil {
		return &pb.TellResponse{Failure: failure}, nil
	}
	notice, known := notices[req.GetMethod()]
	if !known {
		return nil, status.Errorf(codes.Unimplemented, "this pi has no notice %q", req.GetMethod())
	}
	n := notice(req)
	n.Method = ui.Method(req.GetMethod())
	s.host.theSession().UI().Tell(n)
	return &pb.TellResponse{}, nil
}

// mayNot refuses what the manifest does not list.
func (i *instance) mayNot(c proto.Capability, what string) *pb.Failure {
	if i.x.source.manifest.allows(c) {
		return nil
	}
	return &pb.Failure{
		Reason:     pb.Failure_REASON_MISSING_CAPABILITY,
		Capability: string(c),
		Message:    fmt.Sprintf("%s needs the capability %q, which the %s of %s does not list", what, c, ManifestName, i.x.source.name()),
	}
}

func invalid(err error) *pb.Failure {
	return &pb.Failure{Reason: pb.Failure_REASON_INVALID_ARGUMENT, Message: err.Error()}
}
