package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// player streams one turn.
type player struct {
	ctx     context.Context
	sink    func(provider.Delta) error
	pace    time.Duration
	request int
	usage   message.Usage

	begun bool
	next  int               // number of the next block
	open  message.BlockType // of the block that is open; empty: none is
	calls int
	fixed bool // the script said the usage
}

func (p *player) play(turn Turn) error {
	stop := Stop{}
	for _, step := range turn.Steps {
		if p.ctx.Err() != nil {
			return provider.Abort(p.ctx.Err())
		}
		if step.Stop != nil {
			stop = *step.Stop
			break
		}
		if err := p.step(step); err != nil {
			return err
		}
	}
	if err := p.begin(); err != nil {
		return err
	}
	return p.finish(stop)
}

func (p *player) step(step Step) error {
	if step.Error == nil {
		if err := p.begin(); err != nil {
			return err
		}
	}
	switch {
	case step.Thinking != nil:
		return p.words(message.BlockThinking, *step.Thinking)
	case step.Text != nil:
		return p.words(message.BlockText, *step.Text)
	case step.ToolCall != nil:
		return p.call(*step.ToolCall)
	case step.Delay != nil:
		return p.wait(time.Duration(*step.Delay))
	case step.Usage != nil:
		return p.tell(*step.Usage)
	case step.Error != nil:
		return step.Error.err()
	}
	<-p.ctx.Done() // waitForAbort
	return provider.Abort(p.ctx.Err())
}

func (p *player) begin() error {
	if p.begun {
		return nil
	}
	p.begun = true
	usage := p.usage
	return p.sink(provider.Delta{Kind: provider.Begin, ResponseID: fmt.Sprintf("demo_%d", p.request), Usage: &usage})
}

// starts and deltas and ends are the deltas of each type of block.
var (
	starts = map[message.BlockType]provider.DeltaKind{message.BlockText: provider.TextStart, message.BlockThinking: provider.ThinkingStart}
	deltas = map[message.BlockType]provider.DeltaKind{message.BlockText: provider.TextDelta, message.BlockThinking: provider.ThinkingDelta}
	ends   = map[message.BlockType]provider.DeltaKind{message.BlockText: provider.TextEnd, message.BlockThinking: provider.ThinkingEnd}
)

func (p *player) words(kind message.BlockType, text string) error {
	if p.open != kind {
		if err := p.close(); err != nil {
			return err
		}
		p.open = kind
		if err := p.sink(provider.Delta{Kind: starts[kind], Index: p.next}); err != nil {
			return err
		}
	}
	for _, word := range strings.SplitAfter(text, " ") {
		if word == "" {
			continue
		}
		if err := p.wait(p.pace); err != nil {
			return err
		}
		p.said()
		if err := p.sink(provider.Delta{Kind: deltas[kind], Index: p.next, Text: word}); err != nil {
			return err
		}
	}
	return nil
}

// said counts one more token, unless the script does.
func (p *player) said() {
	if !p.fixed {
		p.usage.Output++
		p.usage.TotalTokens++
	}
}

// signature stands for what a service would want back with its thinking.
const signature = "demo"

func (p *player) close() error {
	if p.open == "" {
		return nil
	}
	end := provider.Delta{Kind: ends[p.open], Index: p.next}
	if p.open == message.BlockThinking {
		end.Signature = signature
	}
	p.open = ""
	p.next++
	return p.sink(end)
}

// piece is how many bytes of the arguments of a call come at a time.
const piece = 12

func (p *player) call(c ToolCall) error {
	if err := p.close(); err != nil {
		return err
	}
	p.calls++
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d_%d", p.request, p.calls)
	}
	text := string(c.Arguments) + c.ArgumentsText
	if text == "" {
		text = "{}"
	}
	if err := p.sink(provider.Delta{Kind: provider.ToolCallStart, Index: p.next, ID: c.ID, Name: c.Name}); err != nil {
		return err
	}
	for text != "" {
		if err := p.wait(p.pace); err != nil {
			return err
		}
		n := cut(text, piece)
		p.said()
		if err := p.sink(provider.Delta{Kind: provider.ToolCallDelta, Index: p.next, Text: text[:n]}); err != nil {
			return err
		}
		text = text[n:]
	}
	p.next++
	return p.sink(provider.Delta{Kind: provider.ToolCallEnd, Index: p.next - 1, ID: c.ID, Name: c.Name})
}

// cut gives a length of about n that does not split a character.
func cut(text string, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for n < len(text) && text[n]&0xC0 == 0x80 {
		n++
	}
	return n
}

func (p *player) tell(u Usage) error {
	p.fixed = true
	p.usage = message.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		TotalTokens: u.Input + u.Output + u.CacheRead + u.CacheWrite,
	}
	usage := p.usage
	return p.sink(provider.Delta{Kind: provider.UsageSoFar, Usage: &usage})
}

func (p *player) finish(stop Stop) error {
	if err := p.close(); err != nil {
		return err
	}
	switch {
	case stop.Reason != "":
	case p.calls > 0:
		stop.Reason = message.StopToolUse
	default:
		stop.Reason = message.StopStop
	}
	if stop.Raw == "" {
		stop.Raw = string(stop.Reason)
	}
	usage := p.usage
	return p.sink(provider.Delta{
		Kind: provider.Finish, StopReason: stop.Reason, RawStopReason: stop.Raw, ErrorMessage: stop.Message, Usage: &usage,
	})
}

func (p *player) wait(d time.Duration) error {
	if d <= 0 {
		if p.ctx.Err() != nil {
			return provider.Abort(p.ctx.Err())
		}
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.ctx.Done():
		return provider.Abort(p.ctx.Err())
	}
}

func (f *Fault) err() error {
	class, text := f.Class, f.Message
	if class == "" {
		class = provider.Classify(f.Status, f.Message)
	}
	if f.Status != 0 {
		text = fmt.Sprintf("%d %s", f.Status, f.Message)
	}
	return &provider.Error{Class: class, Status: f.Status, Message: text, RetryAfter: time.Duration(f.RetryAfter)}
}
