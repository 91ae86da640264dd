package openai

import (
	"github.com/tidwall/gjson"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// completionStops are the services' words for why an answer ended.
var completionStops = map[string]struct {
	reason  message.StopReason
	class   provider.Class // not empty: Stream fails with the message
	message string
}{
	"stop":          {reason: message.StopStop},
	"end":           {reason: message.StopStop},
	"eos":           {reason: message.StopStop},
	"length":        {reason: message.StopLength},
	"max_tokens":    {reason: message.StopLength},
	"tool_calls":    {reason: message.StopToolUse},
	"function_call": {reason: message.StopToolUse},
	"content_filter": {reason: message.StopError,
		message: "The service's content filter stopped the answer"},
	"sensitive": {reason: message.StopError, // Z.ai
		message: "The service's content filter stopped the answer"},
	"error": {class: provider.Retryable, // OpenRouter
		message: "the service ended the answer with an error (finish_reason error)"},
	"network_error": {class: provider.Retryable, // Z.ai
		message: "the service lost its connection to the model (finish_reason network_error)"},
	"abort": {class: provider.Retryable, // SGLang, vLLM
		message: "the service gave up the answer (finish_reason abort)"},
	"insufficient_system_resource": {class: provider.Retryable, // DeepSeek
		message: "the service is overloaded (finish_reason insufficient_system_resource)"},
	"model_context_window_exceeded": {class: provider.Overflow, // Z.ai
		message: "the request exceeds the context window (finish_reason model_context_window_exceeded)"},
}

// stop gives the Finish of an answer. A word that is not known, or none where
// the stream ended in order, is an ordinary end. Calls are calls, whatever
// the service calls their end.
func (a *completionAnswer) stop() (provider.Delta, error) {
	finish := provider.Delta{Kind: provider.Finish, RawStopReason: a.rawStop, StopReason: message.StopStop}
	if known, ok := completionStops[a.rawStop]; ok {
		if known.class != "" {
			return finish, &provider.Error{Class: known.class, Message: known.message}
		}
		finish.StopReason, finish.ErrorMessage = known.reason, known.message
	}
	if finish.StopReason == message.StopStop && a.called() {
		finish.StopReason = message.StopToolUse
	}
	return finish, nil
}

func (a *completionAnswer) called() bool {
	for _, b := range a.blocks {
		if b.kind == message.BlockToolCall {
			return true
		}
	}
	return false
}

// completionUsage reads the numbers of tokens. Those of the prompt include
// what came from a cache, under names that differ.
func completionUsage(u gjson.Result) *message.Usage {
	read := first(u, "prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens")
	written := first(u, "prompt_tokens_details.cache_write_tokens", "cache_creation_input_tokens")
	thought := u.Get("completion_tokens_details.reasoning_tokens").Int()
	return usageOf(u.Get("prompt_tokens").Int(), u.Get("completion_tokens").Int(), read, written, thought)
}

func first(u gjson.Result, names ...string) int64 {
	for _, name := range names {
		if value := u.Get(name); value.Type == gjson.Number {
			return value.Int()
		}
	}
	return 0
}

// usageOf takes the tokens of a cache out of those of the prompt. Those of
// thinking are a part of the output.
func usageOf(prompt, output, read, written, thought int64) *message.Usage {
	input := max(prompt-read-written, 0)
	return &message.Usage{
		Input:       input,
		Output:      output,
		CacheRead:   read,
		CacheWrite:  written,
		Reasoning:   &thought,
		TotalTokens: input + output + read + written,
	}
}
