package google

import (
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/exchange"
)

// stops are the service's words for why an answer ended.
var stops = map[string]struct {
	reason  message.StopReason
	class   provider.Class // not empty: Stream fails with the message
	message string
}{
	"STOP":                      {reason: message.StopStop},
	"MAX_TOKENS":                {reason: message.StopLength},
	"SAFETY":                    {reason: message.StopError, message: "The service's safety filter stopped the answer"},
	"RECITATION":                {reason: message.StopError, message: "The service stopped the answer, as it repeats a source too closely"},
	"BLOCKLIST":                 {reason: message.StopError, message: "The service stopped the answer for a forbidden word"},
	"PROHIBITED_CONTENT":        {reason: message.StopError, message: "The service stopped the answer as prohibited content"},
	"SPII":                      {reason: message.StopError, message: "The service stopped the answer, as it may hold personal data"},
	"LANGUAGE":                  {reason: message.StopError, message: "The service does not support the language of the answer"},
	"OTHER":                     {reason: message.StopError, message: "The service stopped the answer without saying why"},
	"MALFORMED_FUNCTION_CALL":   {class: provider.Retryable, message: "the model wrote a tool call that the service could not read (MALFORMED_FUNCTION_CALL)"},
	"MALFORMED_RESPONSE":        {class: provider.Retryable, message: "the model wrote an answer that the service could not read (MALFORMED_RESPONSE)"},
	"UNEXPECTED_TOOL_CALL":      {class: provider.Retryable, message: "the model called a tool that was not offered (UNEXPECTED_TOOL_CALL)"},
	"TOO_MANY_TOOL_CALLS":       {reason: message.StopError, message: "The model called too many tools in a row"},
	"MISSING_THOUGHT_SIGNATURE": {class: provider.Invalid, message: "the service misses a thought signature in the conversation"},
}

// stop gives the Finish of an answer. A word that is not known is an ordinary
// end, since the answer is whole.
func (a *answer) stop() (provider.Delta, error) {
	finish := provider.Delta{Kind: provider.Finish, RawStopReason: a.rawStop, StopReason: message.StopStop}
	if a.rawStop == "" {
		finish.RawStopReason = a.blocked
		finish.StopReason, finish.ErrorMessage = message.StopError, "The service refused the prompt: "+a.blocked
		return finish, nil
	}
	if known, ok := stops[a.rawStop]; ok {
		text := known.message
		if a.why != "" {
			text += ": " + a.why
		}
		if known.class != "" {
			return finish, &provider.Error{Class: known.class, Message: text}
		}
		finish.StopReason = known.reason
		if known.reason == message.StopError {
			finish.ErrorMessage = text
		}
	}
	if finish.StopReason == message.StopStop && len(a.calls) > 0 {
		finish.StopReason = message.StopToolUse
	}
	return finish, nil
}

// classify sorts a failure. The service words a rate limit and a quota that
// is used up alike, and tells them apart in the details: how long to wait, and
// which quota it was.
func classify(status int, body []byte) (provider.Class, time.Duration) {
	class := provider.Classify(status, string(body))
	if status != http.StatusTooManyRequests || !gjson.ValidBytes(body) {
		return class, 0
	}
	var wait time.Duration
	for _, detail := range gjson.GetBytes(body, "error.details").Array() {
		if delay := detail.Get("retryDelay").Str; delay != "" {
			wait = exchange.Seconds(delay)
		}
		for _, violation := range detail.Get("violations").Array() {
			if strings.Contains(violation.Get("quotaId").Str, "PerDay") {
				class = provider.Quota
			}
		}
	}
	return class, wait
}
