package openai

import (
	"context"

	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
)

// Responses is the adapter for the responses API. It implements
// provider.Provider. Nothing is kept by the service: each request carries the
// conversation, and thinking comes and goes encrypted.
type Responses struct{ options provider.Options }

// NewResponses makes one. It does nothing else: the first request pays for
// what is needed then.
func NewResponses(options provider.Options) *Responses { return &Responses{options} }

// Stream implements provider.Provider.
func (r *Responses) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	q, err := readQuirks(req)
	if err != nil {
		return err
	}
	x := exchange.Open(ctx, r.options, req, exchange.Service{
		Headers:  responseHeaders(req, q),
		Describe: exchange.StatusAndError,
	})
	defer x.Close()

	service := sdk.NewResponseService(client(x, req)...)
	stream := service.NewStreaming(x.Context(), response(req, q, r.options.LongCache))
	sent := stream.Err()
	_ = stream.Close() // the SDK holds an empty body; the answer is ours
	if err := x.Sent(sent); err != nil {
		return err
	}
	return x.Read(&responseAnswer{exchange: x, sink: sink})
}

// responseHeaders are sent always: this API routes by them.
func responseHeaders(req provider.Request, q quirks) map[string]string {
	headers := map[string]string{}
	if req.SessionID == "" {
		return headers
	}
	for _, name := range affinityHeaders[q.SessionAffinityFormat] {
		if name != "x-session-affinity" { // of chat completions only
			headers[name] = req.SessionID
		}
	}
	return headers
}
