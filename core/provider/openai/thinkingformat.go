package openai

import "encoding/json"

// wish is what a request wants of the model's thinking.
type wish struct {
	on     bool
	effort string // the service's word; empty: none
	quirks quirks
}

// thinkingFormats are the ways in which services are told to think. Each adds
// its members to the body of a request to a model with reasoning. The names
// are those of compat.thinkingFormat; the empty one is OpenAI's own.
var thinkingFormats = map[string]func(w wish, body map[string]any){
	"":                 openaiThinking,
	"openai":           openaiThinking,
	"reasoning_effort": openaiThinking,
	"openrouter": func(w wish, body map[string]any) {
		body["reasoning"] = map[string]any{"effort": orNone(w)}
	},
	"deepseek": func(w wish, body map[string]any) {
		body["thinking"] = map[string]any{"type": enabled(w)}
		openaiThinking(w, body)
	},
	"together": func(w wish, body map[string]any) {
		body["reasoning"] = map[string]any{"enabled": w.on}
		openaiThinking(w, body)
	},
	"zai": func(w wish, body map[string]any) {
		thinking := map[string]any{"type": enabled(w)}
		if w.on {
			thinking["clear_thinking"] = false // keep that of earlier turns
		}
		body["thinking"] = thinking
		openaiThinking(w, body)
	},
	"qwen": func(w wish, body map[string]any) {
		body["enable_thinking"] = w.on
		openaiThinking(w, body)
	},
	"qwen-chat-template": func(w wish, body map[string]any) {
		body["chat_template_kwargs"] = map[string]any{"enable_thinking": w.on, "preserve_thinking": true}
	},
	"chat-template": func(w wish, body map[string]any) {
		body["chat_template_kwargs"] = fill(w.quirks.ChatTemplateKwargs, w)
	},
	"baseten": func(w wish, body map[string]any) {
		body["chat_template_args"] = fill(w.quirks.ChatTemplateArgs, w)
		openaiThinking(w, body)
	},
	"string-thinking": func(w wish, body map[string]any) {
		body["thinking"] = orNone(w)
	},
	"ant-ling": func(wish, map[string]any) {}, // thinks as it likes
}

func openaiThinking(w wish, body map[string]any) {
	if w.effort != "" && unlessOff(w.quirks.SupportsReasoningEffort) {
		body["reasoning_effort"] = w.effort
	}
}

func orNone(w wish) string {
	if w.effort == "" {
		return "none"
	}
	return w.effort
}

func enabled(w wish) string {
	if w.on {
		return "enabled"
	}
	return "disabled"
}

// fill puts what the request wants in the place of variables:
// {"$var": "thinking.enabled"} and {"$var": "thinking.effort"}. A variable
// without a value, or with omitWhenOff when thinking is off, is left out.
func fill(template map[string]json.RawMessage, w wish) map[string]any {
	out := map[string]any{}
	for name, value := range template {
		var variable struct {
			Name        string `json:"$var"`
			OmitWhenOff bool   `json:"omitWhenOff"`
		}
		if json.Unmarshal(value, &variable) != nil || variable.Name == "" {
			out[name] = value
			continue
		}
		switch {
		case variable.OmitWhenOff && !w.on:
		case variable.Name == "thinking.enabled":
			out[name] = w.on
		case variable.Name == "thinking.effort" && w.effort != "":
			out[name] = w.effort
		}
	}
	return out
}
