package provider_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/provider"
)

// The texts are those that the services send, each in the body it comes in.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		status int
		text   string
		want   provider.Class
	}{
		// Too long, service by service.
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}`, provider.Overflow},
		{400, "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length or `max_tokens` and try again", provider.Overflow},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, provider.Overflow},
		{400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","code":"context_length_exceeded"}}`, provider.Overflow},
		{0, `{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again."}`, provider.Overflow},
		{400, `The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).`, provider.Overflow},
		{400, `This model's maximum prompt length is 131072 but the request contains 537812 tokens.`, provider.Overflow},
		{400, `Please reduce the length of the messages or completion.`, provider.Overflow},
		{413, `Request too large for model gpt-oss in organization org_1 service tier on_demand on tokens per minute (TPM): Limit 6000, Requested 9000`, provider.Overflow},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`, provider.Overflow},
		{400, `Trying to keep the first 9000 tokens when context the overflows: tokens to keep from the initial prompt is greater than the context length`, provider.Overflow},
		{400, `prompt token count of 70000 exceeds the limit of 64000`, provider.Overflow},
		{400, `invalid params, context window exceeds limit`, provider.Overflow},
		{400, `Your request exceeded model token limit: 262144 (requested: 291351)`, provider.Overflow},
		{400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, provider.Overflow},
		{400, `The input (40000 tokens) is longer than the model's context length (32768 tokens).`, provider.Overflow},
		{400, `The prompt is too long: 131073, model maximum context length: 131071`, provider.Overflow},
		{400, `Range of input length should be [1, 30720]`, provider.Overflow},
		{422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 100 `max_new_tokens`", provider.Overflow},
		{400, `prompt too long; exceeded max context length by 100 tokens`, provider.Overflow},
		{400, `Input is too long for requested model.`, provider.Overflow},
		{413, `<html><head><title>413 Request Entity Too Large</title></head></html>`, provider.Overflow},
		{413, "", provider.Overflow},
		{500, `the request exceeds the available context size`, provider.Overflow},

		// Not too long, though it sounds like it.
		{429, `Rate limit reached: too many tokens: total number of tokens per minute`, provider.Retryable},
		{413, `{"type":"error","error":{"type":"api_error","message":"mock failure"}}`, provider.Invalid},
		{400, `max_tokens is too large: 999999`, provider.Invalid},

		// Nothing left.
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}`, provider.Quota},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, provider.Quota},
		{402, `{"error":{"message":"Insufficient Balance"}}`, provider.Quota},
		{402, ``, provider.Quota},
		{429, `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, provider.Quota},
		{403, `{"error":"Your team has run out of credits"}`, provider.Quota},
		{400, `{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}`, provider.Quota},
		{429, `{"error":{"message":"You exceeded your current quota","details":[{"retryDelay":"38s"}]}}`, provider.Retryable},

		// The key.
		{401, `{"error":{"message":"Incorrect API key provided"}}`, provider.Auth},
		{403, `forbidden`, provider.Auth},
		{407, ``, provider.Auth},
		{400, `{"error":{"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, provider.Auth},
		{0, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, provider.Auth},

		// Another try may do.
		{408, "", provider.Retryable},
		{409, "", provider.Retryable},
		{425, "", provider.Retryable},
		{429, `{"error":{"message":"Rate limit reached"}}`, provider.Retryable},
		{500, "oops", provider.Retryable},
		{502, "<html>Bad Gateway</html>", provider.Retryable},
		{503, "", provider.Retryable},
		{520, "", provider.Retryable},
		{524, "", provider.Retryable},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.Retryable},
		{400, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.Retryable},
		{0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.Retryable},
		{0, `The server had an error while processing your request. Sorry about that!`, provider.Retryable},
		{0, `upstream connect error or disconnect/reset before headers`, provider.Retryable},
		{0, `Error: socket hang up`, provider.Retryable},
		{0, `terminated`, provider.Retryable},

		// No use.
		{400, `{"error":{"message":"messages: bad thing"}}`, provider.Invalid},
		{404, `{"error":{"type":"not_found_error","message":"model: no-such"}}`, provider.Invalid},
		{422, `[{"type":"extra_forbidden","loc":["body","store"]}]`, provider.Invalid},
		{0, `something odd`, provider.Invalid},
		// Digits are not statuses, and the request's own words decide nothing.
		{400, `request req_500529429 of 503 bytes failed: tools.0.name: must match pattern`, provider.Invalid},
		{400, `messages.1: the text "please try again, the service is unavailable" is not allowed here`, provider.Invalid},
	} {
		if got := provider.Classify(c.status, c.text); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.status, c.text, got, c.want)
		}
	}
}

func TestClassifyLooksAtTheFrontOfALongText(t *testing.T) {
	if got := provider.Classify(400, "prompt is too long "+strings.Repeat("x", 1<<20)); got != provider.Overflow {
		t.Errorf("in front: %q", got)
	}
	if got := provider.Classify(400, strings.Repeat("x", 1<<20)+"prompt is too long"); got != provider.Invalid {
		t.Errorf("far behind: %q", got)
	}
}

func TestClassOf(t *testing.T) {
	cause := errors.New("cause")
	failure := provider.Errorf(provider.Quota, "asking: %w", cause)
	for _, c := range []struct {
		err  error
		want provider.Class
	}{
		{nil, ""},
		{cause, provider.Invalid},
		{failure, provider.Quota},
		{fmt.Errorf("wrapped: %w", failure), provider.Quota},
		{provider.Abort(cause), provider.Aborted},
	} {
		if got := provider.ClassOf(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
	if !errors.Is(failure, cause) || failure.Error() != "asking: cause" {
		t.Errorf("error %v", failure)
	}
}

func ExampleClassify() {
	fmt.Println(provider.Classify(529, `{"type":"error","error":{"type":"overloaded_error"}}`))
	fmt.Println(provider.Classify(400, "prompt is too long: 250000 tokens > 200000 maximum"))
	fmt.Println(provider.Classify(401, "no such key"))
	// Output:
	// retryable
	// overflow
	// auth
}
