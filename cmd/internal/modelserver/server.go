package modelserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// services lists the paths that are answered. Clients differ in whether the
// version belongs to the base URL, so each service has both.
var services = []struct {
	path    string
	service service
}{
	{"/v1/messages", anthropic{}},
	{"/messages", anthropic{}},
	{"/v1/chat/completions", chat{}},
	{"/chat/completions", chat{}},
}

// service is one vendor's protocol.
type service interface {
	// read turns a request body into what the script needs to know of it.
	read(body []byte) (conversation, error)
	// open begins the answer to request n and returns its writer.
	open(out *stream, n int, model string, inputTokens int) writer
}

// Request is one request as it arrived.
type Request struct {
	Path   string
	Header http.Header
	Body   json.RawMessage
}

// Server is a running model server. Its methods may be called from any
// goroutine.
type Server struct {
	// URL is where the server listens, without a final slash.
	URL string

	http   *http.Server
	served chan error

	mu       sync.Mutex
	requests []Request
	refused  map[string]int // failures already sent, by the text that ordered them
}

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start runs a server on a free loopback port until the test ends.
func Start(t TB) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatalf("start the model server: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Fatalf("stop the model server: %v", err)
		}
	})
	return s
}

// Listen runs a server on a TCP address ("127.0.0.1:0" picks a free port)
// until Close.
func Listen(address string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL:     "http://" + listener.Addr().String(),
		served:  make(chan error, 1),
		refused: map[string]int{},
	}
	mux := http.NewServeMux()
	for _, row := range services {
		mux.Handle("POST "+row.path, s.handler(row.service))
	}
	// One context under all requests, so that Close ends a HANG.
	ctx, cancel := context.WithCancel(context.Background())
	s.http = &http.Server{Handler: mux, BaseContext: func(net.Listener) context.Context { return ctx }}
	s.http.RegisterOnShutdown(cancel)
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// Close ends every stream and waits for the server's goroutines.
func (s *Server) Close() error {
	// Shutdown runs the hook that ends the streams and waits for them. It would
	// also wait long for a connection that never carried a request.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	if err != nil {
		return err
	}
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Requests returns the requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) handler(service service) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		n := s.record(Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
		c, err := service.read(body)
		if err != nil {
			http.Error(w, fmt.Sprintf("request body: %v", err), http.StatusBadRequest)
			return
		}
		p := planFor(c)
		if s.refuse(w, p.failure) {
			return
		}
		out := newStream(r.Context(), w, p.pause)
		if !out.wait(p.delay) {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if p.usage == 0 {
			p.usage = len(body) / 4
		}
		p.play(out, service.open(out, n, c.model, p.usage))
	})
}

// record keeps the request and returns its number, counted from 1.
func (s *Server) record(r Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return len(s.requests)
}

// refuse sends the failure, unless there is none or it was sent often enough.
func (s *Server) refuse(w http.ResponseWriter, f failure) bool {
	if f.status == 0 || !s.mayRefuse(f) {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	if f.retryAfter != "" {
		w.Header().Set("Retry-After", f.retryAfter)
	}
	w.WriteHeader(f.status)
	body, err := json.Marshal(map[string]any{
		"type":  "error",
		"error": map[string]string{"type": f.kind(), "message": f.message()},
	})
	if err != nil {
		panic(err) // strings always encode
	}
	_, _ = w.Write(body) // a client that has gone needs no answer
	return true
}

func (s *Server) mayRefuse(f failure) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused[f.key] >= f.times {
		return false
	}
	s.refused[f.key]++
	return true
}
