package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/provider"
)

// longestBody bounds what is read of a response that is no stream.
const longestBody = 256 << 10

// roundTripper stands below the SDK: the request comes by complete, and the
// answer goes no further.
type roundTripper Exchange

// RoundTrip implements http.RoundTripper.
func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	x := (*Exchange)(r)
	out := req.Clone(req.Context())
	x.setHeaders(out)
	if err := x.setBody(out); err != nil {
		return nil, x.fail(err)
	}
	x.startClock()
	resp, err := x.transport().RoundTrip(out)
	x.stopClock()
	if err != nil {
		return nil, x.fail(x.unreachable(out, err))
	}
	if after := x.request.Hooks.AfterResponse; after != nil {
		after(x.parent, resp.StatusCode, plainHeaders(resp.Header))
	}
	if resp.StatusCode/100 != 2 {
		return nil, x.fail(x.refused(resp))
	}
	x.body = resp.Body
	seen := *resp
	seen.Body, seen.ContentLength = http.NoBody, 0
	return &seen, nil
}

func (x *Exchange) fail(err *provider.Error) error {
	x.failure = err
	return err
}

// setHeaders adds the adapter's own headers and those of the request, as the
// hook leaves them. The hook is not shown what holds a credential; what it
// sets stands above all.
func (x *Exchange) setHeaders(out *http.Request) {
	headers := map[string]string{}
	maps.Copy(headers, x.service.Headers)
	hidden := map[string]string{}
	for name, value := range x.request.Headers {
		dropFold(headers, name)
		if x.isSecret(name, value) {
			hidden[name] = value
		} else {
			headers[name] = value
		}
	}
	if hook := x.request.Hooks.BeforeHeaders; hook != nil {
		headers = hook(x.parent, headers)
	}
	for _, set := range []map[string]string{hidden, headers} {
		for name, value := range set {
			if value == "" {
				out.Header.Del(name)
			} else {
				out.Header.Set(name, value)
			}
		}
	}
	if host := out.Header.Get("Host"); host != "" {
		out.Host = host // net/http takes it from there alone
	}
}

func dropFold(headers map[string]string, name string) {
	for other := range headers {
		if strings.EqualFold(other, name) {
			delete(headers, other)
		}
	}
}

// setBody lets the hook replace the payload.
func (x *Exchange) setBody(out *http.Request) *provider.Error {
	hook := x.request.Hooks.BeforeRequest
	if hook == nil || out.Body == nil {
		return nil
	}
	payload, err := io.ReadAll(out.Body)
	_ = out.Body.Close() // it is all in memory
	if err != nil {
		return provider.Errorf(provider.Invalid, "read the request that was made: %w", err)
	}
	if changed := hook(x.parent, bytes.TrimSpace(payload)); changed != nil {
		payload = changed
	}
	if !json.Valid(payload) {
		return provider.Errorf(provider.Invalid, "what before_provider_request made of the request is not JSON")
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(payload)), int64(len(payload))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil }
	return nil
}

// plainHeaders gives headers as hooks and extensions see them: lower-case
// names, several values joined.
func plainHeaders(h http.Header) map[string]string {
	out := make(map[string]string, len(h))
	for name, values := range h {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}

func (x *Exchange) transport() http.RoundTripper {
	if x.options.Transport != nil {
		return x.options.Transport
	}
	return shared()
}

// shared is one pool of connections for all adapters, made at the first
// request.
var shared = sync.OnceValue(func() http.RoundTripper { return provider.NewTransport(nil) })

// unreachable words the failure of a connection, without the address's query
// and user, which may hold a key.
func (x *Exchange) unreachable(out *http.Request, err error) *provider.Error {
	if x.ctx.Err() != nil {
		return x.interrupted(err)
	}
	return &provider.Error{
		Class:   provider.Retryable,
		Message: x.scrub(fmt.Sprintf("connection error: %s could not be reached: %v", out.URL.Host, err)),
		Err:     err,
	}
}
