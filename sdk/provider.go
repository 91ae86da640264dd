package sdk

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Provider is a service of models that an extension brings along.
type Provider struct {
	// Name is the provider's part of provider/model. The name of one that pi
	// knows changes that one: what is empty here stays as it was.
	Name    string
	BaseURL string
	// APIKey is a key, or $VARIABLE for one of pi's environment.
	APIKey string
	// API says which of pi's adapters speaks to the service:
	// anthropic-messages, openai-completions, openai-responses, google...
	API     string
	Headers map[string]string
	Models  []Model
	// Stream, if not nil, gives the answers in the adapter's place. It returns
	// when the answer is complete, and soon when ctx ends. A *ProviderError
	// says what can be done about a failure.
	Stream func(ctx *Context, req *ProviderRequest, out *ProviderStream) error
}

// ProviderRequest is one model call.
type ProviderRequest = proto.ProviderRequest

// ProviderError is a failure of a model service.
type ProviderError struct {
	// Class is one of the constants below.
	Class      string
	Status     int // HTTP; 0: none
	Message    string
	RetryAfter time.Duration // how long the service asked to wait; 0: it did not say
}

// What can be done about a failure.
const (
	Retryable = "retryable" // the same request may work in a while
	Overflow  = "overflow"  // the request is larger than the context window
	Quota     = "quota"     // the account has nothing left
	Auth      = "auth"      // the key is missing or wrong
	Invalid   = "invalid"   // the service does not accept the request
)

// Error implements error.
func (e *ProviderError) Error() string { return e.Message }

// Provider adds a provider from the start on.
func (x *Extension) Provider(p Provider) {
	x.mustBeOpen("Provider")
	claim("provider", p.Name, x.providers)
	x.providers[p.Name] = &p
	x.order.providers = append(x.order.providers, p.Name)
}

// RegisterProvider adds a provider, or changes one, while pi runs. The
// provider's Stream must be nil: one that streams is added at the start, by
// Extension.Provider.
func (c *Context) RegisterProvider(p Provider) error {
	if p.Stream != nil {
		return fmt.Errorf("provider %s: one that streams by itself is added by Extension.Provider", p.Name)
	}
	return c.call(proto.MethodRegisterProvider, p.config(), nil)
}

// UnregisterProvider removes a provider that this extension added.
func (c *Context) UnregisterProvider(name string) error {
	return c.call(proto.MethodUnregisterProvider, proto.UnregisterProviderArgs{Name: name}, nil)
}

func (p *Provider) config() proto.Provider {
	return proto.Provider{
		Name: p.Name, BaseURL: p.BaseURL, APIKey: p.APIKey, API: p.API,
		Headers: p.Headers, Models: p.Models, Streams: p.Stream != nil,
	}
}

func (p *Provider) wire() *pb.Provider {
	config, err := message.Marshal(p.config())
	if err != nil {
		panic("sdk: the provider " + p.Name + ": " + err.Error())
	}
	return &pb.Provider{Name: p.Name, Config: config, Streams: p.Stream != nil}
}

// ProviderStream takes an answer piece by piece. It is used by one goroutine
// at a time. An error means that nobody wants the rest.
type ProviderStream struct {
	send  func(proto.ProviderDelta) error
	index int
	open  proto.DeltaKind // the start of the block that is open; empty: none
	done  bool
}

// Text adds to the text of the answer.
func (s *ProviderStream) Text(delta string) error {
	return s.piece(proto.DeltaTextStart, proto.DeltaText, delta)
}

// Thinking adds to what the model thinks before it answers.
func (s *ProviderStream) Thinking(delta string) error {
	return s.piece(proto.DeltaThinkingStart, proto.DeltaThinking, delta)
}

// ToolCall adds a whole tool call with arguments that are a JSON object.
func (s *ProviderStream) ToolCall(id, name string, arguments json.RawMessage) error {
	if err := s.closeBlock(); err != nil {
		return err
	}
	for _, delta := range []proto.ProviderDelta{
		{Kind: proto.DeltaToolCallStart, ID: id, Name: name},
		{Kind: proto.DeltaToolCall, Text: string(arguments)},
		{Kind: proto.DeltaToolCallEnd},
	} {
		delta.Index = s.index
		if err := s.send(delta); err != nil {
			return err
		}
	}
	s.index++
	return nil
}

// Usage tells the tokens used so far.
func (s *ProviderStream) Usage(u Usage) error {
	return s.send(proto.ProviderDelta{Kind: proto.DeltaUsage, Usage: &u})
}

// Finish ends the answer. Stream calls that return without it end with the
// reason stop, or toolUse if there was a tool call.
func (s *ProviderStream) Finish(reason StopReason, usage *Usage) error {
	if err := s.closeBlock(); err != nil {
		return err
	}
	s.done = true
	return s.send(proto.ProviderDelta{Kind: proto.DeltaFinish, StopReason: reason, Usage: usage})
}

func (s *ProviderStream) piece(start, kind proto.DeltaKind, text string) error {
	if s.open != start {
		if err := s.closeBlock(); err != nil {
			return err
		}
		if err := s.send(proto.ProviderDelta{Kind: start, Index: s.index}); err != nil {
			return err
		}
		s.open = start
	}
	return s.send(proto.ProviderDelta{Kind: kind, Index: s.index, Text: text})
}

func (s *ProviderStream) closeBlock() error {
	end := map[proto.DeltaKind]proto.DeltaKind{
		proto.DeltaTextStart:     proto.DeltaTextEnd,
		proto.DeltaThinkingStart: proto.DeltaThinkingEnd,
	}[s.open]
	if end == "" {
		return nil
	}
	s.open = ""
	index := s.index
	s.index++
	return s.send(proto.ProviderDelta{Kind: end, Index: index})
}
