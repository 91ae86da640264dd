// Package providertest is what the tests of the adapters share: a model
// service on loopback that answers with the bytes it is given, and the tests
// that every adapter must pass.
//
// It imports the standard library, core/message and core/provider only: what an
// adapter is made with does not test it.
package providertest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// Server is a model service.
type Server struct {
	URL string

	mu       sync.Mutex
	requests []Request
}

// Request is one request as it arrived.
type Request struct {
	Path   string // with the query
	Header http.Header
	Body   string
}

// Serve runs a service until the test ends. A handler that waits for its
// client is let go then.
func Serve(t testing.TB, handler http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client left
		}
		s.mu.Lock()
		s.requests = append(s.requests, Request{Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: string(body)})
		s.mu.Unlock()
		handler(w, r)
	}))
	s.URL = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return s
}

// Requests gives what has arrived so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Last gives the body of the last request as a JSON value.
func (s *Server) Last(t testing.TB) map[string]any {
	t.Helper()
	requests := s.Requests()
	if len(requests) == 0 {
		t.Fatal("no request arrived")
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(requests[len(requests)-1].Body), &body); err != nil {
		t.Fatalf("the request is not JSON: %v", err)
	}
	return body
}

// Stream answers with a whole stream.
func Stream(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream) // the client may have left
	}
}

// Hang sends a part of a stream, none for "", and then nothing until the
// client leaves.
func Hang(part string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if part != "" {
			Stream(part)(w, r)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

// Cut sends a part of a stream and drops the connection.
func Cut(part string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		Stream(part)(w, r)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Fail answers with a status, headers given as pairs, and a body.
func Fail(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have left
	}
}

// Events writes a stream of data lines, each with the name of its member type
// if it has one.
func Events(data ...string) string {
	var out strings.Builder
	for _, d := range data {
		var head struct{ Type string }
		if json.Unmarshal([]byte(d), &head) == nil && head.Type != "" {
			out.WriteString("event: " + head.Type + "\n")
		}
		out.WriteString("data: " + d + "\n\n")
	}
	return out.String()
}

// Transport is a pool of connections of the test's own, which it leaves
// empty.
func Transport(t testing.TB) http.RoundTripper {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// Elsewhere is a Transport that brings the requests for any host to the server
// of that URL.
func Elsewhere(t testing.TB, url string) http.RoundTripper {
	next := Transport(t)
	return transportFunc(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(url, "http://")
		return next.RoundTrip(r)
	})
}

// EqualJSON reports where a decoded value is not what JSON says.
func EqualJSON(t testing.TB, name string, got any, want string) {
	t.Helper()
	var parsed any
	if err := json.Unmarshal([]byte(want), &parsed); err != nil {
		t.Fatalf("%s: the expectation is not JSON: %v", name, err)
	}
	if !reflect.DeepEqual(got, parsed) {
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s:\n got %s\nwant %s", name, text, want)
	}
}

// Collect runs a request to its end and gives its deltas.
func Collect(ctx context.Context, p provider.Provider, req provider.Request) ([]provider.Delta, error) {
	var deltas []provider.Delta
	err := p.Stream(ctx, req, func(d provider.Delta) error {
		deltas = append(deltas, d)
		return nil
	})
	return deltas, err
}

// Say is a request with one user message.
func Say(model message.Model, text string) provider.Request {
	return provider.Request{
		Model:    model,
		APIKey:   Key,
		System:   "Be brief.",
		Messages: []message.Message{message.NewUser(text, nil, 1)},
	}
}

// Key is the key of the requests here.
const Key = "sk-test-0123456789abcdef"

// Answer is what deltas amount to, for comparisons.
type Answer struct {
	Blocks     []message.Block
	Stop       message.StopReason
	Raw        string
	Error      string
	ResponseID string
	Usage      message.Usage
}

// Assemble puts deltas together, and fails the test where they break the
// rules of provider.Delta.
func Assemble(t testing.TB, deltas []provider.Delta) Answer {
	t.Helper()
	var a Answer
	open := map[int]bool{}
	finished := false
	for i, d := range deltas {
		if finished {
			t.Errorf("delta %d comes behind Finish: %+v", i, d)
		}
		if d.Usage != nil {
			a.Usage = *d.Usage
		}
		switch d.Kind {
		case provider.Begin:
			a.ResponseID = d.ResponseID
		case provider.UsageSoFar:
		case provider.Finish:
			finished = true
			a.Stop, a.Raw, a.Error = d.StopReason, d.RawStopReason, d.ErrorMessage
		case provider.TextStart, provider.ThinkingStart, provider.ToolCallStart:
			if d.Index != len(a.Blocks) {
				t.Fatalf("delta %d begins block %d, want %d", i, d.Index, len(a.Blocks))
			}
			open[d.Index] = true
			a.Blocks = append(a.Blocks, message.Block{Type: kinds[d.Kind], ID: d.ID, Name: d.Name})
		default:
			if !open[d.Index] || a.Blocks[d.Index].Type != kinds[d.Kind] {
				t.Fatalf("delta %d is for a block that is not open or of another type: %+v", i, d)
			}
			add(&a.Blocks[d.Index], d, open)
		}
	}
	if finished && len(open) > 0 {
		t.Errorf("blocks are left open at Finish: %v", open)
	}
	return a
}

var kinds = map[provider.DeltaKind]message.BlockType{
	provider.TextStart: message.BlockText, provider.TextDelta: message.BlockText, provider.TextEnd: message.BlockText,
	provider.ThinkingStart: message.BlockThinking, provider.ThinkingDelta: message.BlockThinking, provider.ThinkingEnd: message.BlockThinking,
	provider.ToolCallStart: message.BlockToolCall, provider.ToolCallDelta: message.BlockToolCall, provider.ToolCallEnd: message.BlockToolCall,
}

func add(b *message.Block, d provider.Delta, open map[int]bool) {
	switch d.Kind {
	case provider.TextDelta:
		b.Text += d.Text
	case provider.ThinkingDelta:
		b.Thinking += d.Text
	case provider.ToolCallDelta:
		b.Arguments = append(b.Arguments, d.Text...)
	case provider.TextEnd:
		b.TextSignature = d.Signature
	case provider.ThinkingEnd:
		b.ThinkingSignature, b.Redacted = d.Signature, d.Redacted
	case provider.ToolCallEnd:
		b.ThoughtSignature = d.Signature
		if d.ID != "" {
			b.ID = d.ID
		}
		if d.Name != "" {
			b.Name = d.Name
		}
	}
	switch d.Kind {
	case provider.TextEnd, provider.ThinkingEnd, provider.ToolCallEnd:
		delete(open, d.Index)
	}
}
