package anthropic

import (
	"cmp"
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/history"
)

// build makes the body of a request. Three marks tell the service to cache
// what comes before them: at the system prompt, at the last tool and at the
// end of the last user message.
func build(req provider.Request, q quirks, longCache bool) sdk.MessageNewParams {
	mark := sdk.NewCacheControlEphemeralParam()
	if longCache && unlessOff(q.SupportsLongCacheRetention) {
		mark.TTL = sdk.CacheControlEphemeralTTLTTL1h
	}
	params := sdk.MessageNewParams{
		Model:     req.Model.ID,
		MaxTokens: maxTokens(req),
		Messages:  conversation(req, q, mark),
		Tools:     tools(req.Tools, q, mark),
	}
	if !history.Blank(req.System) {
		params.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: mark}}
	}
	setThinking(&params, req, q)
	return params
}

// fallbackMaxTokens is for a model that does not say its own limit; the API
// insists on one.
const fallbackMaxTokens = 16384

// longestCallID is what the API allows.
const longestCallID = 64

func maxTokens(req provider.Request) int64 {
	if limit := req.Limit(); limit > 0 {
		return limit
	}
	return fallbackMaxTokens
}

func tools(list []provider.Tool, q quirks, mark sdk.CacheControlEphemeralParam) []sdk.ToolUnionParam {
	var out []sdk.ToolUnionParam
	for i, t := range list {
		tool := &sdk.ToolParam{
			Name:        t.Name,
			InputSchema: param.Override[sdk.ToolInputSchemaParam](schema(t.Parameters)),
		}
		if t.Description != "" {
			tool.Description = sdk.String(t.Description)
		}
		if unlessOff(q.SupportsEagerToolInputStreaming) {
			tool.EagerInputStreaming = sdk.Bool(true)
		}
		if i == len(list)-1 && unlessOff(q.SupportsCacheControlOnTools) {
			tool.CacheControl = mark
		}
		out = append(out, sdk.ToolUnionParam{OfTool: tool})
	}
	return out
}

func schema(parameters json.RawMessage) json.RawMessage {
	if len(parameters) == 0 {
		return json.RawMessage(`{"type":"object","properties":{},"required":[]}`)
	}
	if gjson.GetBytes(parameters, "required").Exists() {
		return parameters
	}
	if complete, err := sjson.SetRawBytes(parameters, "required", []byte("[]")); err == nil {
		return complete
	}
	return parameters
}

func conversation(req provider.Request, q quirks, mark sdk.CacheControlEphemeralParam) []sdk.MessageParam {
	var out []sdk.MessageParam
	add := func(role sdk.MessageParamRole, blocks []sdk.ContentBlockParamUnion) {
		if len(blocks) > 0 {
			out = append(out, sdk.MessageParam{Role: role, Content: blocks})
		}
	}
	list := history.Sound(req.Messages, true, callID)
	for i := 0; i < len(list); i++ {
		switch m := list[i].(type) {
		case *message.User:
			add(sdk.MessageParamRoleUser, said(m.Content.Blocks(), req.Model))
		case *message.Assistant:
			add(sdk.MessageParamRoleAssistant, answered(m, req.Model, q))
		case *message.ToolResult:
			// The results of one answer's calls belong into one message.
			blocks := []sdk.ContentBlockParamUnion{result(m, req.Model)}
			for ; i+1 < len(list); i++ {
				next, ok := list[i+1].(*message.ToolResult)
				if !ok {
					break
				}
				blocks = append(blocks, result(next, req.Model))
			}
			add(sdk.MessageParamRoleUser, blocks)
		}
	}
	if n := len(out); n == 0 || out[n-1].Role != sdk.MessageParamRoleUser {
		// The last message was blank, and is left out as all such are; but the
		// API wants something to answer.
		add(sdk.MessageParamRoleUser, []sdk.ContentBlockParamUnion{sdk.NewTextBlock(history.NothingSaid)})
	}
	last := out[len(out)-1].Content
	*last[len(last)-1].GetCacheControl() = mark
	return out
}

func said(content []message.Block, model message.Model) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	for _, b := range history.Said(content, model) {
		if b.Type == message.BlockImage {
			out = append(out, sdk.NewImageBlockBase64(b.MimeType, b.Data))
		} else {
			out = append(out, sdk.NewTextBlock(b.Text))
		}
	}
	return out
}

func answered(m *message.Assistant, model message.Model, q quirks) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	own := history.SameModel(m, model)
	for _, b := range m.Content {
		switch b.Type {
		case message.BlockText:
			if !history.Blank(b.Text) {
				out = append(out, sdk.NewTextBlock(b.Text))
			}
		case message.BlockThinking:
			out = append(out, thought(b, own, q)...)
		case message.BlockToolCall:
			out = append(out, sdk.NewToolUseBlock(callID(b.ID), history.Arguments(b), b.Name))
		}
	}
	return out
}

// thought gives thinking back as the service sent it, or, where it came from
// another model or was cut off before its signature, as plain text.
func thought(b message.Block, own bool, q quirks) []sdk.ContentBlockParamUnion {
	signed := b.ThinkingSignature != "" || q.AllowEmptySignature
	switch {
	case b.Redacted && own:
		return []sdk.ContentBlockParamUnion{sdk.NewRedactedThinkingBlock(b.ThinkingSignature)}
	case b.Redacted:
		return nil
	case own && signed && (b.Thinking != "" || b.ThinkingSignature != ""):
		return []sdk.ContentBlockParamUnion{sdk.NewThinkingBlock(b.ThinkingSignature, b.Thinking)}
	case history.Blank(b.Thinking):
		return nil
	}
	return []sdk.ContentBlockParamUnion{sdk.NewTextBlock(b.Thinking)}
}

func callID(id string) string { return history.CallID(id, longestCallID) }

// result makes the block of a tool result. Without images its content is a
// plain string, which the SDK has no type for.
func result(m *message.ToolResult, model message.Model) sdk.ContentBlockParamUnion {
	block := sdk.ToolResultBlockParam{ToolUseID: callID(m.ToolCallID), IsError: sdk.Bool(m.IsError)}
	text, images := history.Result(m.Content, model)
	if len(images) == 0 {
		block.SetExtraFields(map[string]any{"content": cmp.Or(text, "(no output)")})
		return sdk.ContentBlockParamUnion{OfToolResult: &block}
	}
	if history.Blank(text) {
		text = "(the result is an image)"
	}
	block.Content = append(block.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: text}})
	for _, b := range images {
		image := sdk.NewImageBlockBase64(b.MimeType, b.Data).OfImage
		block.Content = append(block.Content, sdk.ToolResultBlockParamContentUnion{OfImage: image})
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &block}
}
