package sdktest

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// service is what the extension calls.
type service struct {
	pb.UnimplementedHostServiceServer
	h *Host
}

// Ask implements the contract.
func (s *service) Ask(ctx context.Context, req *pb.AskRequest) (*pb.AskResponse, error) {
	if !s.h.config.hasUI {
		return &pb.AskResponse{Dismissed: true}, nil
	}
	if call := s.h.calls.get(req.GetContext().GetCallId()); call != nil {
		both, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(call, cancel)()
		ctx = both
	}
	answer := s.h.ui.ask(ctx, req)
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return answer, nil
}

// Tell implements the contract.
func (s *service) Tell(_ context.Context, req *pb.TellRequest) (*pb.TellResponse, error) {
	s.h.ui.tell(req)
	return &pb.TellResponse{}, nil
}

// Call implements the contract.
func (s *service) Call(_ context.Context, req *pb.CallRequest) (*pb.CallResponse, error) {
	run, known := methods[req.GetMethod()]
	if !known {
		return nil, status.Errorf(codes.Unimplemented, "sdktest has no method %q", req.GetMethod())
	}
	if from := req.GetContext().GetGeneration(); from != 0 && from != s.h.session.current() && !anySession[req.GetMethod()] {
		return &pb.CallResponse{Failure: &pb.Failure{
			Reason: pb.Failure_REASON_STALE_CONTEXT, Message: req.GetMethod() + ": the session of this context has been replaced",
		}}, nil
	}
	result, err := run(s.h, req.GetArguments())
	if err != nil {
		return &pb.CallResponse{Failure: &pb.Failure{Message: err.Error()}}, nil
	}
	if result == nil {
		return &pb.CallResponse{}, nil
	}
	encoded, err := message.Marshal(result)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &pb.CallResponse{Result: encoded}, nil
}

// UpdateRegistration implements the contract.
func (s *service) UpdateRegistration(_ context.Context, req *pb.UpdateRegistrationRequest) (*pb.UpdateRegistrationResponse, error) {
	s.h.session.mu.Lock()
	defer s.h.session.mu.Unlock()
	s.h.reg.Tools, s.h.reg.Commands = req.GetTools(), req.GetCommands()
	return &pb.UpdateRegistrationResponse{}, nil
}

var anySession = func() map[string]bool {
	set := map[string]bool{}
	for _, m := range proto.Methods() {
		set[m.Name] = m.AnySession
	}
	return set
}()

// with decodes the arguments of a method.
func with[A any](run func(h *Host, arguments A) (any, error)) func(*Host, []byte) (any, error) {
	return func(h *Host, data []byte) (any, error) {
		var arguments A
		if len(data) > 0 {
			if err := json.Unmarshal(data, &arguments); err != nil {
				return nil, fmt.Errorf("decode the arguments: %w", err)
			}
		}
		return run(h, arguments)
	}
}
