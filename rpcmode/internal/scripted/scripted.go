// Package scripted is a model that does what the prompt orders, and a session
// around it, for the tests of rpcmode and of its client.
//
// It imports core packages only.
package scripted

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/tool"
)

// Model answers by the orders in the last message, one a line: SAY text,
// THINK text, CALL tool arguments, WAIT duration, BURST number, HANG, FAIL
// reason. A tool result is answered with SAY done.
type Model struct {
	mu       sync.Mutex
	requests []provider.Request
}

// Requests lists what the model was asked so far.
func (m *Model) Requests() []provider.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]provider.Request(nil), m.requests...)
}

// Stream implements provider.Provider.
func (m *Model) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	m.mu.Lock()
	m.requests = append(m.requests, req)
	m.mu.Unlock()
	last := req.Messages[len(req.Messages)-1]
	orders := message.TextOf(last)
	if last.Role() == message.RoleToolResult {
		orders = "SAY done"
	}
	a := answer{reason: message.StopStop}
	a.add(provider.Delta{Kind: provider.Begin, Usage: &message.Usage{}})
	for _, order := range strings.Split(orders, "\n") {
		verb, rest, _ := strings.Cut(order, " ")
		switch verb {
		case "SAY":
			a.block(provider.TextStart, provider.TextDelta, provider.TextEnd, provider.Delta{Text: rest})
		case "THINK":
			a.block(provider.ThinkingStart, provider.ThinkingDelta, provider.ThinkingEnd, provider.Delta{Text: rest})
		case "CALL":
			name, arguments, _ := strings.Cut(rest, " ")
			a.block(provider.ToolCallStart, provider.ToolCallDelta, provider.ToolCallEnd,
				provider.Delta{ID: fmt.Sprintf("call_%d", a.blocks), Name: name, Text: arguments})
			a.reason = message.StopToolUse
		case "WAIT":
			if err := a.wait(ctx, rest, sink); err != nil {
				return err
			}
		case "BURST":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return provider.Errorf(provider.Invalid, "%w", err)
			}
			a.burst(n)
		case "HANG":
			<-ctx.Done()
			return provider.Abort(ctx.Err())
		case "FAIL":
			return provider.Errorf(provider.Invalid, "%s", rest)
		}
	}
	a.add(provider.Delta{Kind: provider.Finish, StopReason: a.reason, RawStopReason: string(a.reason), Usage: &message.Usage{}})
	return a.flush(sink)
}

type answer struct {
	deltas []provider.Delta
	blocks int
	reason message.StopReason
}

// burst is a text in many deltas.
func (a *answer) burst(n int) {
	a.add(provider.Delta{Kind: provider.TextStart, Index: a.blocks})
	for range n {
		a.add(provider.Delta{Kind: provider.TextDelta, Index: a.blocks, Text: "word "})
	}
	a.add(provider.Delta{Kind: provider.TextEnd, Index: a.blocks})
	a.blocks++
}

// wait sends what there is so far, and waits.
func (a *answer) wait(ctx context.Context, duration string, sink func(provider.Delta) error) error {
	d, err := time.ParseDuration(duration)
	if err != nil {
		return provider.Errorf(provider.Invalid, "%w", err)
	}
	if err := a.flush(sink); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return provider.Abort(ctx.Err())
	}
}

func (a *answer) flush(sink func(provider.Delta) error) error {
	for _, d := range a.deltas {
		if err := sink(d); err != nil {
			return err
		}
	}
	a.deltas = nil
	return nil
}

func (a *answer) add(d provider.Delta) { a.deltas = append(a.deltas, d) }

func (a *answer) block(start, delta, end provider.DeltaKind, d provider.Delta) {
	d.Index = a.blocks
	a.blocks++
	text := d.Text
	d.Kind, d.Text = start, ""
	a.add(d)
	a.add(provider.Delta{Kind: delta, Index: d.Index, Text: text})
	d.Kind = end
	a.add(d)
}

// Config makes a session with the model in memory, two models to choose from
// and no tools. Its working folder is dir.
func Config(dir string, m *Model) session.Config {
	reasoning := message.Model{
		ID: "m1", Name: "M 1", API: "scripted", Provider: "test", Reasoning: true,
		Input: []string{"text", "image"}, ContextWindow: 200000, MaxTokens: 16000,
	}
	plain := message.Model{ID: "m2", Name: "M 2", API: "scripted", Provider: "test", Input: []string{"text"}, ContextWindow: 1000, MaxTokens: 100}
	return session.Config{
		Log: store.InMemory(store.CreateOptions{Cwd: dir, ID: "s1"}), Cwd: dir, Mode: "rpc",
		Models: Models{Provider: m, List: []message.Model{reasoning, plain}}, Model: &reasoning, Thinking: message.ThinkingMedium,
		Hooks: &hook.Chain{}, Resources: nothing{},
		Folder: session.Folder{Settings: session.Settings{
			SteeringMode: session.OneAtATime, FollowUpMode: session.OneAtATime, InterruptMode: session.Wait,
			Retry: session.Retry{Enabled: true, MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute},
		}},
	}
}

// Models are all there are.
type Models struct {
	Provider provider.Provider
	List     []message.Model
}

// Available implements session.Models.
func (m Models) Available() []message.Model { return m.List }

// Find implements session.Models.
func (m Models) Find(provider, id string) (message.Model, bool) {
	for _, each := range m.List {
		if each.Provider == provider && each.ID == id {
			return each, true
		}
	}
	return message.Model{}, false
}

// Connect implements session.Models.
func (m Models) Connect(context.Context, message.Model) (session.Connection, error) {
	return session.Connection{Provider: m.Provider}, nil
}

// nothing is no templates, no skills, no rules, no context files.
type nothing struct{}

func (nothing) Load(context.Context, string, event.ResourcesDiscoverResult) session.Resources {
	return nothing{}
}
func (nothing) Expand(text string) string       { return text }
func (nothing) Commands() []session.Command     { return nil }
func (nothing) SystemPrompt([]tool.Spec) string { return "" }
func (nothing) Rules() *rule.Book               { return nil }
