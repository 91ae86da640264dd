package google

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
	"github.com/seed-54e836f5/pi/core/provider/internal/history"
)

// answer turns the chunks of one stream into deltas. The service sends parts,
// and does not say which of them belong together: those of one kind that
// follow each other are a block.
type answer struct {
	exchange *exchange.Exchange
	sink     func(provider.Delta) error

	begun     bool
	next      int // number of the next block
	open      message.BlockType
	signature string // of the block that is open
	calls     map[string]bool
	usage     gjson.Result // the last that was told; each is the whole so far
	rawStop   string       // finishReason; empty: not yet told
	why       string       // finishMessage
	blocked   string       // why the prompt was refused
}

// Event implements exchange.Handler.
func (a *answer) Event(_ string, data []byte) (bool, error) {
	if !gjson.ValidBytes(data) {
		return false, exchange.Garbled(data)
	}
	chunk := gjson.ParseBytes(data)
	if failure := chunk.Get("error"); failure.IsObject() {
		status := int(failure.Get("code").Int())
		return false, a.exchange.InStream(status, fmt.Sprintf("%d: %s", status, failure.Raw))
	}
	if !a.begun {
		a.begun = true
		if err := a.sink(provider.Delta{Kind: provider.Begin, ResponseID: chunk.Get("responseId").Str}); err != nil {
			return false, err
		}
	}
	if u := chunk.Get("usageMetadata"); u.IsObject() {
		a.usage = u
	}
	if reason := chunk.Get("promptFeedback.blockReason").Str; reason != "" {
		a.blocked = reason
	}
	candidate := chunk.Get("candidates.0")
	if err := a.parts(candidate.Get("content.parts")); err != nil {
		return false, err
	}
	if reason := candidate.Get("finishReason").Str; reason != "" {
		a.rawStop, a.why = reason, candidate.Get("finishMessage").Str
	}
	return false, nil
}

// End implements exchange.Handler: the stream has no last event.
func (a *answer) End() error {
	if a.rawStop == "" && a.blocked == "" {
		return exchange.Cut()
	}
	finish, err := a.stop()
	if err != nil {
		return err
	}
	if err := a.close(); err != nil {
		return err
	}
	finish.Usage = usage(a.usage)
	return a.sink(finish)
}

func (a *answer) parts(list gjson.Result) error {
	var err error
	if list.IsArray() {
		list.ForEach(func(_, p gjson.Result) bool {
			err = a.part(p)
			return err == nil
		})
	}
	return err
}

func (a *answer) part(p gjson.Result) error {
	if call := p.Get("functionCall"); call.IsObject() {
		return a.call(call, p.Get("thoughtSignature").Str)
	}
	text := p.Get("text")
	if text.Type != gjson.String {
		return nil // what the service does by itself is not for us
	}
	kind := message.BlockText
	if p.Get("thought").Bool() {
		kind = message.BlockThinking
	}
	signature := p.Get("thoughtSignature").Str
	if text.Str == "" && signature == "" {
		return nil
	}
	if err := a.begin(kind); err != nil {
		return err
	}
	if signature != "" {
		a.signature = signature
	}
	if text.Str == "" {
		return nil
	}
	return a.sink(provider.Delta{Kind: kinds[kind].delta, Index: a.next, Text: text.Str})
}

// kinds are the deltas of the blocks that stream.
var kinds = map[message.BlockType]struct{ start, delta, end provider.DeltaKind }{
	message.BlockText:     {provider.TextStart, provider.TextDelta, provider.TextEnd},
	message.BlockThinking: {provider.ThinkingStart, provider.ThinkingDelta, provider.ThinkingEnd},
}

func (a *answer) begin(kind message.BlockType) error {
	if a.open == kind {
		return nil
	}
	if err := a.close(); err != nil {
		return err
	}
	a.open = kind
	return a.sink(provider.Delta{Kind: kinds[kind].start, Index: a.next})
}

func (a *answer) close() error {
	if a.open == "" {
		return nil
	}
	end := provider.Delta{Kind: kinds[a.open].end, Index: a.next, Signature: a.signature}
	a.open, a.signature = "", ""
	a.next++
	return a.sink(end)
}

// call passes on a call, which comes whole.
func (a *answer) call(call gjson.Result, signature string) error {
	if err := a.close(); err != nil {
		return err
	}
	id, name := call.Get("id").Str, call.Get("name").Str
	if id == "" || a.calls[id] {
		id = history.NewCallID()
	}
	if a.calls == nil {
		a.calls = map[string]bool{}
	}
	a.calls[id] = true
	arguments := call.Get("args").Raw
	if arguments == "" {
		arguments = "{}"
	}
	index := a.next
	a.next++
	for _, d := range []provider.Delta{
		{Kind: provider.ToolCallStart, Index: index, ID: id, Name: name},
		{Kind: provider.ToolCallDelta, Index: index, Text: arguments},
		{Kind: provider.ToolCallEnd, Index: index, ID: id, Name: name, Signature: signature},
	} {
		if err := a.sink(d); err != nil {
			return err
		}
	}
	return nil
}

// usage reads the numbers of tokens. Those of the prompt include what came
// from a cache; those of the answer do not include its thinking. Nil: the
// service told none.
func usage(u gjson.Result) *message.Usage {
	if !u.IsObject() {
		return nil
	}
	read := u.Get("cachedContentTokenCount").Int()
	input := max(u.Get("promptTokenCount").Int()+u.Get("toolUsePromptTokenCount").Int()-read, 0)
	thought := u.Get("thoughtsTokenCount").Int()
	output := u.Get("candidatesTokenCount").Int() + thought
	return &message.Usage{Input: input, Output: output, CacheRead: read, Reasoning: &thought, TotalTokens: input + output + read}
}
