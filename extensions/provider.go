package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// registerProvider carries out the method of that name.
func registerProvider(_ context.Context, i *instance, config proto.Provider) (any, error) {
	if config.Streams {
		return nil, invalidError{errors.New("a provider that streams by itself is part of the registration")}
	}
	i.x.enlisting.Lock()
	defer i.x.enlisting.Unlock()
	if i.x.retired {
		return nil, unavailableError{errRetired}
	}
	return nil, i.x.addProvider(config)
}

func unregisterProvider(_ context.Context, i *instance, a proto.UnregisterProviderArgs) (any, error) {
	if i.x.host.options.Providers == nil {
		return nil, unavailableError{errNoProviders}
	}
	if a.Name == "" {
		return nil, invalidError{errors.New("field name is missing")}
	}
	i.x.host.options.Providers.UnregisterProvider(i.x.source.path, a.Name)
	return nil, nil
}

var errNoProviders = errors.New("this pi takes no providers from extensions")

func (x *extension) addProvider(config proto.Provider) error {
	if x.host.options.Providers == nil {
		return unavailableError{errNoProviders}
	}
	if config.Name == "" {
		return invalidError{errors.New("a provider has no name")}
	}
	var stream provider.Provider
	if config.Streams {
		stream = &extensionProvider{x: x, name: config.Name}
	}
	return x.host.options.Providers.RegisterProvider(x.source.path, config, stream)
}

// extensionProvider is a provider whose answers an extension streams.
type extensionProvider struct {
	x    *extension
	name string
}

// Stream implements provider.Provider.
func (p *extensionProvider) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	i, err := p.x.instance()
	if err != nil {
		return provider.Errorf(provider.Retryable, "the provider %s cannot answer: %w", p.name, err)
	}
	encoded, err := encodeRequest(ctx, req)
	if err != nil {
		return provider.Errorf(provider.Invalid, "encode the request: %w", err)
	}
	c, callContext, end := i.begin(ctx, 0, false)
	defer end()
	stream, err := i.client.StreamProvider(c.ctx, &pb.StreamProviderRequest{Context: callContext, Provider: p.name, Request: encoded})
	if err != nil {
		return p.failed(ctx, i, c, err)
	}
	for {
		step, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return p.failed(ctx, i, c, err)
		}
		for _, each := range step.GetDeltas() {
			delta, err := decodeDelta(each)
			if err != nil {
				return provider.Errorf(provider.Invalid, "the answer of the provider %s: %w", p.name, err)
			}
			if err := sink(delta); err != nil {
				return err
			}
		}
		if len(step.GetError()) > 0 {
			return decodeProviderError(step.GetError())
		}
	}
}

func (p *extensionProvider) failed(ctx context.Context, i *instance, c *call, err error) error {
	if ctx.Err() != nil {
		return provider.Abort(ctx.Err())
	}
	return provider.Errorf(provider.Retryable, "%w", i.callError(c.ctx, "the provider "+p.name, err))
}

// encodeRequest makes the wire form of a request. The handlers of
// before_provider_request, which may be another extension's, see and change it
// without the key and the headers.
func encodeRequest(ctx context.Context, req provider.Request) ([]byte, error) {
	tools := make([]proto.ProviderTool, len(req.Tools))
	for n, t := range req.Tools {
		tools[n] = proto.ProviderTool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	}
	encoded, err := message.Marshal(proto.ProviderRequest{
		Model: req.Model, Thinking: req.Thinking, System: req.System,
		Messages: req.Messages, Tools: tools, MaxTokens: req.MaxTokens, SessionID: req.SessionID,
	})
	if err != nil {
		return nil, err
	}
	secrets := struct {
		APIKey  string            `json:"apiKey,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	}{req.APIKey, req.Headers}
	if req.Hooks.BeforeHeaders != nil {
		secrets.Headers = req.Hooks.BeforeHeaders(ctx, secrets.Headers)
	}
	if req.Hooks.BeforeRequest != nil {
		if changed := req.Hooks.BeforeRequest(ctx, encoded); changed != nil {
			encoded = changed
		}
	}
	return withMembers(encoded, secrets)
}

// withMembers adds the members of a struct to a JSON object, in the place of
// those of the same names.
func withMembers(object []byte, more any) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, fmt.Errorf("what handlers made of it is no JSON object: %w", err)
	}
	added, err := message.Marshal(more)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(added, &members); err != nil {
		return nil, err
	}
	return message.Marshal(members)
}

var deltaKinds = map[proto.DeltaKind]provider.DeltaKind{
	proto.DeltaBegin:         provider.Begin,
	proto.DeltaTextStart:     provider.TextStart,
	proto.DeltaText:          provider.TextDelta,
	proto.DeltaTextEnd:       provider.TextEnd,
	proto.DeltaThinkingStart: provider.ThinkingStart,
	proto.DeltaThinking:      provider.ThinkingDelta,
	proto.DeltaThinkingEnd:   provider.ThinkingEnd,
	proto.DeltaToolCallStart: provider.ToolCallStart,
	proto.DeltaToolCall:      provider.ToolCallDelta,
	proto.DeltaToolCallEnd:   provider.ToolCallEnd,
	proto.DeltaUsage:         provider.UsageSoFar,
	proto.DeltaFinish:        provider.Finish,
}

func decodeDelta(encoded []byte) (provider.Delta, error) {
	var d proto.ProviderDelta
	if err := json.Unmarshal(encoded, &d); err != nil {
		return provider.Delta{}, err
	}
	kind, known := deltaKinds[d.Kind]
	if !known {
		return provider.Delta{}, fmt.Errorf("a delta of the kind %q is not known", d.Kind)
	}
	return provider.Delta{
		Kind: kind, Index: d.Index, Text: d.Text, Signature: d.Signature, Redacted: d.Redacted, ID: d.ID, Name: d.Name,
		ResponseID: d.ResponseID, Usage: d.Usage, StopReason: d.StopReason, RawStopReason: d.RawStopReason,
		ErrorMessage: d.ErrorMessage,
	}, nil
}

var errorClasses = []provider.Class{provider.Retryable, provider.Overflow, provider.Quota, provider.Auth, provider.Aborted, provider.Invalid}

func decodeProviderError(encoded []byte) error {
	var e proto.ProviderError
	if err := json.Unmarshal(encoded, &e); err != nil {
		return provider.Errorf(provider.Invalid, "the error of the provider: %w", err)
	}
	class := provider.Class(e.Class)
	if !slices.Contains(errorClasses, class) {
		class = provider.Invalid
	}
	return &provider.Error{
		Class: class, Status: e.Status, Message: e.Message,
		RetryAfter: time.Duration(e.RetryAfterMS) * time.Millisecond,
	}
}
