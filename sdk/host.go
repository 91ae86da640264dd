package sdk

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// host is the connection back to pi. It is dialled once, when pi registers
// the extension, and may be used from any goroutine.
type host struct {
	client       pb.HostServiceClient
	conn         *grpc.ClientConn
	capabilities []string
	mode         string
	hasUI        bool
	degraded     degradedNotes
}

func dialHost(req *pb.RegisterRequest) (*host, error) {
	options := append(proto.DialOptions(req.GetToken()), grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient(req.GetHostTarget(), options...)
	if err != nil {
		return nil, fmt.Errorf("dial pi at %s: %w", req.GetHostTarget(), err)
	}
	return &host{
		client:       pb.NewHostServiceClient(conn),
		conn:         conn,
		capabilities: req.GetCapabilities(),
		mode:         req.GetMode(),
		hasUI:        req.GetHasUi(),
	}, nil
}

// call carries out one method of HostService.Call. Nil arguments send none,
// and a nil result drops what comes back.
func (h *host) call(ctx context.Context, from *pb.CallContext, method string, arguments, result any) error {
	req := &pb.CallRequest{Context: from, Method: method}
	if arguments != nil {
		encoded, err := message.Marshal(arguments)
		if err != nil {
			return fmt.Errorf("%s: encode arguments: %w", method, err)
		}
		req.Arguments = encoded
	}
	resp, err := h.client.Call(ctx, req)
	if err != nil {
		return transportError(ctx, method, err)
	}
	if err := failureError(resp.GetFailure()); err != nil {
		return err
	}
	if result == nil || len(resp.GetResult()) == 0 {
		return nil
	}
	if err := json.Unmarshal(resp.GetResult(), result); err != nil {
		return fmt.Errorf("%s: decode result: %w", method, err)
	}
	return nil
}
