package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
	"github.com/seed-54e836f5/pi/sdk"
)

// Command runs a slash command, "/name arguments", which must succeed.
func (h *Host) Command(text string) {
	h.t.Helper()
	if err := h.TryCommand(text); err != nil {
		h.t.Fatalf("%s: %v", text, err)
	}
}

// TryCommand runs a slash command and gives its error.
func (h *Host) TryCommand(text string) error {
	h.t.Helper()
	name, arguments, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	ctx, call, end := h.begin(context.Background())
	defer end()
	resp, err := h.client.RunCommand(ctx, &pb.RunCommandRequest{Context: call, Name: name, Arguments: arguments})
	return outcome(err, resp.GetFailure())
}

// Complete gives the arguments that a command suggests.
func (h *Host) Complete(command, prefix string) []string {
	h.t.Helper()
	ctx, call, end := h.begin(context.Background())
	defer end()
	resp, err := h.client.CompleteCommand(ctx, &pb.CompleteCommandRequest{Context: call, Name: command, Prefix: prefix})
	if err := outcome(err, resp.GetFailure()); err != nil {
		h.t.Fatalf("complete /%s %s: %v", command, prefix, err)
	}
	return resp.GetValues()
}

// Tool calls a tool, which must succeed. arguments are a JSON object.
func (h *Host) Tool(name, arguments string) sdk.ToolOutput {
	h.t.Helper()
	output, _, err := h.TryTool(context.Background(), name, arguments)
	if err != nil {
		h.t.Fatalf("the tool %s: %v", name, err)
	}
	return output
}

// ToolText is Tool for the text of the result.
func (h *Host) ToolText(name, arguments string) string {
	h.t.Helper()
	return message.Text(h.Tool(name, arguments).Content)
}

// TryTool calls a tool and gives the result, what it showed before, and its
// error. When ctx ends, the run was aborted.
func (h *Host) TryTool(ctx context.Context, name, arguments string) (output sdk.ToolOutput, updates []sdk.ToolOutput, err error) {
	h.t.Helper()
	ctx, call, end := h.begin(ctx)
	defer end()
	stream, err := h.client.RunTool(ctx, &pb.RunToolRequest{Context: call, Name: name, ToolCallId: "call-" + call.GetCallId(), Arguments: []byte(arguments)})
	if err != nil {
		return output, nil, outcome(err, nil)
	}
	for {
		step, err := stream.Recv()
		if err != nil {
			return output, updates, outcome(err, nil)
		}
		var result sdk.ToolOutput
		if len(step.GetResult()) > 0 {
			if err := json.Unmarshal(step.GetResult(), &result); err != nil {
				return output, updates, err
			}
		}
		if step.GetFinal() {
			return result, updates, outcome(nil, step.GetFailure())
		}
		updates = append(updates, result)
	}
}

// Decide asks the extension's handlers of an event that is decided, and gives
// the first result; nil: they had nothing to say.
func Decide[E, R any](h *Host, d sdk.Descriptor[func(*sdk.Context, *E) (*R, error)], e *E) (*R, error) {
	h.t.Helper()
	return DecideContext(context.Background(), h, d, e)
}

// DecideContext is Decide with a context whose end is that of an aborted run.
func DecideContext[E, R any](ctx context.Context, h *Host, d sdk.Descriptor[func(*sdk.Context, *E) (*R, error)], e *E) (*R, error) {
	h.t.Helper()
	kind, payload := h.payload(e)
	count := h.handlers(kind)
	if count == 0 {
		h.t.Fatalf("the extension has no handler for %s", kind)
	}
	for n := range count {
		encoded, err := h.handle(ctx, kind, payload, n)
		if err != nil {
			return nil, err
		}
		if len(encoded) > 0 {
			result := new(R)
			return result, json.Unmarshal(encoded, result)
		}
	}
	return nil, nil
}

// Tell tells the extension an event, which must go well. Events that it has
// no handler for are passed over, as pi does.
func (h *Host) Tell(e event.Event) {
	h.t.Helper()
	if err := h.TryTell(e); err != nil {
		h.t.Fatalf("the handler of %s: %v", e.Kind(), err)
	}
}

// TryTell tells the extension an event and gives its error.
func (h *Host) TryTell(e event.Event) error {
	h.t.Helper()
	kind, payload := h.payload(e)
	if h.handlers(kind) == 0 {
		return nil
	}
	_, err := h.handle(context.Background(), kind, payload, 0)
	return err
}

// StartSession tells the extension that the session is live.
func (h *Host) StartSession() {
	h.t.Helper()
	h.Tell(&sdk.SessionStartEvent{Reason: "startup"})
}

// Publish sends a message on the bus, in the name of another extension.
func (h *Host) Publish(from, topic string, data any) {
	h.t.Helper()
	encoded, err := message.Marshal(data)
	if err != nil {
		h.t.Fatalf("publish on %s: %v", topic, err)
	}
	if !slices.Contains(h.reg.GetTopics(), topic) {
		h.t.Fatalf("the extension does not listen to %s", topic)
	}
	payload, err := message.Marshal(proto.BusMessage{Topic: topic, Data: encoded, From: from})
	if err != nil {
		h.t.Fatalf("publish on %s: %v", topic, err)
	}
	if _, err := h.handle(context.Background(), proto.KindBus, payload, 0); err != nil {
		h.t.Fatalf("the handler of the topic %s: %v", topic, err)
	}
}

// Stream asks a provider of the extension for an answer, and gives its text,
// its steps, and its error.
func (h *Host) Stream(provider string, req sdk.ProviderRequest) (text string, deltas []proto.ProviderDelta, err error) {
	h.t.Helper()
	encoded, err := message.Marshal(req)
	if err != nil {
		h.t.Fatalf("stream %s: %v", provider, err)
	}
	ctx, call, end := h.begin(context.Background())
	defer end()
	stream, err := h.client.StreamProvider(ctx, &pb.StreamProviderRequest{Context: call, Provider: provider, Request: encoded})
	if err != nil {
		return "", nil, outcome(err, nil)
	}
	for {
		step, err := stream.Recv()
		if err != nil {
			return text, deltas, outcome(err, nil)
		}
		for _, each := range step.GetDeltas() {
			var d proto.ProviderDelta
			if err := json.Unmarshal(each, &d); err != nil {
				return text, deltas, err
			}
			deltas = append(deltas, d)
			if d.Kind == proto.DeltaText {
				text += d.Text
			}
		}
		if len(step.GetError()) > 0 {
			var e proto.ProviderError
			if err := json.Unmarshal(step.GetError(), &e); err != nil {
				return text, deltas, err
			}
			return text, deltas, &sdk.ProviderError{Class: e.Class, Status: e.Status, Message: e.Message}
		}
	}
}

func (h *Host) payload(e any) (event.Kind, []byte) {
	h.t.Helper()
	known, ok := e.(event.Event)
	if !ok {
		h.t.Fatalf("%T is no event", e)
	}
	payload, err := event.EncodePayload(known)
	if err != nil {
		h.t.Fatalf("encode %s: %v", known.Kind(), err)
	}
	return known.Kind(), payload
}

func (h *Host) handlers(kind event.Kind) (count int) {
	for _, each := range h.reg.GetHandlers() {
		if each.GetKind() == string(kind) {
			count++
		}
	}
	return count
}

func (h *Host) handle(ctx context.Context, kind event.Kind, payload []byte, which int) ([]byte, error) {
	ctx, call, end := h.begin(ctx)
	defer end()
	resp, err := h.client.Handle(ctx, &pb.HandleRequest{Context: call, Kind: string(kind), Payload: payload, Handler: uint32(which)})
	return resp.GetResult(), outcome(err, resp.GetFailure())
}

// outcome is the error of a call: the transport's, or the handler's own.
func outcome(err error, f *pb.Failure) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return errors.New(status.Convert(err).Message())
	case f == nil:
		return nil
	case f.GetReason() == pb.Failure_REASON_PANIC:
		return errors.New("panic: " + f.GetMessage() + "\n" + f.GetStack())
	}
	return errors.New(f.GetMessage())
}
