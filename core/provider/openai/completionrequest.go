package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/seed-54e836f5/pi/core/provider"
)

// completion makes the body of a chat completion.
func completion(req provider.Request, q quirks, longCache bool) (sdk.ChatCompletionNewParams, error) {
	marks := q.CacheControlFormat == "anthropic"
	params := sdk.ChatCompletionNewParams{
		Model:    req.Model.ID,
		Messages: (&conversation{req: req, quirks: q, marks: marks}).messages(),
		Tools:    completionTools(req.Tools, q, marks),
	}
	if unlessOff(q.SupportsUsageInStreaming) {
		params.StreamOptions.IncludeUsage = sdk.Bool(true)
	}
	if unlessOff(q.SupportsStore) {
		params.Store = sdk.Bool(false)
	}
	if limit := req.Limit(); limit > 0 {
		if q.MaxTokensField == "max_tokens" {
			params.MaxTokens = sdk.Int(limit)
		} else {
			params.MaxCompletionTokens = sdk.Int(limit)
		}
	}
	if hostOf(req.Model.BaseURL) == hostOf(defaultBaseURL) && req.SessionID != "" {
		params.PromptCacheKey = sdk.String(cacheKey(req.SessionID))
		if longCache && unlessOff(q.SupportsLongCacheRetention) {
			params.PromptCacheRetention = sdk.ChatCompletionNewParamsPromptCacheRetention24h
		}
	}
	extra, err := extras(req, q)
	params.SetExtraFields(extra)
	return params, err
}

// longestCacheKey is what the API takes.
const longestCacheKey = 64

func cacheKey(session string) string { return session[:min(len(session), longestCacheKey)] }

// extras are the members of the body that the SDK has no fields for, or that
// quirks put there. samplingParams come last, and win.
func extras(req provider.Request, q quirks) (map[string]any, error) {
	out := map[string]any{}
	if req.Model.Reasoning {
		format, ok := thinkingFormats[q.ThinkingFormat]
		if !ok {
			return nil, provider.Errorf(provider.Invalid, "compat.thinkingFormat of the model, in models.json, is %q, which is none that is known", q.ThinkingFormat)
		}
		format(wish{on: thinks(req), effort: effort(req, q), quirks: q}, out)
	}
	if len(q.OpenRouterRouting) > 0 {
		out["provider"] = q.OpenRouterRouting
	}
	if len(q.VercelGatewayRouting) > 0 {
		out["providerOptions"] = map[string]any{"gateway": q.VercelGatewayRouting}
	}
	for name, value := range q.SamplingParams {
		out[name] = value
	}
	return out, nil
}

var cacheMark = json.RawMessage(`{"type":"ephemeral"}`)

func completionTools(list []provider.Tool, q quirks, marks bool) []sdk.ChatCompletionToolUnionParam {
	var out []sdk.ChatCompletionToolUnionParam
	for i, t := range list {
		function := shared.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			function.Description = sdk.String(t.Description)
		}
		if unlessOff(q.SupportsStrictMode) {
			function.Strict = sdk.Bool(false)
		}
		// The SDK's map would lose the order of the arguments, which models
		// follow.
		function.SetExtraFields(map[string]any{"parameters": schema(t.Parameters)})
		tool := sdk.ChatCompletionFunctionToolParam{Function: function}
		if marks && i == len(list)-1 {
			tool.SetExtraFields(map[string]any{"cache_control": cacheMark})
		}
		out = append(out, sdk.ChatCompletionToolUnionParam{OfFunction: &tool})
	}
	return out
}
