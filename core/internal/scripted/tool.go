package scripted

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/tool"
)

// Tool is a tool that does what a test says.
type Tool struct {
	Name       string
	Parameters string // JSON Schema; empty: any object
	Sequential bool
	Hidden     bool
	Target     func(arguments json.RawMessage) string
	// Do is Run of the tool; nil: the result is the text "done".
	Do func(ctx context.Context, call tool.Call, update func(tool.Result)) (tool.Result, error)
}

// Spec implements tool.Tool.
func (t *Tool) Spec() tool.Spec {
	parameters := t.Parameters
	if parameters == "" {
		parameters = `{"type":"object"}`
	}
	return tool.Spec{
		Name: t.Name, Description: "does what a test says", Parameters: json.RawMessage(parameters),
		Sequential: t.Sequential, Hidden: t.Hidden, Target: t.Target,
	}
}

// Run implements tool.Tool.
func (t *Tool) Run(ctx context.Context, call tool.Call, update func(tool.Result)) (tool.Result, error) {
	if t.Do == nil {
		return tool.TextResult("done"), nil
	}
	return t.Do(ctx, call, update)
}

// Listener is an extension that does what a test says.
type Listener struct {
	Name  string       // its path
	Kinds []event.Kind // what it wants; nil: everything
	Do    func(ctx context.Context, e event.Event) (any, error)
}

// Path implements hook.Listener.
func (l *Listener) Path() string { return l.Name }

// Wants implements hook.Listener.
func (l *Listener) Wants(kind event.Kind) bool {
	return l.Kinds == nil || slices.Contains(l.Kinds, kind)
}

// Handle implements hook.Listener.
func (l *Listener) Handle(ctx context.Context, e event.Event) (any, error) { return l.Do(ctx, e) }

// On makes an extension with one handler for events of one type.
func On[E event.Event](kind event.Kind, do func(ctx context.Context, e E) (any, error)) *Listener {
	return &Listener{Name: "ext", Kinds: []event.Kind{kind}, Do: func(ctx context.Context, e event.Event) (any, error) {
		return do(ctx, e.(E))
	}}
}
