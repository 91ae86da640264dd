// Package anthropic is the adapter for the Anthropic Messages API
// (api anthropic-messages) and the services that speak it.
//
// It imports the vendor's SDK, gjson, sjson, core/message, core/provider
// and core/provider/internal only. The SDK builds and sends requests; the stream
// is read here, because decoding an event into the SDK's types takes many
// times as long as the rest of its way to the client.
//
// The SDK is held at a version from before it took in APIs that nothing here
// uses. The linker keeps them, and every process would pay for them in memory
// and start-up time, whichever model it talks to.
package anthropic

import (
	"context"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
)

// API is the name that models have for this API.
const API = "anthropic-messages"

// Adapter implements provider.Provider.
type Adapter struct{ options provider.Options }

// New makes an adapter. It does nothing else: the first request pays for what
// is needed then.
func New(options provider.Options) *Adapter { return &Adapter{options} }

// Stream implements provider.Provider.
func (a *Adapter) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	quirks, err := readQuirks(req.Compat)
	if err != nil {
		return err
	}
	x := exchange.Open(ctx, a.options, req, exchange.Service{
		Headers:  quirks.headers(req),
		Describe: exchange.StatusAndBody,
	})
	defer x.Close()

	params := build(req, quirks, a.options.LongCache)
	stream := messages(x, req).NewStreaming(x.Context(), params)
	sent := stream.Err()
	_ = stream.Close() // the SDK holds an empty body; the answer is ours
	if err := x.Sent(sent); err != nil {
		return err
	}
	return x.Read(&answer{exchange: x, sink: sink})
}

// messages is the SDK's service for one request. It is made by hand, and not
// from a client, so that no key, address or header comes from the environment
// or from the vendor's own configuration files.
func messages(x *exchange.Exchange, req provider.Request) *sdk.MessageService {
	options := []option.RequestOption{
		option.WithBaseURL(baseURL(req.Model.BaseURL)),
		option.WithHTTPClient(x.Client()),
		option.WithMaxRetries(0),
	}
	if req.APIKey != "" {
		options = append(options, option.WithAPIKey(req.APIKey))
	}
	service := sdk.NewMessageService(options...)
	return &service
}

const defaultBaseURL = "https://api.anthropic.com"

// baseURL is where the SDK puts /v1/messages behind. People write it with the
// version too.
func baseURL(configured string) string {
	if configured == "" {
		return defaultBaseURL
	}
	return strings.TrimSuffix(strings.TrimRight(configured, "/"), "/v1")
}
