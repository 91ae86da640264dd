package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

const (
	// leastBudget is the smallest budget of thinking tokens that the API takes.
	leastBudget = 1024
	// leastAnswer is what is left for the answer behind the thinking.
	leastAnswer = 1024
)

// efforts are the words of models that set their own budget.
var efforts = map[message.ThinkingLevel]sdk.OutputConfigEffort{
	message.ThinkingMinimal: sdk.OutputConfigEffortLow,
	message.ThinkingLow:     sdk.OutputConfigEffortLow,
	message.ThinkingMedium:  sdk.OutputConfigEffortMedium,
	message.ThinkingHigh:    sdk.OutputConfigEffortHigh,
	message.ThinkingXHigh:   sdk.OutputConfigEffortXhigh,
	message.ThinkingMax:     sdk.OutputConfigEffortMax,
}

// setThinking asks for thinking as the level says. A model without reasoning
// is not told anything about it.
func setThinking(params *sdk.MessageNewParams, req provider.Request, q quirks) {
	if !req.Model.Reasoning {
		return
	}
	wanted := req.ThinkingBudget()
	budget := min(max(wanted, leastBudget), params.MaxTokens-leastAnswer)
	switch {
	case wanted == 0:
		params.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
	case q.ForceAdaptiveThinking:
		params.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		params.OutputConfig.Effort = effort(req)
	case budget < leastBudget:
		params.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
	default:
		params.Thinking.OfEnabled = &sdk.ThinkingConfigEnabledParam{
			BudgetTokens: budget,
			Display:      sdk.ThinkingConfigEnabledDisplaySummarized,
		}
	}
}

func effort(req provider.Request) sdk.OutputConfigEffort {
	if word := req.Model.ThinkingWords[req.Thinking]; word != nil && *word != "" {
		return sdk.OutputConfigEffort(*word)
	}
	return efforts[req.Thinking]
}
