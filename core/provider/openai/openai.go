// Package openai holds the adapters for the two APIs of OpenAI, chat
// completions (api openai-completions) and responses (api openai-responses),
// and for the many services that speak the first with quirks of their own.
//
// It imports the vendor's SDK, gjson, core/message, core/provider and
// core/provider/internal only. The SDK builds and sends requests; the stream
// is read here, because decoding an event into the SDK's types takes many
// times as long as the rest of its way to the client.
//
// The SDK is held at a version from before it took in APIs that nothing here
// uses. The linker keeps them, and every process would pay for them in memory
// and start-up time, whichever model it talks to.
package openai

import (
	"encoding/json"
	"net/url"

	"github.com/openai/openai-go/v3/option"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
)

// The names that models have for the APIs.
const (
	APICompletions = "openai-completions"
	APIResponses   = "openai-responses"
)

const defaultBaseURL = "https://api.openai.com/v1"

// client is what both APIs tell the SDK of one request. The services of the
// SDK are made by hand, and not from its client, so that no key, address or
// header comes from the environment.
func client(x *exchange.Exchange, req provider.Request) []option.RequestOption {
	base := req.Model.BaseURL
	if base == "" {
		base = defaultBaseURL
	}
	options := []option.RequestOption{
		option.WithBaseURL(base),
		option.WithHTTPClient(x.Client()),
		option.WithMaxRetries(0),
	}
	if req.APIKey != "" {
		options = append(options, option.WithAPIKey(req.APIKey))
	}
	return options
}

func hostOf(baseURL string) string {
	if baseURL == "" {
		baseURL = defaultBaseURL
	}
	base, err := url.Parse(baseURL)
	if err != nil {
		return "" // the SDK will say so
	}
	return base.Hostname()
}

func schema(parameters json.RawMessage) json.RawMessage {
	if len(parameters) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return parameters
}

func dataURL(image message.Block) string {
	return "data:" + image.MimeType + ";base64," + image.Data
}

// effort is the service's word for the level of a request; empty: it has
// none for it, which is usual for off.
func effort(req provider.Request, q quirks) string {
	if word := req.Model.ThinkingWords[req.Thinking]; word != nil {
		return *word
	}
	if word := q.ReasoningEffortMap[req.Thinking]; word != nil {
		return *word
	}
	if !thinks(req) {
		return ""
	}
	return string(req.Thinking)
}

func thinks(req provider.Request) bool {
	return req.Model.Reasoning && req.Thinking != "" && req.Thinking != message.ThinkingOff
}
