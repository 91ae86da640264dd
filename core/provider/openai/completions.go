package openai

import (
	"context"

	sdk "github.com/openai/openai-go/v3"

	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
)

// Completions is the adapter for chat completions. It implements
// provider.Provider.
type Completions struct{ options provider.Options }

// NewCompletions makes one. It does nothing else: the first request pays for
// what is needed then.
func NewCompletions(options provider.Options) *Completions { return &Completions{options} }

// Stream implements provider.Provider.
func (c *Completions) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	q, err := readQuirks(req)
	if err != nil {
		return err
	}
	params, err := completion(req, q, c.options.LongCache)
	if err != nil {
		return err
	}
	x := exchange.Open(ctx, c.options, req, exchange.Service{
		Headers:  completionHeaders(req, q),
		Describe: exchange.StatusAndError,
	})
	defer x.Close()

	service := sdk.NewChatCompletionService(client(x, req)...)
	stream := service.NewStreaming(x.Context(), params)
	sent := stream.Err()
	_ = stream.Close() // the SDK holds an empty body; the answer is ours
	if err := x.Sent(sent); err != nil {
		return err
	}
	return x.Read(&completionAnswer{exchange: x, sink: sink, quirks: q})
}

// affinityHeaders are the ways to tell a service which requests belong
// together, by compat.sessionAffinityFormat.
var affinityHeaders = map[string][]string{
	"":                 {"session_id", "x-client-request-id", "x-session-affinity"},
	"openai":           {"session_id", "x-client-request-id", "x-session-affinity"},
	"openai-nosession": {"x-client-request-id", "x-session-affinity"},
	"openrouter":       {"x-session-id"},
}

func completionHeaders(req provider.Request, q quirks) map[string]string {
	headers := map[string]string{}
	if q.SendSessionAffinityHeaders && req.SessionID != "" {
		for _, name := range affinityHeaders[q.SessionAffinityFormat] {
			headers[name] = req.SessionID
		}
	}
	return headers
}
