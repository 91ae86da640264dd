package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
)

// answer turns the events of one stream into deltas.
type answer struct {
	exchange *exchange.Exchange
	sink     func(provider.Delta) error

	blocks  []*block // by the service's index; nil: one that means nothing to us
	begun   int      // blocks that were passed on
	usage   usage
	rawStop string // stop_reason; empty: not yet told
}

// block is one content block while it streams.
type block struct {
	index     int // ours
	kind      message.BlockType
	signature strings.Builder
	redacted  bool
	input     string // of a tool call: what came with its start
	some      bool   // of a tool call: arguments came behind it
	ended     bool
}

// Event implements exchange.Handler.
func (a *answer) Event(_ string, data []byte) (bool, error) {
	if !gjson.ValidBytes(data) {
		return false, exchange.Garbled(data)
	}
	event := gjson.ParseBytes(data)
	// The type inside says the same as the name outside, which some services
	// leave out.
	switch event.Get("type").Str {
	case "content_block_delta":
		return false, a.delta(event)
	case "content_block_start":
		return false, a.start(event)
	case "content_block_stop":
		return false, a.end(a.block(event))
	case "message_start":
		return false, a.begin(event.Get("message"))
	case "message_delta":
		a.rawStop = event.Get("delta.stop_reason").Str
		a.usage.read(event.Get("usage"))
		return false, nil
	case "message_stop":
		return true, a.finish()
	case "error":
		return false, a.exchange.InStream(0, event.Raw)
	}
	return false, nil // ping, and what is yet to be invented
}

// End implements exchange.Handler. Some services forget message_stop.
func (a *answer) End() error {
	if a.rawStop == "" {
		return exchange.Cut()
	}
	return a.finish()
}

func (a *answer) begin(m gjson.Result) error {
	a.usage.read(m.Get("usage"))
	return a.sink(provider.Delta{Kind: provider.Begin, ResponseID: m.Get("id").Str, Usage: a.usage.total()})
}

func (a *answer) start(event gjson.Result) error {
	index := int(event.Get("index").Int())
	if index < 0 || index > maxBlocks {
		return exchange.Garbled([]byte(event.Raw))
	}
	for len(a.blocks) <= index {
		a.blocks = append(a.blocks, nil)
	}
	if err := a.end(a.blocks[index]); err != nil { // an index that is used twice
		return err
	}
	b := &block{index: a.begun}
	start := provider.Delta{Index: b.index}
	content := event.Get("content_block")
	switch content.Get("type").Str {
	case "text":
		b.kind, start.Kind = message.BlockText, provider.TextStart
	case "thinking":
		b.kind, start.Kind = message.BlockThinking, provider.ThinkingStart
		b.signature.WriteString(content.Get("signature").Str)
	case "redacted_thinking":
		b.kind, start.Kind, b.redacted = message.BlockThinking, provider.ThinkingStart, true
		b.signature.WriteString(content.Get("data").Str)
	case "tool_use":
		b.kind, start.Kind = message.BlockToolCall, provider.ToolCallStart
		start.ID, start.Name = content.Get("id").Str, content.Get("name").Str
		b.input = content.Get("input").Raw
	default:
		return nil // what the service does by itself is not for us
	}
	a.blocks[index] = b
	a.begun++
	if err := a.sink(start); err != nil {
		return err
	}
	return a.first(b, content)
}

// maxBlocks bounds what a broken index can make us allocate.
const maxBlocks = 10_000

// hiddenThinking is shown where the service hides what the model thought.
const hiddenThinking = "[thinking hidden by the service]"

// first passes on text that came with the start of a block.
func (a *answer) first(b *block, content gjson.Result) error {
	switch {
	case b.redacted:
		return a.sink(provider.Delta{Kind: provider.ThinkingDelta, Index: b.index, Text: hiddenThinking})
	case b.kind == message.BlockText && content.Get("text").Str != "":
		return a.sink(provider.Delta{Kind: provider.TextDelta, Index: b.index, Text: content.Get("text").Str})
	case b.kind == message.BlockThinking && content.Get("thinking").Str != "":
		return a.sink(provider.Delta{Kind: provider.ThinkingDelta, Index: b.index, Text: content.Get("thinking").Str})
	}
	return nil
}

func (a *answer) block(event gjson.Result) *block {
	index := event.Get("index").Int()
	if index < 0 || index >= int64(len(a.blocks)) {
		return nil
	}
	return a.blocks[index]
}

func (a *answer) delta(event gjson.Result) error {
	b := a.block(event)
	if b == nil || b.ended {
		return nil
	}
	d := event.Get("delta")
	out := provider.Delta{Index: b.index}
	switch d.Get("type").Str {
	case "text_delta":
		out.Kind, out.Text = provider.TextDelta, d.Get("text").Str
	case "thinking_delta":
		out.Kind, out.Text = provider.ThinkingDelta, d.Get("thinking").Str
	case "input_json_delta":
		out.Kind, out.Text = provider.ToolCallDelta, d.Get("partial_json").Str
		b.some = b.some || out.Text != ""
	case "signature_delta":
		b.signature.WriteString(d.Get("signature").Str)
		return nil
	}
	if out.Text == "" || deltaOf[b.kind] != out.Kind {
		return nil
	}
	return a.sink(out)
}

var deltaOf = map[message.BlockType]provider.DeltaKind{
	message.BlockText:     provider.TextDelta,
	message.BlockThinking: provider.ThinkingDelta,
	message.BlockToolCall: provider.ToolCallDelta,
}

func (a *answer) end(b *block) error {
	if b == nil || b.ended {
		return nil
	}
	b.ended = true
	end := provider.Delta{Index: b.index}
	switch b.kind {
	case message.BlockText:
		end.Kind = provider.TextEnd
	case message.BlockThinking:
		end.Kind, end.Signature, end.Redacted = provider.ThinkingEnd, b.signature.String(), b.redacted
	case message.BlockToolCall:
		// Some services give the arguments whole, with the start.
		if !b.some && b.input != "" && b.input != "{}" && json.Valid([]byte(b.input)) {
			if err := a.sink(provider.Delta{Kind: provider.ToolCallDelta, Index: b.index, Text: b.input}); err != nil {
				return err
			}
		}
		end.Kind = provider.ToolCallEnd
	}
	return a.sink(end)
}

func (a *answer) finish() error {
	for _, b := range a.blocks {
		if err := a.end(b); err != nil {
			return err
		}
	}
	finish := provider.Delta{Kind: provider.Finish, RawStopReason: a.rawStop, Usage: a.usage.total()}
	finish.StopReason, finish.ErrorMessage = stop(a.rawStop)
	return a.sink(finish)
}
