package provider_test

import (
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name      string
		asked     int64
		most      int64 // of the model
		level     message.ThinkingLevel
		reasoning bool
		want      int64
	}{
		{"nothing is known", 0, 0, message.ThinkingHigh, true, 0},
		{"the model's own", 0, 16000, message.ThinkingHigh, true, 16000},
		{"thinking comes on top", 1600, 16000, message.ThinkingMedium, true, 9792},
		{"as far as the model allows", 1600, 4000, message.ThinkingMedium, true, 4000},
		{"the model's is not known", 1600, 0, message.ThinkingLow, true, 3648},
		{"thinking is off", 1600, 16000, message.ThinkingOff, true, 1600},
		{"the model does not think", 1600, 16000, message.ThinkingMedium, false, 1600},
		{"more than the model has", 64000, 16000, message.ThinkingOff, false, 16000},
	} {
		r := provider.Request{MaxTokens: c.asked, Thinking: c.level, Model: message.Model{MaxTokens: c.most, Reasoning: c.reasoning}}
		if got := r.Limit(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
