package provider

import "github.com/seed-54e836f5/pi/core/message"

// thinkingBudgets are the thinking tokens of each level.
var thinkingBudgets = map[message.ThinkingLevel]int64{
	message.ThinkingMinimal: 1024,
	message.ThinkingLow:     2048,
	message.ThinkingMedium:  8192,
	message.ThinkingHigh:    16384,
	message.ThinkingXHigh:   16384,
	message.ThinkingMax:     16384,
}

// ThinkingBudget is how many tokens of thinking a level stands for; 0 for off
// and for words that are no level.
func ThinkingBudget(level message.ThinkingLevel) int64 { return thinkingBudgets[level] }

// ThinkingBudget is how many tokens of thinking the request asks for: what the
// user set for its level, or else what the level stands for.
func (r Request) ThinkingBudget() int64 {
	if tokens := r.ThinkingBudgets[r.Thinking]; tokens > 0 {
		return tokens
	}
	return ThinkingBudget(r.Thinking)
}

// Limit is how many tokens the whole answer may have, for services that count
// its thinking too: the thinking comes on top of what MaxTokens leaves for the
// answer, as far as the model allows. 0: neither is known.
func (r Request) Limit() int64 {
	most := r.Model.MaxTokens
	if r.MaxTokens <= 0 {
		return most
	}
	limit := r.MaxTokens
	if r.Model.Reasoning {
		limit += r.ThinkingBudget()
	}
	if most > 0 {
		limit = min(limit, most)
	}
	return limit
}
