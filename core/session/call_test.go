package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/internal/scripted"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/session"
)

// hooked is a service that asks the hooks of a request like an adapter does.
type hooked struct {
	model *scripted.Model
	sent  []string
}

func (h *hooked) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	headers, payload := map[string]string{"X-Mine": "1", "X-Other": "2"}, json.RawMessage(`{"n":1}`)
	if req.Hooks.BeforeHeaders != nil {
		headers = req.Hooks.BeforeHeaders(ctx, headers)
	}
	if req.Hooks.BeforeRequest != nil {
		payload = req.Hooks.BeforeRequest(ctx, payload)
	}
	if req.Hooks.AfterResponse != nil {
		req.Hooks.AfterResponse(ctx, 200, map[string]string{"request-id": "r"})
	}
	h.sent = append(h.sent, fmt.Sprint(headers, " ", string(payload), " ", req.Model.BaseURL, " ", req.Headers))
	return h.model.Stream(ctx, req, sink)
}

// connecting serves one model at an address of its own.
type connecting struct{ connection session.Connection }

func (connecting) Available() []message.Model { return []message.Model{thinker} }

func (connecting) Find(string, string) (message.Model, bool) { return thinker, true }

func (c connecting) Connect(context.Context, message.Model) (session.Connection, error) {
	return c.connection, nil
}

// Extensions see and change every request, also those for summaries.
func TestRequestHooks(t *testing.T) {
	var service *hooked
	at := func(c *session.Config) {
		service = &hooked{model: scripted.NewModel()}
		c.Models = connecting{session.Connection{Provider: service, BaseURL: "https://proxy", Headers: map[string]string{"X-Team": "a"}}}
	}
	t.Run("nobody wants to", func(t *testing.T) {
		r := newRig(t, nil, at)
		r.run("p")
		wantLines(t, service.sent, `map[X-Mine:1 X-Other:2] {"n":1} https://proxy map[X-Team:a]`)
		if m := service.model.Requests()[0]; m.Hooks.BeforeHeaders != nil || m.Hooks.BeforeRequest != nil || m.Hooks.AfterResponse != nil {
			t.Error("the adapter was given work for nobody")
		}
	})
	t.Run("somebody does", func(t *testing.T) {
		var told []string
		r := newRig(t, nil, at, tight, hooks(
			scripted.On(event.KindBeforeProviderHeaders, func(_ context.Context, e *event.BeforeProviderHeaders) (any, error) {
				return &event.BeforeProviderHeadersResult{Set: map[string]string{"X-New": "3"}, Delete: []string{"x-other"}}, nil
			}),
			scripted.On(event.KindBeforeProviderRequest, func(_ context.Context, e *event.BeforeProviderRequest) (any, error) {
				return &event.BeforeProviderRequestResult{Payload: event.Raw(strings.Replace(string(e.Payload), "1", "2", 1))}, nil
			}),
			scripted.On(event.KindAfterProviderResponse, func(_ context.Context, e *event.AfterProviderResponse) (any, error) {
				told = append(told, fmt.Sprint(e.Status, e.Headers))
				return nil, nil
			})))
		r.run("p")
		r.run("q")
		if _, err := r.compactNow(); err != nil {
			t.Fatal(err)
		}
		if len(service.sent) < 3 {
			t.Fatalf("there were %d requests", len(service.sent))
		}
		for i, sent := range service.sent {
			if sent != `map[X-Mine:1 X-New:3] {"n":2} https://proxy map[X-Team:a]` || told[i] != "200 map[request-id:r]" {
				t.Errorf("request %d was %s, and told as %s", i, sent, told[i])
			}
		}
	})
}

// What an extension has of a message is a message to the model too, unless it
// says otherwise; the session's own bookkeeping is not.
func TestWhatTheModelSees(t *testing.T) {
	r := newRig(t, nil, hooks([]hook.Listener{}...))
	r.SendMessage(note("from an extension"), session.SendOptions{})
	r.SendMessage(event.CustomMessage{CustomType: "hidden", Content: message.PlainContent("not shown"), Display: false}, session.SendOptions{})
	if _, err := r.AppendEntry("state", event.Raw(`"private"`)); err != nil {
		t.Fatal(err)
	}
	if err := r.SetName(t.Context(), "name"); err != nil {
		t.Fatal(err)
	}
	r.run("p")
	wantLines(t, r.sent(0), "user: from an extension", "user: not shown", "user: p")
}
