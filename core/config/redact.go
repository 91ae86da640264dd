package config

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Redacted stands where a key was.
const Redacted = "[redacted]"

// keyShapes are what the keys of the usual services look like, for texts that
// come from outside, e.g. the body of an error response. Case matters.
var keyShapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`\bsk-[A-Za-z0-9_\-*]{16,}`,                                      // OpenAI, Anthropic, OpenRouter, DeepSeek
		`\bAIza[A-Za-z0-9_\-]{30,}`,                                      // Google
		`\b(?:gsk|xai|hf|nvapi|fw|csk)[_\-][A-Za-z0-9_\-]{16,}`,          // Groq, xAI, Hugging Face, NVIDIA, Fireworks, Cerebras
		`\bgh[pousr]_[A-Za-z0-9]{20,}`,                                   // GitHub
		`\bAKIA[A-Z0-9]{12,}`,                                            // AWS
		`\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]*`, // signed tokens
	}, "|"))
})

var bearer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=\-]{8,}`)
})

// Redact replaces what looks like a key. It knows no keys by value; use
// Catalogue.Redact where there is one.
func Redact(text string) string {
	text = keyShapes().ReplaceAllLiteralString(text, Redacted)
	return bearer().ReplaceAllString(text, "$1 "+Redacted)
}

// shortestSecret is the length below which a value is not looked for in
// texts: the dummy keys of local servers ("x", "ollama") are words.
const shortestSecret = 8

// secretSet holds the keys that were in use. Methods may be called from any
// goroutine.
type secretSet struct {
	mu     sync.Mutex
	values []string // longest first, so that a key inside another leaves nothing behind
}

func (s *secretSet) add(value string) {
	if len(value) < shortestSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.values, value) {
		return
	}
	for _, form := range writtenForms(value) {
		if !slices.Contains(s.values, form) {
			s.values = append(s.values, form)
		}
	}
	slices.SortFunc(s.values, func(a, b string) int { return len(b) - len(a) })
}

// writtenForms are the ways in which a service that repeats a key may write it:
// as it is, in JSON of several encoders, in an address, on a page.
func writtenForms(value string) []string {
	inJSON := func(htmlToo bool) string {
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(htmlToo)
		if e.Encode(value) != nil {
			return value
		}
		quoted := strings.TrimSpace(text.String())
		return quoted[1 : len(quoted)-1]
	}
	plain := inJSON(false)
	return []string{
		value, plain, inJSON(true), strings.ReplaceAll(plain, "/", `\/`),
		url.QueryEscape(value), url.PathEscape(value), html.EscapeString(value),
	}
}

func (s *secretSet) redact(text string) string {
	s.mu.Lock()
	values := slices.Clone(s.values)
	s.mu.Unlock()
	for _, value := range values {
		text = strings.ReplaceAll(text, value, Redacted)
	}
	return Redact(text)
}
