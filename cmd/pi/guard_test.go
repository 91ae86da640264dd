package main

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// scripted is a provider that a test makes up.
type scripted func(context.Context, provider.Request, func(provider.Delta) error) error

func (s scripted) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	return s(ctx, req, sink)
}

const planted = "planted-key-0123456789"

// guarded makes a guard whose catalogue knows one provider, named mock, with
// the planted key.
func guarded(t *testing.T, settings config.Settings, p scripted) *guard {
	t.Helper()
	file := filepath.Join(t.TempDir(), "models.json")
	models := `{"providers": {"mock": {"baseUrl": "http://mock", "api": "anthropic-messages", "apiKey": "!echo x >>runs; echo ` + planted + `", "models": [{"id": "m"}]}}}`
	if err := os.WriteFile(file, []byte(models), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file))
	catalogue, warnings := config.OpenCatalogue(config.CatalogueOptions{ModelsFile: file})
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	if _, err := catalogue.Access(t.Context(), mockModel); err != nil {
		t.Fatal(err)
	}
	return &guard{p, catalogue, settings, &resizer{}}
}

var mockModel = message.Model{Provider: "mock", ID: "m"}

func nothing(provider.Delta) error { return nil }

func TestKeysAreTakenOutOfWhatAProviderSays(t *testing.T) {
	cause := errors.New("cause " + planted)
	for name, err := range map[string]error{
		"a failure":     &provider.Error{Class: provider.Retryable, Message: "500 " + planted, Err: cause},
		"another error": cause,
	} {
		g := guarded(t, config.Settings{}, func(_ context.Context, _ provider.Request, sink func(provider.Delta) error) error {
			if err := sink(provider.Delta{Kind: provider.Finish, ErrorMessage: "no: " + planted}); err != nil {
				return err
			}
			return err
		})
		var told string
		got := g.Stream(t.Context(), provider.Request{Model: mockModel}, func(d provider.Delta) error { told += d.ErrorMessage; return nil })
		if got == nil || strings.Contains(got.Error(), planted) || !strings.Contains(got.Error(), config.Redacted) {
			t.Errorf("%s: %v", name, got)
		}
		if told != "no: "+config.Redacted {
			t.Errorf("%s: the delta says %q", name, told)
		}
		if !errors.Is(got, cause) {
			t.Errorf("%s: the cause is gone", name)
		}
	}
	g := guarded(t, config.Settings{}, nil)
	var log strings.Builder
	if _, err := (cleanWriter{&log, g.catalogue}).Write([]byte("key " + planted + "\n")); err != nil || log.String() != "key "+config.Redacted+"\n" {
		t.Errorf("the log has %q, %v", log.String(), err)
	}
}

// TestExtensionsSeeHeadersWithoutKeys shows them, and sends what they left
// alone as it was.
func TestExtensionsSeeHeadersWithoutKeys(t *testing.T) {
	var sent, before, after map[string]string
	g := guarded(t, config.Settings{}, func(ctx context.Context, req provider.Request, _ func(provider.Delta) error) error {
		sent = req.Hooks.BeforeHeaders(ctx, map[string]string{"X-Team": planted, "X-Gone": planted, "X-Other": "plain", "X-Set": planted})
		req.Hooks.AfterResponse(ctx, 200, map[string]string{"x-echo": "you sent " + planted})
		return nil
	})
	hooks := provider.Hooks{
		BeforeHeaders: func(_ context.Context, headers map[string]string) map[string]string {
			before = maps.Clone(headers)
			delete(headers, "X-Gone")
			headers["X-Set"], headers["X-New"] = "mine", "new"
			return headers
		},
		AfterResponse: func(_ context.Context, _ int, headers map[string]string) { after = headers },
	}
	if err := g.Stream(t.Context(), provider.Request{Model: mockModel, Hooks: hooks}, nothing); err != nil {
		t.Fatal(err)
	}
	hidden := config.Redacted
	if want := map[string]string{"X-Team": hidden, "X-Gone": hidden, "X-Other": "plain", "X-Set": hidden}; !maps.Equal(before, want) {
		t.Errorf("they see %v", before)
	}
	if want := map[string]string{"X-Team": planted, "X-Other": "plain", "X-Set": "mine", "X-New": "new"}; !maps.Equal(sent, want) {
		t.Errorf("sent is %v", sent)
	}
	if want := map[string]string{"x-echo": "you sent " + hidden}; !maps.Equal(after, want) {
		t.Errorf("of the response they see %v", after)
	}
}

func TestTheSinksErrorComesBackAsItIs(t *testing.T) {
	stop := errors.New("stop")
	g := guarded(t, config.Settings{}, func(_ context.Context, _ provider.Request, sink func(provider.Delta) error) error {
		return sink(provider.Delta{Kind: provider.Begin})
	})
	if err := g.Stream(t.Context(), provider.Request{Model: mockModel}, func(provider.Delta) error { return stop }); err != stop {
		t.Error(err)
	}
}

// TestAKeyThatIsNoLongerGood has the command that prints it run again, and
// only then.
func TestAKeyThatIsNoLongerGood(t *testing.T) {
	class := provider.Retryable
	g := guarded(t, config.Settings{}, func(context.Context, provider.Request, func(provider.Delta) error) error {
		return &provider.Error{Class: class, Message: "no"}
	})
	runs := func() int {
		if _, err := g.catalogue.Access(t.Context(), mockModel); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile("runs")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), "x")
	}
	_ = g.Stream(t.Context(), provider.Request{Model: mockModel}, nothing)
	if n := runs(); n != 1 {
		t.Errorf("after a passing failure the command ran %d times", n)
	}
	class = provider.Auth
	_ = g.Stream(t.Context(), provider.Request{Model: mockModel}, nothing)
	if n := runs(); n != 2 {
		t.Errorf("after a refused key the command ran %d times", n)
	}
}

func TestThinkingBudgetsReachTheRequest(t *testing.T) {
	var got int64
	g := guarded(t, config.Settings{ThinkingBudgets: map[message.ThinkingLevel]int{message.ThinkingLow: 3000}},
		func(_ context.Context, req provider.Request, _ func(provider.Delta) error) error {
			got = req.ThinkingBudget()
			return nil
		})
	if err := g.Stream(t.Context(), provider.Request{Model: mockModel, Thinking: message.ThinkingLow}, nothing); err != nil || got != 3000 {
		t.Errorf("%d, %v", got, err)
	}
}

func TestBlockedImagesStayHere(t *testing.T) {
	image := message.ImageBlock("aGk=", "image/png")
	sent := []message.Message{
		message.NewUser("look", []message.Block{image}, 1),
		&message.ToolResult{ToolCallID: "c", Content: []message.Block{message.TextBlock("read"), image}},
		message.NewUser("text", nil, 2),
	}
	var got []message.Message
	g := guarded(t, config.Settings{Images: config.ImageSettings{BlockImages: true}},
		func(_ context.Context, req provider.Request, _ func(provider.Delta) error) error {
			got = req.Messages
			return nil
		})
	if err := g.Stream(t.Context(), provider.Request{Model: mockModel, Messages: sent}, nothing); err != nil {
		t.Fatal(err)
	}
	data, err := message.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(data); strings.Contains(text, "aGk=") || strings.Count(text, "images.blockImages") != 2 || !strings.Contains(text, "look") {
		t.Errorf("the model is sent %s", text)
	}
	if kept := sent[0].(*message.User).Content.Blocks(); !slices.Contains(kindsOf(kept), message.BlockImage) {
		t.Error("the conversation itself lost its image")
	}
}

func kindsOf(blocks []message.Block) (kinds []message.BlockType) {
	for _, b := range blocks {
		kinds = append(kinds, b.Type)
	}
	return kinds
}

func TestARequestHasItsTime(t *testing.T) {
	hangs := func(ctx context.Context, _ provider.Request, _ func(provider.Delta) error) error {
		<-ctx.Done()
		return provider.Abort(ctx.Err())
	}
	g := guarded(t, config.Settings{Retry: config.RetrySettings{RequestTimeout: time.Minute}}, hangs)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := g.Stream(t.Context(), provider.Request{Model: mockModel}, nothing)
		if provider.ClassOf(err) != provider.Retryable || !strings.Contains(err.Error(), "timeout") || time.Since(began) != time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Stream(ctx, provider.Request{Model: mockModel}, nothing); provider.ClassOf(err) != provider.Aborted {
			t.Errorf("an abort became %v", err)
		}
	})
}

func TestWaitsThatTheUserDoesNotWant(t *testing.T) {
	for _, c := range []struct {
		allowed, asked time.Duration
		want           provider.Class
	}{
		{time.Minute, time.Minute, provider.Retryable},
		{time.Minute, time.Minute + time.Second, provider.Quota},
		{0, 24 * time.Hour, provider.Retryable},
	} {
		g := guarded(t, config.Settings{Retry: config.RetrySettings{MaxServiceDelay: c.allowed}},
			func(context.Context, provider.Request, func(provider.Delta) error) error {
				return &provider.Error{Class: provider.Retryable, Message: "429 busy", RetryAfter: c.asked}
			})
		err := g.Stream(t.Context(), provider.Request{Model: mockModel}, nothing)
		if got := provider.ClassOf(err); got != c.want || (got == provider.Quota) != strings.Contains(err.Error(), "maxRetryDelayMs") {
			t.Errorf("%s of %s: %s, %v", c.asked, c.allowed, got, err)
		}
	}
}

func TestTheProxyOfTheSettings(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked = r.URL.String() }))
	defer proxy.Close()
	request := func(address, target string) error {
		client := http.Client{Transport: proxied(address)}
		defer client.CloseIdleConnections()
		response, err := client.Get(target)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	if err := request(proxy.URL, "http://models.example/v1"); err != nil || asked != "http://models.example/v1" {
		t.Errorf("the proxy was asked for %q, %v", asked, err)
	}
	asked = ""
	t.Setenv("NO_PROXY", "models.example")
	if err := request(proxy.URL, "http://models.example.invalid/"); err != nil || asked == "" {
		t.Errorf("another host went past the proxy: %v", err)
	}
	for _, broken := range []string{"proxy:8080", "http://user:secret@host:port", "no address"} {
		err := request(broken, "http://models.example/")
		if err == nil || !strings.Contains(err.Error(), "httpProxy") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", broken, err)
		}
	}
}
