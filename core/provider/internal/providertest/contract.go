package providertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// Adapter is an adapter under test, with streams in its service's words.
type Adapter struct {
	New   func(provider.Options) provider.Provider
	Model message.Model // without BaseURL
	// Base is the path of the base URL.
	Base string
	// Begun is a stream that has said the text "partial " and not ended;
	// Whole is one that says "Hello there." and ends.
	Begun, Whole string
	// Text makes the data of one event that adds a text.
	Text func(string) string
	// Failure is the body of an error, of a type and a text; Described is how
	// the adapter words it.
	Failure   func(kind, text string) string
	Described func(status int, kind, text string) string
}

// Contract runs the tests that every adapter must pass.
func Contract(t *testing.T, a Adapter) {
	t.Run("whole", a.whole)
	t.Run("broken", a.broken)
	t.Run("refused", a.refused)
	t.Run("retry after", a.retryAfter)
	t.Run("aborted", a.aborted)
	t.Run("silent", a.silent)
	t.Run("slow sink", a.slowSink)
	t.Run("sink error", a.sinkError)
	t.Run("huge event", a.hugeEvent)
	t.Run("hooks", a.hooks)
	t.Run("headers", a.headers)
	t.Run("keys stay secret", a.secrecy)
	t.Run("redirect", a.redirect)
	t.Run("unreachable", a.unreachable)
	t.Run("connection is used again", a.keepAlive)
}

func (a Adapter) request(url string) provider.Request {
	model := a.Model
	model.BaseURL = url + a.Base
	return Say(model, "hello")
}

func (a Adapter) ask(t *testing.T, handler http.HandlerFunc) ([]provider.Delta, error) {
	t.Helper()
	s := Serve(t, handler)
	p := a.New(provider.Options{Transport: Transport(t)})
	return Collect(t.Context(), p, a.request(s.URL))
}

func (a Adapter) whole(t *testing.T) {
	deltas, err := a.ask(t, Stream(a.Whole))
	if err != nil {
		t.Fatal(err)
	}
	got := Assemble(t, deltas)
	if message.Text(got.Blocks) != "Hello there." || got.Stop != message.StopStop || got.Raw == "" || got.ResponseID == "" {
		t.Errorf("got %+v", got)
	}
}

// broken streams are worth another try, and what was said before is passed on.
func (a Adapter) broken(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		text    string
	}{
		"ends early":           {Stream(a.Begun), "partial "},
		"dropped":              {Cut(a.Begun), "partial "},
		"dropped in an event":  {Cut(a.Begun + a.Text("never")[:20]), "partial "},
		"ends in an event":     {Stream(a.Begun + a.Text("never")[:20]), "partial "},
		"garbage":              {Stream(a.Begun + "data: {]\n\n" + a.Text("never")), "partial "},
		"empty":                {Stream(""), ""},
		"comments only":        {Stream(": hello\n\n: again\n\n"), ""},
		"dropped at the start": {Cut(""), ""},
	} {
		deltas, err := a.ask(t, c.handler)
		if provider.ClassOf(err) != provider.Retryable {
			t.Errorf("%s: error %v of class %q", name, err, provider.ClassOf(err))
		}
		if got := message.Text(Assemble(t, deltas).Blocks); got != c.text {
			t.Errorf("%s: text %q, want %q", name, got, c.text)
		}
	}
}

func (a Adapter) refused(t *testing.T) {
	for _, c := range []struct {
		status     int
		kind, text string
		want       provider.Class
	}{
		{400, "invalid_request_error", "messages: bad thing", provider.Invalid},
		{400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum", provider.Overflow},
		{401, "authentication_error", "no such key", provider.Auth},
		{403, "permission_error", "not for you", provider.Auth},
		{404, "not_found_error", "no such model", provider.Invalid},
		{413, "api_error", "mock failure", provider.Invalid},
		{429, "rate_limit_error", "slow down", provider.Retryable},
		{429, "insufficient_quota", "You exceeded your current quota", provider.Quota},
		{500, "api_error", "oops", provider.Retryable},
		{529, "overloaded_error", "Overloaded", provider.Retryable},
	} {
		_, err := a.ask(t, Fail(c.status, a.Failure(c.kind, c.text)))
		var failure *provider.Error
		if !errors.As(err, &failure) {
			t.Errorf("%d: error %v", c.status, err)
			continue
		}
		if failure.Class != c.want || failure.Status != c.status {
			t.Errorf("%d %s: class %q, status %d; want %q", c.status, c.text, failure.Class, failure.Status, c.want)
		}
		if want := a.Described(c.status, c.kind, c.text); failure.Message != want {
			t.Errorf("message %q, want %q", failure.Message, want)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    provider.Class
		says    string
	}{
		"a proxy's page":     {Fail(502, "<html>Bad Gateway</html>\n"), provider.Retryable, "<html>Bad Gateway</html>"},
		"no body":            {Fail(503, ""), provider.Retryable, "Service Unavailable"},
		"a page, no stream":  {Stream("<!doctype html><title>Welcome</title>"), provider.Invalid, "baseUrl"},
		"an error with 200":  {Stream(a.Failure("overloaded_error", "Overloaded")), provider.Retryable, "Overloaded"},
		"a body that breaks": {breaks, provider.Retryable, "500"},
	} {
		_, err := a.ask(t, c.handler)
		if provider.ClassOf(err) != c.want || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: error %v of class %q, want %q", name, err, provider.ClassOf(err), c.want)
		}
	}
}

func breaks(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	w.WriteHeader(http.StatusInternalServerError)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func (a Adapter) retryAfter(t *testing.T) {
	_, err := a.ask(t, Fail(429, a.Failure("rate_limit_error", "slow down"), "Retry-After", "1.5"))
	if got := provider.RetryAfter(err); got != 1500*time.Millisecond {
		t.Errorf("retry after %s", got)
	}
}

// aborted requests return at once, in every phase.
func (a Adapter) aborted(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"before the response":     Hang(""),
		"in the stream":           Hang(a.Begun),
		"in an event":             Hang(a.Begun + a.Text("never")[:20]),
		"in the body of an error": hangingError,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := Serve(t, func(w http.ResponseWriter, r *http.Request) {
			go cancelWhenSent(r.Context(), cancel)
			handler(w, r)
		})
		p := a.New(provider.Options{Transport: Transport(t), IdleTimeout: time.Hour})
		_, err := Collect(ctx, p, a.request(s.URL))
		if provider.ClassOf(err) != provider.Aborted || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v of class %q", name, err, provider.ClassOf(err))
		}
		cancel()
	}

	done, cancel := context.WithCancel(t.Context())
	cancel()
	s := Serve(t, Stream(a.Whole))
	_, err := Collect(done, a.New(provider.Options{Transport: Transport(t)}), a.request(s.URL))
	if provider.ClassOf(err) != provider.Aborted || len(s.Requests()) != 0 {
		t.Errorf("before the request: error %v, %d requests", err, len(s.Requests()))
	}

	// From the sink, with a whole answer already in the buffer: the rest of
	// the event that is being taken may still come.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	taken := 0
	err = a.New(provider.Options{Transport: Transport(t)}).Stream(ctx, a.request(s.URL), func(provider.Delta) error {
		taken++
		cancel()
		return nil
	})
	if provider.ClassOf(err) != provider.Aborted || taken > 3 {
		t.Errorf("in the sink: error %v after %d deltas", err, taken)
	}
}

// cancelWhenSent aborts while the handler waits, or at the latest when it is
// done.
func cancelWhenSent(request context.Context, cancel context.CancelFunc) {
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-request.Done():
	}
	cancel()
}

func hangingError(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusInternalServerError)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// silent services are given up, in every phase.
func (a Adapter) silent(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"before the response":     Hang(""),
		"in the stream":           Hang(a.Begun),
		"in the body of an error": hangingError,
	} {
		s := Serve(t, handler)
		p := a.New(provider.Options{Transport: Transport(t), IdleTimeout: 30 * time.Millisecond})
		_, err := Collect(t.Context(), p, a.request(s.URL))
		if provider.ClassOf(err) != provider.Retryable || !strings.Contains(fmt.Sprint(err), "30ms") {
			t.Errorf("%s: error %v of class %q", name, err, provider.ClassOf(err))
		}
	}
}

// slowSink takes longer than the idle deadline for each delta, and so do the
// hooks; and the service, for the whole answer. None of that is silence.
func (a Adapter) slowSink(t *testing.T) {
	const idle = time.Minute
	synctest.Test(t, func(t *testing.T) {
		body, service := io.Pipe()
		go func() {
			for event := range strings.SplitAfterSeq(a.Whole, "\n\n") {
				<-time.After(idle - time.Second)
				if _, err := io.WriteString(service, event); err != nil {
					break
				}
			}
			_ = service.Close() // of a pipe: no error
		}()
		p := a.New(provider.Options{IdleTimeout: idle, Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}, nil
		})})
		req := a.request("http://service.test")
		req.Hooks.BeforeHeaders = func(_ context.Context, headers map[string]string) map[string]string {
			<-time.After(10 * idle)
			return headers
		}
		var deltas []provider.Delta
		err := p.Stream(t.Context(), req, func(d provider.Delta) error {
			<-time.After(10 * idle)
			deltas = append(deltas, d)
			return nil
		})
		if got := Assemble(t, deltas); err != nil || message.Text(got.Blocks) != "Hello there." {
			t.Errorf("got %+v, error %v", got, err)
		}
	})
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (a Adapter) sinkError(t *testing.T) {
	full := errors.New("full")
	s := Serve(t, Stream(a.Whole))
	p := a.New(provider.Options{Transport: Transport(t)})
	for kind := provider.Begin; kind <= provider.Finish; kind++ {
		seen := false
		err := p.Stream(t.Context(), a.request(s.URL), func(d provider.Delta) error {
			if seen {
				t.Errorf("%+v is passed on behind an error", d)
			}
			if d.Kind == kind {
				seen = true
				return full
			}
			return nil
		})
		if seen && !errors.Is(err, full) || !seen && err != nil {
			t.Errorf("kind %d: error %v", kind, err)
		}
	}
}

func (a Adapter) hugeEvent(t *testing.T) {
	huge := strings.Repeat("x", 8<<20)
	first, rest, _ := strings.Cut(a.Whole, "Hello")
	deltas, err := a.ask(t, Stream(first+huge+rest))
	if err != nil {
		t.Fatal(err)
	}
	if got := message.Text(Assemble(t, deltas).Blocks); !strings.HasPrefix(got, huge) {
		t.Errorf("%d bytes of text arrived", len(got))
	}
}
