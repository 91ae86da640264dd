package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// AbortedMessage is the error message of an answer that was aborted.
const AbortedMessage = "The operation was aborted"

// answer makes one model call and returns the message it gave, which is part
// of the conversation then, however it ended.
func (r *run) answer() *message.Assistant {
	a := newAnswer(r)
	err := r.ctx.Err()
	if err == nil {
		err = a.stream()
	}
	if a.stopped != nil {
		err = a.stopped
	}
	if err != nil {
		a.fail(err)
	}
	if !a.started {
		a.start(a.message.StopReason)
	}
	last, ok := r.end(a.snapshot()).(*message.Assistant)
	if !ok {
		panic("agent: the sink replaced an assistant message by another kind")
	}
	r.result.Last, r.result.Err = last, err
	return last
}

// Complete makes one model call outside of a run, for summaries and the like,
// and gives the whole answer. A failed call is an error, and the answer is nil
// then; an answer whose stop reason is an error, such as a refusal, is not.
func Complete(ctx context.Context, call Call, now func() time.Time) (*message.Assistant, error) {
	silent := Config{
		Next: func(context.Context) (Call, error) { return call, nil },
		Emit: func(event.Event) {},
		Now:  now,
	}
	a := newAnswer(&run{Config: silent, ctx: ctx})
	if err := a.stream(); err != nil {
		return nil, err
	}
	return a.snapshot(), nil
}

// answer accumulates the deltas of one model call.
type answer struct {
	run      *run
	message  message.Assistant // Content is in blocks until snapshot
	blocks   []*block
	price    message.Price
	started  bool
	newUsage bool  // the usage changed since the last update told it
	stopped  error // what Watch ended it with; nil: it did not
}

type block struct {
	message.Block
	text strings.Builder // text, thinking, or arguments so far
}

func newAnswer(r *run) *answer {
	a := &answer{run: r, message: message.Assistant{Timestamp: event.Milliseconds(r.Now())}}
	if r.Model != nil {
		a.from(r.Model())
	}
	return a
}

func (a *answer) from(m message.Model) {
	a.message.API, a.message.Provider, a.message.Model = m.API, m.Provider, m.ID
	a.price = m.Cost
}

func (a *answer) stream() error {
	call, err := a.run.Next(a.run.ctx)
	if err != nil {
		return err
	}
	a.from(call.Model)
	if err := call.Stream(a.run.ctx, a.take); err != nil {
		return err
	}
	if a.message.StopReason == "" {
		return &provider.Error{Class: provider.Retryable, Message: "the answer ended without saying why"}
	}
	return nil
}

// fail makes the message one that failed. What came before stays in it.
func (a *answer) fail(err error) {
	a.message.StopReason = message.StopError
	a.message.ErrorMessage = err.Error()
	if a.stopped != nil {
		a.message.StopReason = message.StopAborted
	}
	if a.run.ctx.Err() != nil || provider.ClassOf(err) == provider.Aborted || errors.Is(err, context.Canceled) {
		a.message.StopReason, a.message.ErrorMessage = message.StopAborted, AbortedMessage
	}
	a.message.RawStopReason = ""
}

// take is the sink of the stream.
func (a *answer) take(d provider.Delta) error {
	if a.stopped != nil {
		return a.stopped
	}
	switch d.Kind {
	case provider.Begin:
		a.message.ResponseID = d.ResponseID
		a.setUsage(d.Usage)
	case provider.UsageSoFar:
		a.setUsage(d.Usage)
	case provider.Finish:
		a.setUsage(d.Usage)
		a.message.StopReason, a.message.RawStopReason = d.StopReason, d.RawStopReason
		a.message.ErrorMessage = d.ErrorMessage
	default:
		return a.takeBlock(d)
	}
	return nil
}

func (a *answer) takeBlock(d provider.Delta) error {
	step, ok := steps[d.Kind]
	if !ok {
		return fmt.Errorf("the adapter sent a delta of unknown kind %d", d.Kind)
	}
	if step.begins {
		if d.Index != len(a.blocks) {
			return fmt.Errorf("the adapter began block %d where %d was next", d.Index, len(a.blocks))
		}
		a.blocks = append(a.blocks, &block{Block: message.Block{Type: step.block, ID: d.ID, Name: d.Name}})
	}
	if d.Index < 0 || d.Index >= len(a.blocks) || a.blocks[d.Index].Type != step.block {
		return fmt.Errorf("the adapter sent a delta for block %d, which is none of type %s", d.Index, step.block)
	}
	b := a.blocks[d.Index]
	if !a.started {
		a.start(message.StopPending)
	}
	update := event.AssistantUpdate{Type: step.update, ContentIndex: d.Index}
	switch {
	case step.begins && step.block == message.BlockToolCall:
		update.ID, update.ToolName = d.ID, d.Name
	case step.begins:
	case step.ends:
		b.end(d)
		b.describeEnd(&update)
	default:
		b.text.WriteString(d.Text)
		update.Delta = &d.Text
	}
	return a.emit(update)
}

// steps says for each delta of a block what it does and what clients see.
var steps = map[provider.DeltaKind]struct {
	block        message.BlockType
	update       event.UpdateType
	begins, ends bool
}{
	provider.TextStart:     {block: message.BlockText, update: event.TextStart, begins: true},
	provider.TextDelta:     {block: message.BlockText, update: event.TextDelta},
	provider.TextEnd:       {block: message.BlockText, update: event.TextEnd, ends: true},
	provider.ThinkingStart: {block: message.BlockThinking, update: event.ThinkingStart, begins: true},
	provider.ThinkingDelta: {block: message.BlockThinking, update: event.ThinkingDelta},
	provider.ThinkingEnd:   {block: message.BlockThinking, update: event.ThinkingEnd, ends: true},
	provider.ToolCallStart: {block: message.BlockToolCall, update: event.ToolCallStart, begins: true},
	provider.ToolCallDelta: {block: message.BlockToolCall, update: event.ToolCallDelta},
	provider.ToolCallEnd:   {block: message.BlockToolCall, update: event.ToolCallEnd, ends: true},
}

func (a *answer) emit(update event.AssistantUpdate) error {
	e := &event.MessageUpdate{Update: update, Partial: a.snapshot}
	if a.newUsage {
		usage := a.message.Usage
		e.Usage, a.newUsage = &usage, false
	}
	a.run.Emit(e)
	if a.run.Watch != nil {
		a.stopped = a.run.Watch(e)
	}
	return a.stopped
}

func (a *answer) start(reason message.StopReason) {
	a.started = true
	m := a.message
	m.Content, m.StopReason = nil, reason
	a.run.Emit(&event.MessageStart{Message: &m})
}

func (a *answer) setUsage(u *message.Usage) {
	if u == nil {
		return
	}
	usage := *u
	usage.Cost = a.price.Of(usage)
	a.newUsage = a.newUsage || usage.Input != a.message.Usage.Input || usage.Output != a.message.Usage.Output ||
		usage.CacheRead != a.message.Usage.CacheRead || usage.CacheWrite != a.message.Usage.CacheWrite
	a.message.Usage = usage
}

// snapshot gives the message as far as it has come, as a copy.
func (a *answer) snapshot() *message.Assistant {
	m := a.message
	if m.StopReason == "" {
		m.StopReason = message.StopPending
	}
	m.Content = make([]message.Block, len(a.blocks))
	for i, b := range a.blocks {
		m.Content[i] = b.sofar()
	}
	return &m
}

func (b *block) end(d provider.Delta) {
	switch b.Type {
	case message.BlockText:
		b.TextSignature = d.Signature
	case message.BlockThinking:
		b.ThinkingSignature, b.Redacted = d.Signature, d.Redacted
	case message.BlockToolCall:
		b.ThoughtSignature = d.Signature
		if d.ID != "" {
			b.ID = d.ID
		}
		if d.Name != "" {
			b.Name = d.Name
		}
	}
}

func (b *block) describeEnd(update *event.AssistantUpdate) {
	if b.Type == message.BlockToolCall {
		call := b.sofar()
		update.ToolCall = &call
		return
	}
	text := b.text.String()
	update.Content = &text
}

func (b *block) sofar() message.Block {
	out := b.Block
	switch b.Type {
	case message.BlockText:
		out.Text = b.text.String()
	case message.BlockThinking:
		out.Thinking = b.text.String()
	case message.BlockToolCall:
		out.Arguments, out.Unparsed = arguments(b.text.String())
	}
	return out
}

// arguments takes the arguments of a tool call apart into what is stored and
// what is not: JSON is stored as the model wrote it. Of anything else, an empty
// object is stored, since services and clients expect one, and the text itself
// is only kept until the call fails because of it and shows it. No text at all
// stands for an empty object. What is not UTF-8 is replaced, as in any text:
// nobody could read a line or a request with it.
func arguments(text string) (stored json.RawMessage, unparsed string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}"), ""
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), ""
	}
	return json.RawMessage("{}"), text
}
