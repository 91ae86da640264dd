package adapters_test

import (
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/adapters"
)

// The names are part of models.json and of session files.
func TestEveryAPIHasAnAdapter(t *testing.T) {
	for _, api := range []string{"anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai", "demo"} {
		if p, err := adapters.ForAPI(api, provider.Options{}); err != nil || p == nil {
			t.Errorf("%s: %v, error %v", api, p, err)
		}
	}
	_, err := adapters.ForAPI("telepathy", provider.Options{})
	if err == nil || !strings.Contains(err.Error(), "telepathy") || !strings.Contains(err.Error(), "anthropic-messages, demo, google-generative-ai") {
		t.Errorf("an unknown API: error %v", err)
	}
}
