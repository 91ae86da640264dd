package providertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/core/provider"
)

func (a Adapter) hooks(t *testing.T) {
	s := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Trace", "t1")
		Stream(a.Whole)(w, r)
	})
	req := a.request(s.URL)
	req.Headers = map[string]string{"X-Team": "blue", "X-Drop": "me", "Authorization": "Bearer " + Key}
	var order []string
	req.Hooks = provider.Hooks{
		BeforeHeaders: func(_ context.Context, headers map[string]string) map[string]string {
			order = append(order, "headers")
			if headers["X-Team"] != "blue" || strings.Contains(fmt.Sprint(headers), Key) {
				t.Errorf("the hook is shown %v", headers)
			}
			headers["X-Team"], headers["X-Drop"], headers["User-Agent"] = "red", "", "tester"
			return headers
		},
		BeforeRequest: func(_ context.Context, payload json.RawMessage) json.RawMessage {
			order = append(order, "request")
			var body map[string]any
			if err := json.Unmarshal(payload, &body); err != nil || len(body) == 0 {
				t.Errorf("the payload %s: %v", payload, err)
			}
			return json.RawMessage(`{"mine":true}`)
		},
		AfterResponse: func(_ context.Context, status int, headers map[string]string) {
			order = append(order, fmt.Sprint(status, " ", headers["x-trace"]))
		},
	}
	if _, err := Collect(t.Context(), a.New(provider.Options{Transport: Transport(t)}), req); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ", "); got != "headers, request, 200 t1" {
		t.Errorf("hooks ran as %s", got)
	}
	got := s.Requests()[0]
	if got.Body != `{"mine":true}` || got.Header.Get("X-Team") != "red" || got.Header.Values("X-Drop") != nil || got.Header.Get("User-Agent") != "tester" {
		t.Errorf("sent %+v", got)
	}
	if got.Header.Get("Authorization") != "Bearer "+Key {
		t.Errorf("a header that is kept from the hook did not arrive: %v", got.Header)
	}
	req.Hooks.BeforeRequest = func(context.Context, json.RawMessage) json.RawMessage { return json.RawMessage("nonsense") }
	if _, err := Collect(t.Context(), a.New(provider.Options{Transport: Transport(t)}), req); provider.ClassOf(err) != provider.Invalid || len(s.Requests()) != 1 {
		t.Errorf("a payload that is no JSON: error %v, %d requests", err, len(s.Requests()))
	}
}

// headers of the environment's other programs have no say.
func (a Adapter) headers(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "GEMINI_API_KEY"} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Odd: from-the-environment")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Odd: from-the-environment")
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(name, "http://127.0.0.1:1/elsewhere")
	}
	s := Serve(t, Stream(a.Whole))
	if _, err := Collect(t.Context(), a.New(provider.Options{Transport: Transport(t)}), a.request(s.URL)); err != nil {
		t.Fatal(err)
	}
	sent := fmt.Sprint(s.Requests()[0].Header)
	if strings.Contains(sent, "from-the-environment") || !strings.Contains(sent, Key) {
		t.Errorf("sent %s", sent)
	}
}

// secrecy: a service that repeats the key, and headers, in its error.
func (a Adapter) secrecy(t *testing.T) {
	secret := "hidden-0123456789"
	s := Serve(t, Fail(401, a.Failure("authentication_error", "wrong: "+Key+" and "+secret)))
	req := a.request(s.URL)
	req.Headers = map[string]string{"Proxy-Authorization": "Basic " + secret}
	_, err := Collect(t.Context(), a.New(provider.Options{Transport: Transport(t)}), req)
	if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, Key) || strings.Contains(text, secret) || !strings.Contains(text, "redacted") {
		t.Errorf("error %s", text)
	}
	req.Model.BaseURL = "http://user:" + secret + "@127.0.0.1:1" + a.Base
	_, err = Collect(t.Context(), a.New(provider.Options{Transport: Transport(t)}), req)
	if text := fmt.Sprint(err); strings.Contains(text, secret) || provider.ClassOf(err) != provider.Retryable {
		t.Errorf("error %s", text)
	}
}

func (a Adapter) redirect(t *testing.T) {
	other := Serve(t, Stream(a.Whole))
	s := Serve(t, Fail(307, "", "Location", other.URL+"/x"))
	_, err := Collect(t.Context(), a.New(provider.Options{Transport: Transport(t)}), a.request(s.URL))
	if provider.ClassOf(err) != provider.Invalid || !strings.Contains(fmt.Sprint(err), other.URL) || len(other.Requests()) != 0 {
		t.Errorf("error %v, %d requests went on", err, len(other.Requests()))
	}
}

func (a Adapter) unreachable(t *testing.T) {
	p := a.New(provider.Options{Transport: Transport(t)})
	_, err := Collect(t.Context(), p, a.request("http://127.0.0.1:1"))
	if provider.ClassOf(err) != provider.Retryable || !strings.Contains(fmt.Sprint(err), "127.0.0.1:1") {
		t.Errorf("error %v of class %q", err, provider.ClassOf(err))
	}
	_, err = Collect(t.Context(), p, a.request("not a url\x00"))
	if provider.ClassOf(err) != provider.Invalid {
		t.Errorf("a broken base URL: error %v of class %q", err, provider.ClassOf(err))
	}
}

func (a Adapter) keepAlive(t *testing.T) {
	var from sync.Map
	s := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		from.Store(r.RemoteAddr, true)
		Stream(a.Whole)(w, r)
		w.(http.Flusher).Flush() // the end of the body comes behind the last event
	})
	p := a.New(provider.Options{Transport: Transport(t)})
	for range 3 {
		if _, err := Collect(t.Context(), p, a.request(s.URL)); err != nil {
			t.Fatal(err)
		}
	}
	connections := 0
	from.Range(func(any, any) bool { connections++; return true })
	if connections != 1 {
		t.Errorf("three requests took %d connections", connections)
	}
}
