// Package scripted has a model, tools and extensions that do what a test tells
// them, and a recorder that writes down events in one line each.
//
// It is for tests in core only. It imports core/event, core/message,
// core/provider and core/tool, and must not import what it helps to test.
package scripted

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// Model is a model service that gives the answers of its script, one a call,
// and then the text "ok" for ever. Its methods may be called from any
// goroutine.
type Model struct {
	mu       sync.Mutex
	script   []Answer
	requests []provider.Request
}

// Answer is one answer of a script. The zero value is one without content.
type Answer struct {
	Parts  []Part
	Stop   message.StopReason // empty: toolUse where a part is a call, else stop
	Tokens int64              // size that the service reports; 0: it reports 10
	Err    error              // how the answer ends, instead of well; parts come before it
	Delay  time.Duration      // before the first byte
	Pace   time.Duration      // before each delta
	Hang   bool               // after the parts nothing more comes
	// Refusal is what the service says with the stop reason error.
	Refusal string
	// First is called before anything is sent; nil: nothing is.
	First func(ctx context.Context, req provider.Request)
}

// Part is one block of an answer.
type Part struct {
	kind      message.BlockType
	deltas    []string
	id, name  string
	signature string
}

// Say is a block of text in as many deltas as there are pieces.
func Say(pieces ...string) Part { return Part{kind: message.BlockText, deltas: pieces} }

// Think is a block of thinking.
func Think(pieces ...string) Part {
	return Part{kind: message.BlockThinking, deltas: pieces, signature: "signed"}
}

// Call is a tool call, with its arguments in pieces.
func Call(id, name string, arguments ...string) Part {
	return Part{kind: message.BlockToolCall, id: id, name: name, deltas: arguments}
}

// Text is an answer of one text.
func Text(text string) Answer { return Answer{Parts: []Part{Say(text)}} }

// Calls is an answer that calls tools.
func Calls(parts ...Part) Answer { return Answer{Parts: parts} }

// Fail is an answer that fails before its first byte.
func Fail(class provider.Class, text string) Answer {
	return Answer{Err: &provider.Error{Class: class, Message: text}}
}

// NewModel makes a model that gives the answers.
func NewModel(script ...Answer) *Model { return &Model{script: script} }

// Then adds answers to the script.
func (m *Model) Then(answers ...Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = append(m.script, answers...)
}

// Requests lists the requests so far.
func (m *Model) Requests() []provider.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Stream implements provider.Provider.
func (m *Model) Stream(ctx context.Context, req provider.Request, sink func(provider.Delta) error) error {
	a := m.next(req)
	if a.First != nil {
		a.First(ctx, req)
	}
	if err := wait(ctx, a.Delay); err != nil {
		return err
	}
	if a.Err != nil && len(a.Parts) == 0 {
		return a.Err
	}
	for _, d := range a.deltas() {
		if err := wait(ctx, a.Pace); err != nil {
			return err
		}
		if err := sink(d); err != nil {
			return err
		}
	}
	switch {
	case a.Hang:
		<-ctx.Done()
		return provider.Abort(ctx.Err())
	case a.Err != nil:
		return a.Err
	}
	return sink(a.finish())
}

func (m *Model) next(req provider.Request) Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, req)
	if len(m.script) == 0 {
		return Text("ok")
	}
	a := m.script[0]
	m.script = m.script[1:]
	return a
}

func wait(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return provider.Abort(ctx.Err())
	}
	return nil
}

// kinds are the deltas that begin, fill and end a block.
var kinds = map[message.BlockType][3]provider.DeltaKind{
	message.BlockText:     {provider.TextStart, provider.TextDelta, provider.TextEnd},
	message.BlockThinking: {provider.ThinkingStart, provider.ThinkingDelta, provider.ThinkingEnd},
	message.BlockToolCall: {provider.ToolCallStart, provider.ToolCallDelta, provider.ToolCallEnd},
}

func (a Answer) deltas() []provider.Delta {
	list := []provider.Delta{{Kind: provider.Begin, ResponseID: "response"}}
	for i, p := range a.Parts {
		kind := kinds[p.kind]
		list = append(list, provider.Delta{Kind: kind[0], Index: i, ID: p.id, Name: p.name})
		for _, text := range p.deltas {
			list = append(list, provider.Delta{Kind: kind[1], Index: i, Text: text})
		}
		if (a.Err != nil || a.Hang) && i == len(a.Parts)-1 {
			break // cut off within the block
		}
		list = append(list, provider.Delta{Kind: kind[2], Index: i, Signature: p.signature})
	}
	return list
}

func (a Answer) finish() provider.Delta {
	stop := a.Stop
	if stop == "" {
		stop = message.StopStop
		if slices.ContainsFunc(a.Parts, func(p Part) bool { return p.kind == message.BlockToolCall }) {
			stop = message.StopToolUse
		}
	}
	tokens := a.Tokens
	if tokens == 0 {
		tokens = 10
	}
	usage := &message.Usage{Input: tokens - 1, Output: 1, TotalTokens: tokens}
	return provider.Delta{Kind: provider.Finish, StopReason: stop, RawStopReason: "raw_" + string(stop), Usage: usage, ErrorMessage: a.Refusal}
}
