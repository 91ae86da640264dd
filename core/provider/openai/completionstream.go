package openai

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
	"github.com/seed-54e836f5/pi/core/provider/internal/history"
)

// completionAnswer turns the chunks of one chat completion into deltas. The
// API does not say where a block ends, so all end with the message.
type completionAnswer struct {
	exchange *exchange.Exchange
	sink     func(provider.Delta) error
	quirks   quirks

	begun    bool
	blocks   []*completionBlock
	thinking *completionBlock // nil: none yet
	text     *completionBlock
	details  []gjson.Result // encrypted reasoning for tool calls, by their id
	usage    *message.Usage
	rawStop  string // finish_reason; empty: not yet told
}

type completionBlock struct {
	kind      message.BlockType
	signature string // thinking: the name of the field it came in
	position  string // tool call: its index as the service has it, in JSON
	id, name  string // tool call
}

// Event implements exchange.Handler.
func (a *completionAnswer) Event(_ string, data []byte) (bool, error) {
	if string(data) == "[DONE]" {
		return true, a.finish()
	}
	if !gjson.ValidBytes(data) {
		return false, exchange.Garbled(data)
	}
	var id, choice, usage, failure gjson.Result
	members(gjson.ParseBytes(data), func(name string, value gjson.Result) {
		switch name {
		case "id":
			id = value
		case "choices":
			choice = value.Get("0")
		case "usage":
			usage = value
		case "error":
			failure = value
		}
	})
	if failure.Exists() && failure.Type != gjson.Null {
		return false, a.failed(failure)
	}
	if !a.begun {
		a.begun = true
		if err := a.sink(provider.Delta{Kind: provider.Begin, ResponseID: id.Str}); err != nil {
			return false, err
		}
	}
	a.readUsage(usage)
	return false, a.choice(choice)
}

// members calls f for each member of an object; for another value, never. It
// costs one pass, where asking for each by name costs one per name.
func members(object gjson.Result, f func(name string, value gjson.Result)) {
	if object.IsObject() {
		object.ForEach(func(name, value gjson.Result) bool {
			f(name.Str, value)
			return true
		})
	}
}

// End implements exchange.Handler. Some services forget [DONE].
func (a *completionAnswer) End() error {
	if a.rawStop == "" && (unlessOff(a.quirks.SupportsFinishReason) || len(a.blocks) == 0) {
		return exchange.Cut()
	}
	return a.finish()
}

func (a *completionAnswer) failed(failure gjson.Result) error {
	status := int(failure.Get("code").Int()) // 0 for words
	text := failure.Raw
	if status > 0 {
		text = fmt.Sprintf("%d: %s", status, text)
	}
	return a.exchange.InStream(status, text)
}

func (a *completionAnswer) choice(choice gjson.Result) error {
	var delta gjson.Result
	members(choice, func(name string, value gjson.Result) {
		switch {
		case name == "delta":
			delta = value
		case name == "finish_reason" && value.Type == gjson.String:
			a.rawStop = value.Str
		case name == "usage":
			a.readUsage(value)
		}
	})
	return a.delta(delta)
}

func (a *completionAnswer) delta(delta gjson.Result) error {
	var err error
	thought := false // some services send the same under two names
	members(delta, func(name string, value gjson.Result) {
		switch {
		case err != nil:
		case name == "content" && value.IsArray():
			err = a.parts(value)
		case name == "content" || name == "refusal":
			if value.Type == gjson.String {
				err = a.say(value.Str)
			}
		case name == "tool_calls":
			err = a.calls(value)
		case name == "reasoning_details":
			a.keepDetails(value)
		case !thought && value.Type == gjson.String && value.Str != "" && contains(reasoningFields, name):
			thought = true
			err = a.think(value.Str, name)
		}
	})
	return err
}

func (a *completionAnswer) calls(list gjson.Result) error {
	if !list.IsArray() {
		return nil
	}
	for _, call := range list.Array() {
		if !call.IsObject() {
			continue
		}
		if err := a.call(call); err != nil {
			return err
		}
	}
	return nil
}

func (a *completionAnswer) keepDetails(list gjson.Result) {
	for _, detail := range list.Array() {
		if detail.Get("type").Str == "reasoning.encrypted" && detail.Get("id").Str != "" {
			a.details = append(a.details, detail)
		}
	}
}

func (a *completionAnswer) readUsage(u gjson.Result) {
	if u.IsObject() {
		a.usage = completionUsage(u)
	}
}

// parts takes content in parts, as Mistral sends it.
func (a *completionAnswer) parts(content gjson.Result) error {
	for _, part := range content.Array() {
		var err error
		switch part.Get("type").Str {
		case "text":
			err = a.say(part.Get("text").Str)
		case "thinking":
			for _, piece := range part.Get("thinking").Array() {
				if err == nil {
					err = a.think(piece.Get("text").Str, reasoningFields[0])
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *completionAnswer) say(text string) error {
	if text == "" {
		return nil
	}
	if a.text == nil {
		a.text = &completionBlock{kind: message.BlockText}
		if err := a.open(a.text, provider.TextStart); err != nil {
			return err
		}
	}
	return a.sink(provider.Delta{Kind: provider.TextDelta, Index: a.index(a.text), Text: text})
}

func (a *completionAnswer) think(text, field string) error {
	if text == "" {
		return nil
	}
	if a.thinking == nil {
		a.thinking = &completionBlock{kind: message.BlockThinking, signature: field}
		if err := a.open(a.thinking, provider.ThinkingStart); err != nil {
			return err
		}
	}
	return a.sink(provider.Delta{Kind: provider.ThinkingDelta, Index: a.index(a.thinking), Text: text})
}

func (a *completionAnswer) open(b *completionBlock, kind provider.DeltaKind) error {
	a.blocks = append(a.blocks, b)
	return a.sink(provider.Delta{Kind: kind, Index: len(a.blocks) - 1, ID: b.id, Name: b.name})
}

func (a *completionAnswer) index(b *completionBlock) int {
	for i := range a.blocks {
		if a.blocks[i] == b {
			return i
		}
	}
	panic("openai: a block that was never opened")
}

func (a *completionAnswer) call(call gjson.Result) error {
	id, name := call.Get("id").Str, call.Get("function.name").Str
	b := a.openCall(call.Get("index").Raw, id)
	if b == nil {
		b = &completionBlock{kind: message.BlockToolCall, position: call.Get("index").Raw, id: id, name: name}
		if err := a.open(b, provider.ToolCallStart); err != nil {
			return err
		}
	}
	if b.id == "" {
		b.id = id
	}
	if b.name == "" {
		b.name = name
	}
	arguments := call.Get("function.arguments")
	text := arguments.Str
	if arguments.IsObject() {
		text = arguments.Raw
	}
	if text == "" {
		return nil
	}
	return a.sink(provider.Delta{Kind: provider.ToolCallDelta, Index: a.index(b), Text: text})
}

// openCall finds the call that a piece belongs to; nil: it begins one. Some
// services number every call 0, and some number none.
func (a *completionAnswer) openCall(position, id string) *completionBlock {
	for i := len(a.blocks) - 1; i >= 0; i-- {
		b := a.blocks[i]
		switch {
		case b.kind != message.BlockToolCall:
		case id != "" && b.id != "" && id != b.id:
		case position == b.position, id != "" && id == b.id:
			return b
		}
	}
	return nil
}

func (a *completionAnswer) finish() error {
	stop, err := a.stop()
	if err != nil {
		return err
	}
	for i, b := range a.blocks {
		if err := a.sink(a.end(i, b)); err != nil {
			return err
		}
	}
	stop.Usage = a.usage
	return a.sink(stop)
}

func (a *completionAnswer) end(index int, b *completionBlock) provider.Delta {
	end := provider.Delta{Index: index, Signature: b.signature}
	switch b.kind {
	case message.BlockText:
		end.Kind = provider.TextEnd
	case message.BlockThinking:
		end.Kind = provider.ThinkingEnd
	case message.BlockToolCall:
		end.Kind, end.ID, end.Name = provider.ToolCallEnd, b.id, b.name
		if end.ID == "" {
			end.ID = history.NewCallID()
		}
		for _, detail := range a.details {
			if detail.Get("id").Str == b.id {
				end.Signature = detail.Raw
			}
		}
	}
	return end
}
