package openai

import (
	"encoding/json"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
)

// quirks are the members of compat in models.json that these APIs have, and
// samplingParams beside them. The names are those of the reference
// configuration; others are left alone. A nil *bool means yes.
type quirks struct {
	SupportsStore              *bool  `json:"supportsStore"`
	SupportsDeveloperRole      *bool  `json:"supportsDeveloperRole"`
	SupportsReasoningEffort    *bool  `json:"supportsReasoningEffort"`
	SupportsUsageInStreaming   *bool  `json:"supportsUsageInStreaming"`
	SupportsFinishReason       *bool  `json:"supportsFinishReason"`
	SupportsStrictMode         *bool  `json:"supportsStrictMode"`
	SupportsLongCacheRetention *bool  `json:"supportsLongCacheRetention"`
	MaxTokensField             string `json:"maxTokensField"`

	RequiresToolResultName           bool `json:"requiresToolResultName"`
	RequiresAssistantAfterToolResult bool `json:"requiresAssistantAfterToolResult"`
	RequiresThinkingAsText           bool `json:"requiresThinkingAsText"`
	RequiresReasoningContent         bool `json:"requiresReasoningContentOnAssistantMessages"`
	// RequiresShortCallIDs asks for ids of tool calls of nine letters and
	// digits. It has no name in the reference configuration.
	RequiresShortCallIDs bool `json:"requiresShortCallIds"`

	ThinkingFormat     string                     `json:"thinkingFormat"`
	ChatTemplateKwargs map[string]json.RawMessage `json:"chatTemplateKwargs"`
	ChatTemplateArgs   map[string]json.RawMessage `json:"chatTemplateArgs"`
	// ReasoningEffortMap is what thinkingLevelMap of a model was called once.
	ReasoningEffortMap map[message.ThinkingLevel]*string `json:"reasoningEffortMap"`

	CacheControlFormat         string          `json:"cacheControlFormat"`
	SendSessionAffinityHeaders bool            `json:"sendSessionAffinityHeaders"`
	SessionAffinityFormat      string          `json:"sessionAffinityFormat"`
	OpenRouterRouting          json.RawMessage `json:"openRouterRouting"`
	VercelGatewayRouting       json.RawMessage `json:"vercelGatewayRouting"`

	SamplingParams map[string]json.RawMessage `json:"samplingParams"`
}

// readQuirks gives what is known of the host of the base URL, with what
// models.json says on top.
func readQuirks(req provider.Request) (quirks, error) {
	var q quirks
	if known := quirksOf(hostOf(req.Model.BaseURL)); known != "" {
		if err := json.Unmarshal([]byte(known), &q); err != nil {
			panic("openai: the table of hosts: " + err.Error())
		}
	}
	if len(req.Compat) == 0 {
		return q, nil
	}
	if err := json.Unmarshal(req.Compat, &q); err != nil {
		return q, provider.Errorf(provider.Invalid, "compat of the model, in models.json: %w", err)
	}
	return q, nil
}

func quirksOf(host string) string {
	for _, row := range hosts {
		if host == row.domain || strings.HasSuffix(host, "."+row.domain) {
			return row.quirks
		}
	}
	return ""
}

// Sets of quirks that several hosts share.
const (
	// basic servers take the system prompt as such and nothing of OpenAI's
	// own.
	basic = `{"supportsStore":false,"supportsDeveloperRole":false}`
	// older ones also keep to the first name of the limit.
	older = `{"supportsStore":false,"supportsDeveloperRole":false,"maxTokensField":"max_tokens"}`
	// plainer ones know no reasoning_effort and no strict mode either.
	plainer = `{"supportsStore":false,"supportsDeveloperRole":false,"maxTokensField":"max_tokens","supportsReasoningEffort":false,"supportsStrictMode":false}`
	zai     = `{"supportsStore":false,"supportsDeveloperRole":false,"maxTokensField":"max_tokens","thinkingFormat":"zai","supportsReasoningEffort":false}`
)

// hosts are services that are known to differ from OpenAI, by domain.
var hosts = []struct{ domain, quirks string }{
	{"deepseek.com", `{"supportsStore":false,"supportsDeveloperRole":false,"maxTokensField":"max_tokens","thinkingFormat":"deepseek","requiresReasoningContentOnAssistantMessages":true}`},
	{"mistral.ai", `{"supportsStore":false,"supportsDeveloperRole":false,"maxTokensField":"max_tokens","supportsReasoningEffort":false,"supportsUsageInStreaming":false,"requiresAssistantAfterToolResult":true,"requiresThinkingAsText":true,"requiresShortCallIds":true}`},
	{"openrouter.ai", `{"supportsDeveloperRole":false,"thinkingFormat":"openrouter"}`},
	{"together.xyz", `{"supportsStore":false,"supportsDeveloperRole":false,"maxTokensField":"max_tokens","thinkingFormat":"together","supportsReasoningEffort":false,"supportsStrictMode":false}`},
	{"together.ai", `{"supportsStore":false,"supportsDeveloperRole":false,"maxTokensField":"max_tokens","thinkingFormat":"together","supportsReasoningEffort":false,"supportsStrictMode":false}`},
	{"aliyuncs.com", `{"supportsStore":false,"supportsDeveloperRole":false,"maxTokensField":"max_tokens","thinkingFormat":"qwen","supportsReasoningEffort":false}`},
	{"x.ai", `{"supportsStore":false,"supportsDeveloperRole":false,"supportsReasoningEffort":false}`},
	{"z.ai", zai},
	{"bigmodel.cn", zai},
	{"moonshot.ai", plainer},
	{"moonshot.cn", plainer},
	{"nvidia.com", plainer},
	{"gateway.ai.cloudflare.com", plainer},
	{"chutes.ai", older},
	{"fireworks.ai", older},
	{"cerebras.ai", basic},
	{"groq.com", basic},
	{"opencode.ai", basic},
	{"huggingface.co", basic},
	{"baseten.co", basic},
	{"nebius.com", basic},
	{"vercel.sh", basic},
	{"githubcopilot.com", basic},
}

func unlessOff(setting *bool) bool { return setting == nil || *setting }
