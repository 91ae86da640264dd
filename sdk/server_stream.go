package sdk

import (
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// RunTool implements the contract.
func (s *server) RunTool(req *pb.RunToolRequest, stream grpc.ServerStreamingServer[pb.RunToolResponse]) error {
	entry := s.extension.tool(req.GetName())
	if entry == nil {
		return status.Errorf(codes.Unimplemented, "the extension has no tool %q", req.GetName())
	}
	ctx := &ToolContext{
		Context: newContext(stream.Context(), s.extension, s.host, req.GetContext()),
		CallID:  req.GetToolCallId(),
		update: func(output ToolOutput) error {
			encoded, err := encodeOutput(output)
			if err != nil {
				return err
			}
			return stream.Send(&pb.RunToolResponse{Result: encoded})
		},
	}
	last := &pb.RunToolResponse{Final: true}
	last.Failure = guard(func() error {
		output, err := entry.run(ctx, req.GetArguments())
		if err != nil && len(output.Content) == 0 {
			return err
		}
		var encodeErr error
		last.Result, encodeErr = encodeOutput(output)
		return errors.Join(err, encodeErr)
	})
	s.logged(event.Kind("tool "+req.GetName()), last.Failure)
	if len(last.Result)+len(last.Failure.GetMessage()) > proto.MaxMessageBytes-1<<20 {
		last = &pb.RunToolResponse{Final: true, Failure: &pb.Failure{Message: fmt.Sprintf(
			"the result of the tool %s has %d bytes, more than the limit of %d", req.GetName(), len(last.Result), proto.MaxMessageBytes-1<<20)}}
	}
	return stream.Send(last)
}

func encodeOutput(output ToolOutput) ([]byte, error) {
	if output.Content == nil {
		output.Content = []Block{}
	}
	return message.Marshal(output)
}

// StreamProvider implements the contract.
func (s *server) StreamProvider(req *pb.StreamProviderRequest, stream grpc.ServerStreamingServer[pb.StreamProviderResponse]) error {
	provider, ok := s.extension.providers[req.GetProvider()]
	if !ok || provider.Stream == nil {
		return status.Errorf(codes.Unimplemented, "the extension streams no provider %q", req.GetProvider())
	}
	var request ProviderRequest
	if err := json.Unmarshal(req.GetRequest(), &request); err != nil {
		return status.Error(codes.InvalidArgument, "decode the request: "+short(err.Error()))
	}
	calledTool := false
	out := &ProviderStream{send: func(delta proto.ProviderDelta) error {
		calledTool = calledTool || delta.Kind == proto.DeltaToolCallStart
		encoded, err := message.Marshal(delta)
		if err != nil {
			return err
		}
		return stream.Send(&pb.StreamProviderResponse{Deltas: [][]byte{encoded}})
	}}
	var streamErr error
	failure := guard(func() error {
		streamErr = provider.Stream(newContext(stream.Context(), s.extension, s.host, req.GetContext()), &request, out)
		if streamErr != nil || out.done {
			return streamErr
		}
		reason := message.StopStop
		if calledTool {
			reason = message.StopToolUse
		}
		return out.Finish(reason, nil)
	})
	if s.logged(event.Kind("provider "+req.GetProvider()), failure) == nil {
		return nil
	}
	encoded, err := message.Marshal(providerError(streamErr, failure.GetMessage()))
	if err != nil {
		return err
	}
	return stream.Send(&pb.StreamProviderResponse{Error: encoded})
}

func providerError(err error, text string) proto.ProviderError {
	var known *ProviderError
	if errors.As(err, &known) {
		return proto.ProviderError{
			Class: known.Class, Status: known.Status, Message: known.Message,
			RetryAfterMS: known.RetryAfter.Milliseconds(),
		}
	}
	return proto.ProviderError{Class: Invalid, Message: text}
}
