// Stock is an extension without the sdk: it speaks the contract by way of
// go-plugin's own server, as any program could. It registers for a kind that
// no pi knows, needs what NEEDS says, and prints to the standard output that
// go-plugin carries over the connection.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

func main() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{ProtocolVersion: proto.Version, MagicCookieKey: proto.CookieKey, MagicCookieValue: proto.CookieValue},
		Plugins:         plugin.PluginSet{"extension": &server{}},
		GRPCServer:      plugin.DefaultGRPCServer,
	})
}

type server struct {
	plugin.NetRPCUnsupportedPlugin
	pb.UnimplementedExtensionServiceServer
	host pb.HostServiceClient
}

func (s *server) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	pb.RegisterExtensionServiceServer(g, s)
	return nil
}

func (s *server) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}

func (s *server) Register(_ context.Context, req *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	fmt.Println("printed by stock")
	conn, err := grpc.NewClient(req.GetHostTarget(), append(proto.DialOptions(req.GetToken()), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return nil, err
	}
	s.host = pb.NewHostServiceClient(conn)
	return &pb.RegisterResponse{
		Name:     "stock",
		Requires: strings.Fields(os.Getenv("NEEDS")),
		Handlers: []*pb.Handler{{Kind: "from_the_future"}, {Kind: "tool_call"}, {Kind: "session_start"}},
		Commands: []*pb.Command{{Name: "unknown"}, {Name: "missing"}, {Name: "update"}},
		Tools:    []*pb.Tool{{Name: "broken", Parameters: []byte("no JSON")}, {Name: "odd", Parameters: []byte(`{"type":5}`)}, {Name: "my.tool", Parameters: []byte(`{}`)}},
	}, nil
}

func (s *server) Initialize(context.Context, *pb.InitializeRequest) (*pb.InitializeResponse, error) {
	return &pb.InitializeResponse{}, nil
}

// RunCommand calls what no pi knows, and says how that is answered.
func (s *server) RunCommand(ctx context.Context, req *pb.RunCommandRequest) (*pb.RunCommandResponse, error) {
	switch req.GetName() {
	case "update":
		return &pb.RunCommandResponse{}, s.update(ctx)
	case "missing":
		return s.UnimplementedExtensionServiceServer.RunCommand(ctx, req)
	}
	var codes []string
	_, err := s.host.Call(ctx, &pb.CallRequest{Context: req.GetContext(), Method: "from.the.future"})
	codes = append(codes, status.Code(err).String())
	_, err = s.host.Ask(ctx, &pb.AskRequest{Context: req.GetContext(), Method: "hologram"})
	codes = append(codes, status.Code(err).String())
	_, err = s.host.Tell(ctx, &pb.TellRequest{Context: req.GetContext(), Method: "smell"})
	codes = append(codes, status.Code(err).String())
	answer, err := s.host.Call(ctx, &pb.CallRequest{Context: req.GetContext(), Method: proto.MethodAppendEntry, Arguments: []byte("no JSON")})
	if err != nil {
		return nil, err
	}
	codes = append(codes, answer.GetFailure().GetReason().String())
	text := strings.Join(codes, " ")
	if _, err := s.host.Tell(ctx, &pb.TellRequest{Context: req.GetContext(), Method: "notify", Text: &text}); err != nil {
		return nil, err
	}
	return &pb.RunCommandResponse{}, nil
}

// update says three times what the extension adds, the last time with a number
// that is too old.
func (s *server) update(ctx context.Context) error {
	for _, serial := range []uint64{1, 3, 2} {
		_, err := s.host.UpdateRegistration(ctx, &pb.UpdateRegistrationRequest{
			Serial: serial, Commands: []*pb.Command{{Name: fmt.Sprintf("update%d", serial)}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Handle asks for a compaction when the session starts, and says how that was
// answered. Otherwise its result is none.
func (s *server) Handle(ctx context.Context, req *pb.HandleRequest) (*pb.HandleResponse, error) {
	if req.GetKind() == "session_start" {
		answer, err := s.host.Call(ctx, &pb.CallRequest{Context: req.GetContext(), Method: proto.MethodCompact})
		if err != nil {
			return nil, err
		}
		text := answer.GetFailure().GetReason().String() + " " + answer.GetFailure().GetMessage()
		_, err = s.host.Tell(ctx, &pb.TellRequest{Context: req.GetContext(), Method: "notify", Text: &text})
		return &pb.HandleResponse{}, err
	}
	return &pb.HandleResponse{Result: []byte(`"no object"`)}, nil
}
