// Package proto holds what pi and its extensions agree on beside the messages
// themselves: handshake, limits, and the table of methods that an extension
// may call. The messages are in pi/extension/v1, the Go code made from them
// alone in extensionv1.
//
// It imports the standard library and gRPC, and of the core only the values of
// conversations and events. It must not import core/session, extensions, sdk
// or go-plugin, whose host side no extension needs.
package proto

import (
	"context"
	"crypto/rand"
	"crypto/subtle"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Version is the version of the contract that this code speaks.
const Version = 1

// MaxMessageBytes limits one message, in both directions and on both sides.
// The 4 MiB that gRPC starts out with are too little for a tool result.
const MaxMessageBytes = 256 << 20

// TokenKey is the metadata key of the token that goes with every call.
const TokenKey = "pi-extension-token"

// The variables of the environment that the handshake uses. The first is how
// an extension knows that pi started it; it is no secret. The names that begin
// with PLUGIN are those of go-plugin.
const (
	CookieKey   = "PI_EXTENSION_COOKIE"
	CookieValue = "b2c1e0a4-pi-extension"
	VersionsEnv = "PLUGIN_PROTOCOL_VERSIONS"
	// SocketDirEnv names the private folder for sockets.
	SocketDirEnv = "PLUGIN_UNIX_SOCKET_DIR"
	// DebugEnv, set to anything, makes an extension that was started by hand
	// wait to be attached to, and turns deadlines off in pi.
	DebugEnv = "PI_EXTENSION_DEBUG"
	// ReattachEnv holds what a waiting extension printed, for pi to attach to.
	ReattachEnv = "PI_EXTENSION_REATTACH"
)

// HandshakeVersion is the version of go-plugin's handshake line.
const HandshakeVersion = 1

// Capabilities that a host of this version announces.
const (
	CapabilityBus       = "bus"
	CapabilityProviders = "providers"
	CapabilityUpdate    = "update-registration"
	CapabilitySetup     = "setup" // sessions that are begun with something in them
)

// NewToken makes a token for one extension process.
func NewToken() string { return rand.Text() }

// DialOptions are the options with which both sides dial.
func DialOptions(token string) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(MaxMessageBytes),
			grpc.MaxCallSendMsgSize(MaxMessageBytes),
		),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			return invoke(withToken(ctx, token), method, req, reply, conn, opts...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			return open(withToken(ctx, token), desc, conn, method, opts...)
		}),
	}
}

// ServerOptions are the options with which both sides serve. check says
// whether a call of the method may come with the token; it may be called from
// any goroutine.
func ServerOptions(check func(method, token string) bool) []grpc.ServerOption {
	allowed := func(ctx context.Context, method string) error {
		if !check(method, tokenOf(ctx)) {
			return status.Errorf(codes.Unauthenticated, "%s was called without the token of this extension", method)
		}
		return nil
	}
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(MaxMessageBytes),
		grpc.MaxSendMsgSize(MaxMessageBytes),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := allowed(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return next(ctx, req)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := allowed(stream.Context(), info.FullMethod); err != nil {
				return err
			}
			return next(srv, stream)
		}),
	}
}

// SameToken compares tokens without telling by its time how far they agree.
func SameToken(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

func withToken(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, TokenKey, token)
}

func tokenOf(ctx context.Context) string {
	if values := metadata.ValueFromIncomingContext(ctx, TokenKey); len(values) > 0 {
		return values[0]
	}
	return ""
}
