// Package google is the adapter for Google's Generative Language API (api
// google-generative-ai), which serves the Gemini and Gemma models.
//
// It imports gjson, core/message, core/provider and core/provider/internal
// only. The vendor's SDK is left out: it brings a second stack for
// authentication and tracing that every process would pay for in memory and
// start-up time, puts the key into the text of errors, takes keys and
// addresses from the environment, and cannot say an empty text with a
// signature, which the service wants back.
package google

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
)

// API is the name that models have for this API.
const API = "google-generative-ai"

// Adapter implements provider.Provider.
type Adapter struct{ options provider.Options }

// New makes an adapter. It does nothing else.
func New(options provider.Options) *Adapter { return &Adapter{options} }

// Stream implements provider.Provider.
func (a *Adapter) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	body, err := message.Marshal(build(req))
	if err != nil {
		return provider.Errorf(provider.Invalid, "the request could not be written: %w", err)
	}
	x := exchange.Open(ctx, a.options, req, exchange.Service{
		Describe: exchange.StatusAndError,
		Classify: classify,
	})
	defer x.Close()

	if err := x.Sent(send(x, req, body)); err != nil {
		return err
	}
	return x.Read(&answer{exchange: x, sink: sink})
}

func send(x *exchange.Exchange, req provider.Request, body []byte) error {
	address, err := endpoint(req.Model)
	if err != nil {
		return err
	}
	out, err := http.NewRequestWithContext(x.Context(), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	out.Header.Set("Content-Type", "application/json")
	if req.APIKey != "" {
		out.Header.Set("x-goog-api-key", req.APIKey)
	}
	resp, err := x.Client().Do(out)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body) // an empty one; the answer is the exchange's
	return err
}

const defaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// endpoint is the address of a model. The version is part of the base URL,
// and put there for Google's own host where it is missing.
func endpoint(model message.Model) (string, error) {
	configured := model.BaseURL
	if configured == "" {
		configured = defaultBaseURL
	}
	base, err := url.Parse(configured)
	if err != nil {
		return "", err
	}
	if base.Host == "generativelanguage.googleapis.com" && strings.Trim(base.Path, "/") == "" {
		base = base.JoinPath("v1beta")
	}
	id := strings.TrimPrefix(model.ID, "models/")
	base = base.JoinPath("models", id+":streamGenerateContent")
	base.RawQuery = "alt=sse"
	return base.String(), nil
}
