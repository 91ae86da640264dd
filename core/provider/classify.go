package provider

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// Classify sorts a failure by its HTTP status (0: there was none, as inside a
// stream) and by what the service said: the body of the response, or the
// error event. Any goroutine may call it, also for a provider of its own
// making.
//
// The first row that fits decides. Digits inside the text mean nothing: ids
// and byte counts are full of them.
//
//	class      status                     text
//	Overflow   any but 401, 403, 429      one of overflowTexts
//	Overflow   413                        none at all
//	Quota      402
//	Quota      any                        one of quotaTexts, and no time to retry at
//	Auth       401, 403, 407
//	Auth       any                        one of authTexts
//	Retryable  408, 409, 425, 429, 5xx
//	Retryable  0                          one of retryableTexts
//	Retryable  4xx                        one of retryableCodes
//	Invalid    everything else
func Classify(status int, text string) Class {
	for _, row := range classRows {
		if row.status(status) && row.text(status, text) {
			return row.class
		}
	}
	return Invalid
}

type classRow struct {
	class  Class
	status func(int) bool
	text   func(status int, text string) bool
}

var classRows = []classRow{
	{Overflow, not(http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests), like(overflowTexts)},
	{Overflow, is(http.StatusRequestEntityTooLarge), func(_ int, text string) bool { return strings.TrimSpace(text) == "" }},
	{Quota, is(http.StatusPaymentRequired), anyText},
	{Quota, anyStatus, func(status int, text string) bool {
		return matches(quotaTexts, text) && !matches(retryTimeTexts, text)
	}},
	{Auth, is(http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired), anyText},
	{Auth, anyStatus, like(authTexts)},
	{Retryable, is(http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests), anyText},
	{Retryable, func(status int) bool { return status >= 500 }, anyText},
	{Retryable, is(0), like(retryableTexts)},
	{Retryable, anyStatus, like(retryableCodes)},
}

// overflowTexts are how services say that a request does not fit the context
// window, each with the service it was seen at.
var overflowTexts = patterns(
	`prompt is too long`, // Anthropic, Fireworks
	`request_too_large|request exceeds the maximum size`,                    // Anthropic
	`input length and .?max_tokens.? exceed`,                                // Anthropic
	`input is too long`,                                                     // Bedrock
	`context_length_exceeded`,                                               // OpenAI, Azure, Groq
	`exceed\w* (the |its |your )?(model'?s? )?context (window|length|size)`, // OpenAI Responses
	`maximum context length`,                                                // OpenAI, vLLM, OpenRouter, DeepSeek, Mistral
	`maximum model length`,                                                  // vLLM
	`longer than the model'?s (maximum )?context length`,                    // SGLang
	`input token count .*exceeds the maximum`,                               // Google
	`maximum prompt length`,                                                 // xAI
	`reduce the length of the (messages|prompt)`,                            // Groq, vLLM
	`request too large for model`,                                           // Groq
	`exceed_context_size_error|exceeds the available context`,               // llama.cpp
	`greater than the context length`,                                       // LM Studio
	`context window exceeds limit`,                                          // MiniMax
	`exceeded model token limit`,                                            // Moonshot
	`prompt token count .*exceeds the limit`,                                // GitHub Copilot
	`prompt exceeds max(imum)? length`,                                      // Z.ai
	`model_context_window_exceeded`,                                         // Z.ai
	`prompt too long; exceeded`,                                             // Ollama
	`range of input length should be`,                                       // Alibaba
	`inputs?.? tokens? \+ .?max_new_tokens.? must be`,                       // Together, TGI
	`must have less than \d+ tokens`,                                        // TGI
	`too many tokens: total number of tokens`,                               // Cohere
	`(request entity|payload|content) too large`,                            // proxies
)

// quotaTexts say that the account has nothing left, so that waiting is vain.
var quotaTexts = patterns(
	`insufficient_quota`,                                               // OpenAI
	`exceeded your current quota`,                                      // OpenAI, Google
	`billing_(error|hard_limit_reached|not_active)`,                    // Anthropic, OpenAI
	`credit balance is too low`,                                        // Anthropic
	`(insufficient|not enough|no) (account )?(credits?|balance|funds)`, // OpenRouter, DeepSeek, Z.ai
	`insufficient_(balance|funds|credits?)`,
	`(run|ran) out of (credits|tokens|funds)`, // xAI, Hugging Face
	`out_of_credits|credits? (is |are )?exhausted`,
	`(exceeded|reached) (your|the) (monthly|weekly|daily|usage|spending|spend) (included )?(credits|limit)`, // Hugging Face, OpenCode
	`payment required|account is (in arrears|overdue)|arrearage`,                                            // Alibaba
)

// retryTimeTexts say when to come back, so that it is a rate limit, whatever
// else is said: Google words both alike.
var retryTimeTexts = patterns(`"retryDelay"`, `retry in [0-9.]+ ?m?s`)

// authTexts are wrong keys under a status of their own.
var authTexts = patterns(
	`api key not valid|api_key_invalid`, // Google, with 400
	`authentication_error|invalid_api_key|incorrect api key`,
	`permission_error|permission_denied`,
)

// retryableTexts are passing troubles inside a stream.
var retryableTexts = patterns(
	`overloaded|over capacity|at capacity|high demand`,
	`rate.?limit|too many requests|resource_exhausted`,
	`api_error|server_error|internal(_| server )error|internal error`,
	`unavailable|bad gateway|gateway time-?out|upstream`,
	`timed? ?out|timeout`,
	`connection (error|reset|refused|closed|lost)|socket hang up|network error|terminated`,
	`(please )?(try|retry) (again|your request)`,
	`processing your request`, // OpenAI
)

// retryableCodes are passing troubles that some services send under a status
// of the 400s.
var retryableCodes = patterns(`overloaded_error|rate_limit_error|"?(code|type|status)"?:\s*"(overloaded|unavailable|server_error|rate_limit_exceeded)"`)

// patterns compiles alternatives when they are first needed.
func patterns(alternatives ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)` + strings.Join(alternatives, `|`))
	})
}

// longestText bounds what is searched; what a service says stands in front.
const longestText = 16 << 10

func matches(p func() *regexp.Regexp, text string) bool {
	return p().MatchString(text[:min(len(text), longestText)])
}

func like(p func() *regexp.Regexp) func(int, string) bool {
	return func(_ int, text string) bool { return matches(p, text) }
}

func anyText(int, string) bool { return true }

func anyStatus(int) bool { return true }

func is(statuses ...int) func(int) bool {
	return func(status int) bool {
		for _, s := range statuses {
			if s == status {
				return true
			}
		}
		return false
	}
}

func not(statuses ...int) func(int) bool {
	among := is(statuses...)
	return func(status int) bool { return !among(status) }
}
