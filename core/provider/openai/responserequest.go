package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/history"
)

// leastOutput is the smallest limit that the API takes.
const leastOutput = 16

// response makes the body of a request to the responses API.
func response(req provider.Request, q quirks, longCache bool) sdk.ResponseNewParams {
	params := sdk.ResponseNewParams{
		Model: req.Model.ID,
		Input: sdk.ResponseNewParamsInputUnion{OfInputItemList: items(req, q)},
		Store: param.NewOpt(false),
		Tools: responseTools(req.Tools),
	}
	if limit := req.Limit(); limit > 0 {
		params.MaxOutputTokens = param.NewOpt(max(limit, leastOutput))
	}
	if req.SessionID != "" {
		params.PromptCacheKey = param.NewOpt(cacheKey(req.SessionID))
		if longCache && unlessOff(q.SupportsLongCacheRetention) {
			params.PromptCacheRetention = sdk.ResponseNewParamsPromptCacheRetention24h
		}
	}
	if req.Model.Reasoning {
		setReasoning(&params, req, q)
	}
	extra := map[string]any{}
	for name, value := range q.SamplingParams {
		extra[name] = value
	}
	params.SetExtraFields(extra)
	return params
}

func setReasoning(params *sdk.ResponseNewParams, req provider.Request, q quirks) {
	word := effort(req, q)
	if !thinks(req) {
		if word == "" {
			word = "none"
		}
		params.Reasoning.Effort = shared.ReasoningEffort(word)
		return
	}
	params.Reasoning.Effort = shared.ReasoningEffort(word)
	params.Reasoning.Summary = shared.ReasoningSummaryAuto
	params.Include = []sdk.ResponseIncludable{sdk.ResponseIncludableReasoningEncryptedContent}
}

func responseTools(list []provider.Tool) []sdk.ToolUnionParam {
	var out []sdk.ToolUnionParam
	for _, t := range list {
		tool := sdk.FunctionToolParam{Name: t.Name}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		// The SDK's map would lose the order of the arguments, which models
		// follow.
		tool.SetExtraFields(map[string]any{"parameters": schema(t.Parameters)})
		out = append(out, sdk.ToolUnionParam{OfFunction: &tool})
	}
	return out
}

// items turns the messages of a request into the API's items.
func items(req provider.Request, q quirks) sdk.ResponseInputParam {
	var out sdk.ResponseInputParam
	if !history.Blank(req.System) {
		role := sdk.EasyInputMessageRoleSystem
		if req.Model.Reasoning && unlessOff(q.SupportsDeveloperRole) {
			role = sdk.EasyInputMessageRoleDeveloper
		}
		out = append(out, sdk.ResponseInputItemParamOfMessage(req.System, role))
	}
	asked := false // the last item is something to answer
	for i, m := range history.Sound(req.Messages, false, wireCallID) {
		switch m := m.(type) {
		case *message.User:
			if content := inputs(history.Said(m.Content.Blocks(), req.Model)); len(content) > 0 {
				out, asked = append(out, sdk.ResponseInputItemParamOfMessage(content, sdk.EasyInputMessageRoleUser)), true
			}
		case *message.Assistant:
			if list := answered(m, i, req.Model); len(list) > 0 {
				out, asked = append(out, list...), false
			}
		case *message.ToolResult:
			out, asked = append(out, output(m, req.Model)), true
		}
	}
	if !asked {
		// The last message was blank, and is left out as all such are; but the
		// API wants something to answer.
		content := inputs([]message.Block{message.TextBlock(history.NothingSaid)})
		out = append(out, sdk.ResponseInputItemParamOfMessage(content, sdk.EasyInputMessageRoleUser))
	}
	return out
}

func inputs(content []message.Block) sdk.ResponseInputMessageContentListParam {
	var out sdk.ResponseInputMessageContentListParam
	for _, b := range content {
		part := sdk.ResponseInputContentParamOfInputText(b.Text)
		if b.Type == message.BlockImage {
			part = sdk.ResponseInputContentParamOfInputImage(sdk.ResponseInputImageDetailAuto)
			part.OfInputImage.ImageURL = param.NewOpt(dataURL(b))
		}
		out = append(out, part)
	}
	return out
}

// answered turns one answer into items. Those of the model's own carry their
// ids, since the service checks that thinking and what came of it belong
// together; thinking without anything behind it is refused, and left out.
func answered(m *message.Assistant, position int, model message.Model) sdk.ResponseInputParam {
	var out sdk.ResponseInputParam
	var waiting sdk.ResponseInputParam // thinking that nothing followed yet
	own := history.SameModel(m, model)
	whole := own
	for i, b := range m.Content {
		var item sdk.ResponseInputItemUnionParam
		switch {
		case b.Type == message.BlockThinking && own:
			if raw, ok := reasoningItem(b.ThinkingSignature); ok {
				override := param.Override[sdk.ResponseReasoningItemParam](raw)
				waiting = append(waiting, sdk.ResponseInputItemUnionParam{OfReasoning: &override})
			} else {
				whole = false
			}
			continue
		case b.Type == message.BlockThinking && !b.Redacted && !history.Blank(b.Thinking):
			item = spoken(b.Thinking, "", position, i)
		case b.Type == message.BlockText && !history.Blank(b.Text):
			signature := ""
			if own {
				signature = b.TextSignature
			}
			item = spoken(b.Text, signature, position, i)
		case b.Type == message.BlockToolCall:
			call, id := splitCallID(b.ID)
			item = sdk.ResponseInputItemParamOfFunctionCall(string(history.Arguments(b)), call, b.Name)
			if whole && id != "" {
				item.OfFunctionCall.ID = param.NewOpt(id)
			}
		default:
			continue
		}
		out = append(append(out, waiting...), item)
		waiting = nil
	}
	return out
}

// reasoningItem gives the item that a signature holds.
func reasoningItem(signature string) (json.RawMessage, bool) {
	var head struct{ Type string }
	if json.Unmarshal([]byte(signature), &head) != nil || head.Type != "reasoning" {
		return nil, false
	}
	return json.RawMessage(signature), true
}

// textSignature is what a text block keeps of the item it came in. The form
// is that of the reference session files.
type textSignature struct {
	Version int    `json:"v"`
	ID      string `json:"id"`
	Phase   string `json:"phase,omitempty"`
}

func spoken(text, signature string, position, block int) sdk.ResponseInputItemUnionParam {
	var s textSignature
	if json.Unmarshal([]byte(signature), &s) != nil || !strings.HasPrefix(s.ID, "msg_") || len(s.ID) > 64 {
		s = textSignature{ID: fmt.Sprintf("msg_%d_%d", position, block)}
	}
	content := []sdk.ResponseOutputMessageContentUnionParam{{OfOutputText: &sdk.ResponseOutputTextParam{
		Text:        text,
		Annotations: []sdk.ResponseOutputTextAnnotationUnionParam{},
	}}}
	item := sdk.ResponseInputItemParamOfOutputMessage(content, s.ID, sdk.ResponseOutputMessageStatusCompleted)
	item.OfOutputMessage.Phase = sdk.ResponseOutputMessagePhase(s.Phase)
	return item
}

// A tool call has two ids here, one of the call and one of its item. They are
// kept as one, with a bar between them.
const callIDBar = "|"

// splitCallID gives the id of a call and, where it is one of this API's, that
// of its item.
func splitCallID(id string) (call, item string) {
	before, after, found := strings.Cut(id, callIDBar)
	if found && strings.HasPrefix(after, "fc") {
		return history.CallID(before, longestResponseCallID), after
	}
	return history.CallID(id, longestResponseCallID), ""
}

func wireCallID(id string) string {
	call, _ := splitCallID(id)
	return call
}

// longestResponseCallID is what the API allows.
const longestResponseCallID = 64

func output(m *message.ToolResult, model message.Model) sdk.ResponseInputItemUnionParam {
	call, _ := splitCallID(m.ToolCallID)
	text, images := history.Result(m.Content, model)
	out := sdk.ResponseInputItemFunctionCallOutputParam{CallID: call}
	if len(images) == 0 {
		if text == "" {
			text = noOutput
		}
		out.Output.OfString = param.NewOpt(text)
		return sdk.ResponseInputItemUnionParam{OfFunctionCallOutput: &out}
	}
	var list sdk.ResponseFunctionCallOutputItemListParam
	if !history.Blank(text) {
		list = append(list, sdk.ResponseFunctionCallOutputItemUnionParam{OfInputText: &sdk.ResponseInputTextContentParam{Text: text}})
	}
	for _, b := range images {
		list = append(list, sdk.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &sdk.ResponseInputImageContentParam{
			ImageURL: param.NewOpt(dataURL(b)),
			Detail:   sdk.ResponseInputImageContentDetailAuto,
		}})
	}
	out.Output.OfResponseFunctionCallOutputItemArray = list
	return sdk.ResponseInputItemUnionParam{OfFunctionCallOutput: &out}
}
