package anthropic

import (
	"github.com/tidwall/gjson"

	"github.com/seed-54e836f5/pi/core/message"
)

// stops are the service's words for why an answer ended.
var stops = map[string]struct {
	reason  message.StopReason
	message string // with StopError
}{
	"end_turn":                      {message.StopStop, ""},
	"stop_sequence":                 {message.StopStop, ""},
	"pause_turn":                    {message.StopStop, ""},
	"tool_use":                      {message.StopToolUse, ""},
	"max_tokens":                    {message.StopLength, ""},
	"model_context_window_exceeded": {message.StopLength, ""},
	"refusal":                       {message.StopError, "The model declined to answer this request"},
	"sensitive":                     {message.StopError, "The service stopped the answer as sensitive content"},
}

// stop translates one. A word that is not known is an ordinary end, since the
// answer is whole.
func stop(word string) (message.StopReason, string) {
	if known, ok := stops[word]; ok {
		return known.reason, known.message
	}
	return message.StopStop, ""
}

// usage is what the service has told about tokens so far. Later numbers take
// the place of earlier ones; those left out stay.
type usage struct{ input, output, cacheRead, cacheWrite, cacheWrite1h int64 }

func (u *usage) read(told gjson.Result) {
	set := func(name string, to *int64) {
		if value := told.Get(name); value.Type == gjson.Number {
			*to = value.Int()
		}
	}
	set("input_tokens", &u.input)
	set("output_tokens", &u.output)
	set("cache_read_input_tokens", &u.cacheRead)
	set("cache_creation_input_tokens", &u.cacheWrite)
	set("cache_creation.ephemeral_1h_input_tokens", &u.cacheWrite1h)
}

func (u *usage) total() *message.Usage {
	hour := u.cacheWrite1h
	return &message.Usage{
		Input:        u.input,
		Output:       u.output,
		CacheRead:    u.cacheRead,
		CacheWrite:   u.cacheWrite,
		TotalTokens:  u.input + u.output + u.cacheRead + u.cacheWrite,
		CacheWrite1h: &hour,
	}
}
