package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// guard is a provider with what the user's settings ask of every model call,
// and without keys in what it says.
type guard struct {
	provider.Provider
	catalogue *config.Catalogue
	settings  config.Settings
	images    *resizer
}

// Stream implements provider.Provider.
func (g *guard) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	for level, tokens := range g.settings.ThinkingBudgets {
		if req.ThinkingBudgets == nil {
			req.ThinkingBudgets = map[message.ThinkingLevel]int64{}
		}
		req.ThinkingBudgets[level] = int64(tokens)
	}
	req.Hooks = g.hide(req.Hooks)
	switch {
	case g.settings.Images.BlockImages:
		req.Messages = withImages(req.Messages, func(message.Block) message.Block { return message.TextBlock(imageBlocked) })
	case g.settings.Images.AutoResize && req.Model.TakesImages():
		req.Messages = withImages(req.Messages, g.images.resize)
	}
	limited, stop := limitTime(ctx, g.settings.Retry.RequestTimeout)
	defer stop()
	var refused error // by the sink
	err := g.Provider.Stream(limited, req, func(d provider.Delta) error {
		if d.ErrorMessage != "" {
			d.ErrorMessage = g.catalogue.Redact(d.ErrorMessage)
		}
		refused = sink(d)
		return refused
	})
	switch {
	case err == nil || refused != nil:
		return err
	case ctx.Err() == nil && errors.Is(context.Cause(limited), errRequestTime):
		return provider.Errorf(provider.Retryable, "timeout: the answer was not complete after %s, the time that the setting retry.provider.timeoutMs allows",
			g.settings.Retry.RequestTimeout)
	}
	return g.clean(req.Model.Provider, err)
}

// hide keeps keys from extensions that look at headers. A header that they
// leave alone stays what it is.
func (g *guard) hide(hooks provider.Hooks) provider.Hooks {
	hidden := func(headers map[string]string) map[string]string {
		shown := make(map[string]string, len(headers))
		for name, value := range headers {
			shown[name] = g.catalogue.Redact(value)
		}
		return shown
	}
	if before := hooks.BeforeHeaders; before != nil {
		hooks.BeforeHeaders = func(ctx context.Context, headers map[string]string) map[string]string {
			shown := hidden(headers)
			sent := maps.Clone(before(ctx, maps.Clone(shown)))
			for name, value := range sent {
				if was, there := shown[name]; there && value == was {
					sent[name] = headers[name]
				}
			}
			return sent
		}
	}
	if after := hooks.AfterResponse; after != nil {
		hooks.AfterResponse = func(ctx context.Context, status int, headers map[string]string) {
			after(ctx, status, hidden(headers))
		}
	}
	return hooks
}

// clean takes keys out of an error, and has a key that is no longer good looked
// for again.
func (g *guard) clean(of string, err error) error {
	var failure *provider.Error
	if !errors.As(err, &failure) {
		return &provider.Error{Class: provider.Invalid, Message: g.catalogue.Redact(err.Error()), Err: err}
	}
	cleaned := *failure
	cleaned.Message = g.catalogue.Redact(failure.Message)
	if longest := g.settings.Retry.MaxServiceDelay; longest > 0 && cleaned.RetryAfter > longest {
		cleaned.Class = provider.Quota
		cleaned.Message += fmt.Sprintf(" (the service asks to wait for %s; the setting retry.provider.maxRetryDelayMs allows %s)",
			cleaned.RetryAfter.Round(time.Second), longest)
	}
	if cleaned.Class == provider.Auth {
		g.catalogue.Forget(of)
	}
	return &cleaned
}

// errRequestTime is the cause of the end of a request that took too long.
var errRequestTime = errors.New("the time for the request is over")

// limitTime bounds a request; 0: it does not.
func limitTime(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit, errRequestTime)
}

// imageBlocked stands where an image was that the settings keep from models.
const imageBlocked = "[image left out: the setting images.blockImages keeps images from models]"

// withImages gives a conversation with another block in the place of each
// image. The messages themselves stay as they are.
func withImages(messages []message.Message, change func(message.Block) message.Block) []message.Message {
	list := make([]message.Message, len(messages))
	for i, m := range messages {
		list[i] = m
		switch m := m.(type) {
		case *message.User:
			if blocks := m.Content.Blocks(); hasImage(blocks) {
				said := *m
				said.Content = message.BlockContent(changeImages(blocks, change))
				list[i] = &said
			}
		case *message.ToolResult:
			if hasImage(m.Content) {
				said := *m
				said.Content = changeImages(m.Content, change)
				list[i] = &said
			}
		}
	}
	return list
}

func hasImage(blocks []message.Block) bool {
	return slices.ContainsFunc(blocks, func(b message.Block) bool { return b.Type == message.BlockImage })
}

func changeImages(blocks []message.Block, change func(message.Block) message.Block) []message.Block {
	list := slices.Clone(blocks)
	for i, b := range list {
		if b.Type == message.BlockImage {
			list[i] = change(b)
		}
	}
	return list
}

// proxied is the transport through the proxy of the settings. NO_PROXY counts
// for it as for that of the environment. A proxy that cannot be used fails the
// requests: whoever set one does not want them to go past it.
func proxied(address string) http.RoundTripper {
	parsed, err := url.Parse(address)
	if err == nil && (parsed.Scheme == "" || parsed.Host == "") {
		err = errors.New("it is no address like http://proxy:8080")
	}
	if err != nil {
		var detailed *url.Error
		if errors.As(err, &detailed) {
			err = detailed.Err // the address may hold a password
		}
		err = fmt.Errorf("the setting httpProxy cannot be used: %w", err)
		return provider.NewTransport(func(*http.Request) (*url.URL, error) { return nil, err })
	}
	setting := httpproxy.Config{HTTPProxy: address, HTTPSProxy: address, NoProxy: httpproxy.FromEnvironment().NoProxy}
	proxy := setting.ProxyFunc()
	return provider.NewTransport(func(r *http.Request) (*url.URL, error) { return proxy(r.URL) })
}

// cleanWriter takes keys out of a log, which writes a record at a time.
type cleanWriter struct {
	to        io.Writer
	catalogue *config.Catalogue
}

// Write implements io.Writer.
func (w cleanWriter) Write(record []byte) (int, error) {
	_, err := io.WriteString(w.to, w.catalogue.Redact(string(record)))
	return len(record), err
}
