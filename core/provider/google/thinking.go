package google

import (
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// thinkers are the ways in which models are told to think, by a part of their
// id; the first that fits counts. A model has budgets in tokens or levels by
// name, for off, minimal, low, medium and high.
var thinkers = []struct {
	id      string // all of these words
	budgets [5]int64
	levels  [5]string
}{
	{id: "gemini-3 pro", levels: [5]string{"LOW", "LOW", "LOW", "HIGH", "HIGH"}},
	{id: "gemini-3 flash", levels: [5]string{"MINIMAL", "MINIMAL", "LOW", "MEDIUM", "HIGH"}},
	{id: "gemma-4", levels: [5]string{"MINIMAL", "MINIMAL", "MINIMAL", "HIGH", "HIGH"}},
	// This one cannot be told not to think.
	{id: "2.5-pro", budgets: [5]int64{128, 128, 2048, 8192, 32768}},
	{id: "2.5-flash-lite", budgets: [5]int64{0, 512, 2048, 8192, 24576}},
	{id: "2.5-flash", budgets: [5]int64{0, 128, 2048, 8192, 24576}},
	// As much as it likes.
	{id: "", budgets: [5]int64{0, -1, -1, -1, -1}},
}

// steps are the places of the levels in the rows.
var steps = map[message.ThinkingLevel]int{
	message.ThinkingMinimal: 1,
	message.ThinkingLow:     2,
	message.ThinkingMedium:  3,
	message.ThinkingHigh:    4,
	message.ThinkingXHigh:   4,
	message.ThinkingMax:     4,
}

// thinking asks for thinking as the level says; nil for a model without
// reasoning.
func thinking(req provider.Request) *thinkingConfig {
	if !req.Model.Reasoning {
		return nil
	}
	step := steps[req.Thinking] // 0 for off, and words that are no level
	out := &thinkingConfig{IncludeThoughts: step > 0}
	if word := req.Model.ThinkingWords[req.Thinking]; word != nil && *word != "" {
		out.ThinkingLevel = strings.ToUpper(*word)
		return out
	}
	for _, row := range thinkers {
		if !fits(row.id, req.Model.ID) {
			continue
		}
		if level := row.levels[step]; level != "" {
			out.ThinkingLevel = level
			return out
		}
		budget := row.budgets[step]
		if own := req.ThinkingBudgets[req.Thinking]; own > 0 && step > 0 {
			budget = own
		}
		out.ThinkingBudget = &budget
		return out
	}
	return out
}

func fits(words, id string) bool {
	for _, word := range strings.Fields(words) {
		if !strings.Contains(id, word) {
			return false
		}
	}
	return true
}
