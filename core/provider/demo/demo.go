// Package demo is a model service inside the process: offline, deterministic,
// and honest about being no model. Without a script it makes an answer to any
// prompt, to show what a session looks like; with one it plays exact turns,
// for tests and examples.
//
// It imports the standard library, core/message and core/provider only.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// API is the name that models have for this service.
const API = "demo"

// ScriptVariable names the file that New takes its script from.
const ScriptVariable = "PI_DEMO_SCRIPT"

// Provider implements provider.Provider. The requests of one provider take
// the turns of its script in the order in which they come.
type Provider struct {
	load func() (*Script, error) // nil script: improvise

	mu       sync.Mutex
	requests int
}

// New makes a provider that plays the script in the file that PI_DEMO_SCRIPT
// names, or improvises where it names none. The file is read at the first
// request; one that is not a script fails every request, saying why.
func New() *Provider {
	return &Provider{load: sync.OnceValues(func() (*Script, error) {
		path := os.Getenv(ScriptVariable)
		if path == "" {
			return nil, nil
		}
		script, err := Load(path)
		if err != nil {
			return nil, err
		}
		return &script, nil
	})}
}

// Play makes a provider that plays a script. A script that is not valid is an
// error.
func Play(script Script) (*Provider, error) {
	if err := script.Validate(); err != nil {
		return nil, err
	}
	return &Provider{load: func() (*Script, error) { return &script, nil }}, nil
}

// pace is the time between two words of an improvised answer.
const pace = 10 * time.Millisecond

// Stream implements provider.Provider. Hooks are called as with any service,
// but what they change changes nothing: there is nobody behind it.
func (p *Provider) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	script, err := p.load()
	if err != nil {
		return provider.Errorf(provider.Invalid, "the script of the demo provider: %w", err)
	}
	n := p.count()
	turn, between := improvise(req), pace
	if script != nil {
		between = time.Duration(script.Pace)
		if turn, err = script.turn(n); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return provider.Abort(ctx.Err())
	}
	if err := callHooks(ctx, req, turn); err != nil {
		return err
	}
	player := &player{ctx: ctx, sink: sink, pace: between, request: n, usage: estimate(req)}
	return player.play(turn)
}

func (p *Provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	return p.requests
}

func callHooks(ctx context.Context, req provider.Request, turn Turn) error {
	if hook := req.Hooks.BeforeHeaders; hook != nil {
		hook(ctx, map[string]string{})
	}
	if hook := req.Hooks.BeforeRequest; hook != nil {
		payload, err := message.Marshal(map[string]any{
			"model":    req.Model.ID,
			"system":   req.System,
			"messages": message.List(req.Messages),
			"tools":    toolNames(req.Tools),
		})
		if err != nil {
			return fmt.Errorf("the request to the demo provider: %w", err)
		}
		hook(ctx, json.RawMessage(payload))
	}
	if hook := req.Hooks.AfterResponse; hook != nil {
		hook(ctx, turn.status(), map[string]string{"content-type": "text/event-stream"})
	}
	return nil
}

func toolNames(tools []provider.Tool) []string {
	names := make([]string, 0, len(tools))
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// estimate counts four bytes of the conversation as a token.
func estimate(req provider.Request) message.Usage {
	bytes := len(req.System)
	for _, t := range req.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, m := range req.Messages {
		bytes += len(message.TextOf(m))
	}
	tokens := int64(bytes / 4)
	return message.Usage{Input: tokens, TotalTokens: tokens}
}
