package message_test

import (
	"slices"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
)

func TestThinkingLevelsOfAModel(t *testing.T) {
	word := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		model message.Model
		want  []message.ThinkingLevel
		clamp map[message.ThinkingLevel]message.ThinkingLevel
	}{
		"no reasoning": {message.Model{}, []message.ThinkingLevel{"off"}, map[message.ThinkingLevel]message.ThinkingLevel{"high": "off"}},
		"usual":        {message.Model{Reasoning: true}, []message.ThinkingLevel{"off", "minimal", "low", "medium", "high"}, map[message.ThinkingLevel]message.ThinkingLevel{"max": "high", "low": "low", "nonsense": "off"}},
		"extended": {message.Model{Reasoning: true, ThinkingLevels: []message.ThinkingLevel{"max"}}, []message.ThinkingLevel{"off", "minimal", "low", "medium", "high", "max"},
			map[message.ThinkingLevel]message.ThinkingLevel{"xhigh": "high", "max": "max"}},
		"with holes": {message.Model{Reasoning: true, ThinkingWords: map[message.ThinkingLevel]*string{"minimal": nil, "low": nil, "medium": nil, "high": word("high"), "xhigh": nil, "max": word("max")}},
			[]message.ThinkingLevel{"off", "high", "max"}, map[message.ThinkingLevel]message.ThinkingLevel{"medium": "off", "xhigh": "high"}},
		"always thinking": {message.Model{Reasoning: true, ThinkingWords: map[message.ThinkingLevel]*string{"off": nil}}, []message.ThinkingLevel{"minimal", "low", "medium", "high"},
			map[message.ThinkingLevel]message.ThinkingLevel{"off": "minimal"}},
	} {
		if got := c.model.Levels(); !slices.Equal(got, c.want) {
			t.Errorf("%s: levels %v, want %v", name, got, c.want)
		}
		for asked, want := range c.clamp {
			if got := c.model.Clamp(asked); got != want {
				t.Errorf("%s: clamp %s gives %s, want %s", name, asked, got, want)
			}
		}
	}
}
