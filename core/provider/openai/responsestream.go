package openai

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
	"github.com/seed-54e836f5/pi/core/provider/internal/history"
)

// responseAnswer turns the events of one response into deltas. An output item
// is a block.
type responseAnswer struct {
	exchange *exchange.Exchange
	sink     func(provider.Delta) error

	items map[int64]*responseItem // by the service's index
	order []*responseItem         // by ours
}

type responseItem struct {
	itemKind
	index int    // ours
	id    string // of a tool call
	some  bool   // text, thinking or arguments came
	ended bool
}

// itemKind is how an item becomes a block.
type itemKind struct {
	block             message.BlockType
	start, delta, end provider.DeltaKind
}

// itemKinds are the items that are blocks of ours.
var itemKinds = map[string]itemKind{
	"reasoning":     {message.BlockThinking, provider.ThinkingStart, provider.ThinkingDelta, provider.ThinkingEnd},
	"message":       {message.BlockText, provider.TextStart, provider.TextDelta, provider.TextEnd},
	"function_call": {message.BlockToolCall, provider.ToolCallStart, provider.ToolCallDelta, provider.ToolCallEnd},
}

// responseEvents are the events that mean something here.
var responseEvents = map[string]func(a *responseAnswer, event gjson.Result) error{
	"response.created":                       (*responseAnswer).begin,
	"response.output_item.added":             (*responseAnswer).added,
	"response.output_item.done":              (*responseAnswer).done,
	"response.output_text.delta":             (*responseAnswer).delta,
	"response.refusal.delta":                 (*responseAnswer).delta,
	"response.function_call_arguments.delta": (*responseAnswer).delta,
	"response.reasoning_summary_text.delta":  (*responseAnswer).delta,
	"response.reasoning_text.delta":          (*responseAnswer).delta,
	"response.reasoning_summary_part.added":  (*responseAnswer).nextPart,
	"response.failed":                        (*responseAnswer).failed,
	"error":                                  (*responseAnswer).failed,
}

// Event implements exchange.Handler.
func (a *responseAnswer) Event(_ string, data []byte) (bool, error) {
	if string(data) == "[DONE]" {
		return false, nil // of servers that speak both APIs
	}
	if !gjson.ValidBytes(data) {
		return false, exchange.Garbled(data)
	}
	event := gjson.ParseBytes(data)
	kind := event.Get("type").Str
	switch kind {
	case "response.completed", "response.incomplete", "response.done":
		return true, a.finish(event.Get("response"))
	}
	if take, ok := responseEvents[kind]; ok {
		return false, take(a, event)
	}
	return false, nil
}

// End implements exchange.Handler.
func (a *responseAnswer) End() error { return exchange.Cut() }

func (a *responseAnswer) begin(event gjson.Result) error {
	return a.sink(provider.Delta{Kind: provider.Begin, ResponseID: event.Get("response.id").Str})
}

func (a *responseAnswer) added(event gjson.Result) error {
	_, err := a.open(event)
	return err
}

// open begins a block for the item of an event; nil: it is none of ours.
func (a *responseAnswer) open(event gjson.Result) (*responseItem, error) {
	index := event.Get("output_index").Int()
	if item := a.items[index]; item != nil {
		return item, nil
	}
	told := event.Get("item")
	kind, ok := itemKinds[told.Get("type").Str]
	if !ok {
		return nil, nil
	}
	item := &responseItem{itemKind: kind, index: len(a.order)}
	if item.block == message.BlockToolCall {
		item.id = joinCallID(told)
	}
	if a.items == nil {
		a.items = map[int64]*responseItem{}
	}
	a.items[index], a.order = item, append(a.order, item)
	return item, a.sink(provider.Delta{Kind: item.start, Index: item.index, ID: item.id, Name: told.Get("name").Str})
}

func joinCallID(item gjson.Result) string {
	call, id := item.Get("call_id").Str, item.Get("id").Str
	switch {
	case call == "":
		return history.NewCallID()
	case id == "":
		return call
	}
	return call + callIDBar + id
}

// itemOfDelta says what kind of block each delta is for.
var itemOfDelta = map[string]message.BlockType{
	"response.output_text.delta":             message.BlockText,
	"response.refusal.delta":                 message.BlockText,
	"response.function_call_arguments.delta": message.BlockToolCall,
	"response.reasoning_summary_text.delta":  message.BlockThinking,
	"response.reasoning_text.delta":          message.BlockThinking,
}

func (a *responseAnswer) delta(event gjson.Result) error {
	item := a.items[event.Get("output_index").Int()]
	if item == nil || item.block != itemOfDelta[event.Get("type").Str] {
		return nil
	}
	return a.add(item, event.Get("delta").Str)
}

func (a *responseAnswer) add(item *responseItem, text string) error {
	if text == "" || item.ended {
		return nil
	}
	item.some = true
	return a.sink(provider.Delta{Kind: item.delta, Index: item.index, Text: text})
}

// nextPart puts a blank line between the parts of a summary.
func (a *responseAnswer) nextPart(event gjson.Result) error {
	item := a.items[event.Get("output_index").Int()]
	if item == nil || item.block != message.BlockThinking || !item.some {
		return nil
	}
	return a.add(item, "\n\n")
}

// done ends a block. What was not streamed is in the item.
func (a *responseAnswer) done(event gjson.Result) error {
	item, err := a.open(event)
	if err != nil || item == nil || item.ended {
		return err
	}
	told := event.Get("item")
	if itemKinds[told.Get("type").Str] != item.itemKind {
		return nil
	}
	if !item.some {
		if err := a.add(item, wholeText(told)); err != nil {
			return err
		}
	}
	end := provider.Delta{Kind: item.end, Index: item.index}
	switch item.block {
	case message.BlockThinking:
		end.Signature = told.Raw
	case message.BlockText:
		end.Signature = signatureOf(told)
	case message.BlockToolCall:
		end.ID, end.Name = item.id, told.Get("name").Str
	}
	item.ended = true
	return a.sink(end)
}

func signatureOf(item gjson.Result) string {
	id := item.Get("id").Str
	if id == "" {
		return ""
	}
	signature, err := message.Marshal(textSignature{Version: 1, ID: id, Phase: item.Get("phase").Str})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(signature)
}

func wholeText(item gjson.Result) string {
	if arguments := item.Get("arguments"); arguments.Exists() {
		return arguments.Str
	}
	var texts []string
	for _, list := range []string{"summary", "content"} {
		for _, part := range item.Get(list).Array() {
			if text := part.Get("text").Str + part.Get("refusal").Str; text != "" {
				texts = append(texts, text)
			}
		}
		if texts != nil {
			break
		}
	}
	return strings.Join(texts, "\n\n")
}

// failed takes both forms of a failure: an event of its own, and a response
// that failed.
func (a *responseAnswer) failed(event gjson.Result) error {
	failure := event.Get("response.error")
	if !failure.IsObject() {
		failure = event.Get("error")
	}
	if !failure.IsObject() {
		failure = event
	}
	return a.exchange.InStream(0, failure.Raw)
}

// incomplete are the reasons that a response gives for having stopped early.
var incomplete = map[string]struct {
	reason  message.StopReason
	message string
}{
	"max_output_tokens": {message.StopLength, ""},
	"content_filter":    {message.StopError, "The service's content filter stopped the answer"},
}

func (a *responseAnswer) finish(response gjson.Result) error {
	finish := provider.Delta{Kind: provider.Finish, StopReason: message.StopStop, RawStopReason: response.Get("status").Str}
	switch finish.RawStopReason {
	case "failed", "cancelled":
		return a.exchange.InStream(0, failureText(response))
	case "incomplete":
		why := response.Get("incomplete_details.reason").Str
		known, ok := incomplete[why]
		if !ok {
			known.reason, known.message = message.StopError, "The service stopped the answer: "+why
		}
		finish.StopReason, finish.ErrorMessage = known.reason, known.message
	}
	for _, item := range a.order {
		if err := a.close(item); err != nil {
			return err
		}
		if item.block == message.BlockToolCall && finish.StopReason == message.StopStop {
			finish.StopReason = message.StopToolUse
		}
	}
	if u := response.Get("usage"); u.IsObject() {
		finish.Usage = usageOf(u.Get("input_tokens").Int(), u.Get("output_tokens").Int(),
			u.Get("input_tokens_details.cached_tokens").Int(), u.Get("input_tokens_details.cache_write_tokens").Int(),
			u.Get("output_tokens_details.reasoning_tokens").Int())
	}
	return a.sink(finish)
}

func failureText(response gjson.Result) string {
	if failure := response.Get("error"); failure.IsObject() {
		return failure.Raw
	}
	return "server_error: the service gave up the answer"
}

// close ends a block that the service left open.
func (a *responseAnswer) close(item *responseItem) error {
	if item.ended {
		return nil
	}
	item.ended = true
	return a.sink(provider.Delta{Kind: item.end, Index: item.index})
}
