package openai

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/history"
)

// Texts that stand where the API wants one and the conversation has none.
const (
	imagesFollow = "(the image follows)"
	imagesOf     = "Images that the tools gave:"
	noOutput     = "(no output)"
	goOn         = "I have read the results."
)

// conversation turns the messages of a request into the API's.
type conversation struct {
	req    provider.Request
	quirks quirks
	marks  bool // put Anthropic's cache marks
	out    []sdk.ChatCompletionMessageParamUnion

	afterResult bool // the last message is a tool result
}

func (c *conversation) messages() []sdk.ChatCompletionMessageParamUnion {
	c.system()
	list := history.Sound(c.req.Messages, false, c.callID)
	for i := 0; i < len(list); i++ {
		switch m := list[i].(type) {
		case *message.User:
			c.user(history.Said(m.Content.Blocks(), c.req.Model))
		case *message.Assistant:
			c.assistant(m)
		case *message.ToolResult:
			var images []message.Block
			for ; ; i++ {
				images = append(images, c.result(list[i].(*message.ToolResult))...)
				if i+1 == len(list) || list[i+1].Role() != message.RoleToolResult {
					break
				}
			}
			if len(images) > 0 {
				c.user(append([]message.Block{message.TextBlock(imagesOf)}, images...))
			}
		}
	}
	if n := len(c.out); n == 0 || c.out[n-1].OfUser == nil && c.out[n-1].OfTool == nil {
		// The last message was blank, and is left out as all such are; but the
		// API wants something to answer.
		c.user([]message.Block{message.TextBlock(history.NothingSaid)})
	}
	if c.marks {
		c.markLast()
	}
	return c.out
}

func (c *conversation) system() {
	text := c.req.System
	switch {
	case history.Blank(text):
	case c.req.Model.Reasoning && unlessOff(c.quirks.SupportsDeveloperRole):
		c.out = append(c.out, sdk.DeveloperMessage(text))
	default:
		c.out = append(c.out, sdk.SystemMessage(text))
	}
	if c.marks && len(c.out) > 0 {
		c.mark(len(c.out) - 1)
	}
}

func (c *conversation) user(content []message.Block) {
	if len(content) == 0 {
		return
	}
	if c.afterResult && c.quirks.RequiresAssistantAfterToolResult {
		c.out = append(c.out, sdk.AssistantMessage(goOn))
	}
	parts := make([]sdk.ChatCompletionContentPartUnionParam, 0, len(content))
	for _, b := range content {
		if b.Type == message.BlockImage {
			parts = append(parts, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: dataURL(b)}))
		} else {
			parts = append(parts, sdk.TextContentPart(b.Text))
		}
	}
	c.out = append(c.out, sdk.UserMessage(parts))
	c.afterResult = false
}

// reasoningFields are the members that services put thinking into, and want
// it back in.
var reasoningFields = []string{"reasoning_content", "reasoning", "reasoning_text"}

func (c *conversation) assistant(m *message.Assistant) {
	var texts, thoughts []string
	var field string
	own := history.SameModel(m, c.req.Model)
	out := sdk.ChatCompletionAssistantMessageParam{}
	extra := map[string]any{}
	var details []json.RawMessage
	for _, b := range m.Content {
		switch {
		case b.Type == message.BlockText:
			texts = append(texts, b.Text)
		case b.Type == message.BlockThinking && (b.Redacted || history.Blank(b.Thinking)):
		case b.Type == message.BlockThinking && (!own || c.quirks.RequiresThinkingAsText):
			texts = append(texts, b.Thinking+"\n\n")
		case b.Type == message.BlockThinking && contains(reasoningFields, b.ThinkingSignature):
			thoughts, field = append(thoughts, b.Thinking), b.ThinkingSignature
		case b.Type == message.BlockToolCall:
			out.ToolCalls = append(out.ToolCalls, c.call(b))
			details = append(details, reasoningOf(b, own)...)
		}
	}
	text := strings.Join(texts, "")
	if history.Blank(text) && len(out.ToolCalls) == 0 {
		return
	}
	if out.Content.OfString = param.NewOpt(text); history.Blank(text) {
		extra["content"] = nil
	}
	if c.quirks.RequiresReasoningContent && thinks(c.req) {
		extra["reasoning_content"] = ""
	}
	if field != "" {
		extra[field] = strings.Join(thoughts, "\n")
	}
	if details != nil {
		extra["reasoning_details"] = details
	}
	out.SetExtraFields(extra)
	c.out = append(c.out, sdk.ChatCompletionMessageParamUnion{OfAssistant: &out})
	c.afterResult = false
}

// reasoningOf gives what a model thought before a call, where it is the model
// that is asked.
func reasoningOf(call message.Block, own bool) []json.RawMessage {
	if !own || !json.Valid([]byte(call.ThoughtSignature)) {
		return nil
	}
	return []json.RawMessage{json.RawMessage(call.ThoughtSignature)}
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

func (c *conversation) call(b message.Block) sdk.ChatCompletionMessageToolCallUnionParam {
	return sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
		ID: c.callID(b.ID),
		Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
			Name:      b.Name,
			Arguments: string(history.Arguments(b)),
		},
	}}
}

// result adds a tool result and gives its images: the API takes none there.
func (c *conversation) result(m *message.ToolResult) []message.Block {
	text, images := history.Result(m.Content, c.req.Model)
	switch {
	case text != "":
	case len(images) > 0:
		text = imagesFollow
	default:
		text = noOutput
	}
	tool := sdk.ChatCompletionToolMessageParam{ToolCallID: c.callID(m.ToolCallID)}
	tool.Content.OfString = param.NewOpt(text)
	if c.quirks.RequiresToolResultName {
		tool.SetExtraFields(map[string]any{"name": m.ToolName})
	}
	c.out = append(c.out, sdk.ChatCompletionMessageParamUnion{OfTool: &tool})
	c.afterResult = true
	return images
}

func (c *conversation) callID(id string) string {
	if c.quirks.RequiresShortCallIDs {
		return shortCallID(id)
	}
	return history.CallID(id, longestCallID)
}

// longestCallID is what OpenAI allows in chat completions.
const longestCallID = 40

// shortCallID makes nine letters and digits of an id, the same for the same.
func shortCallID(id string) string {
	const length = 9
	if len(id) == length && strings.IndexFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	text := new(big.Int).SetBytes(sum[:]).Text(62)
	return text[len(text)-length:]
}

// markLast puts a cache mark at the end of the conversation.
func (c *conversation) markLast() {
	for i := len(c.out) - 1; i >= 0; i-- {
		if c.mark(i) {
			return
		}
	}
}

// mark puts a cache mark at the last text of a message, and says whether
// there was one.
func (c *conversation) mark(i int) bool {
	part := func(text string) []map[string]any {
		return []map[string]any{{"type": "text", "text": text, "cache_control": cacheMark}}
	}
	switch m := c.out[i]; {
	case m.OfSystem != nil:
		m.OfSystem.SetExtraFields(map[string]any{"content": part(m.OfSystem.Content.OfString.Value)})
	case m.OfDeveloper != nil:
		m.OfDeveloper.SetExtraFields(map[string]any{"content": part(m.OfDeveloper.Content.OfString.Value)})
	case m.OfTool != nil:
		extra := m.OfTool.ExtraFields()
		if extra == nil {
			extra = map[string]any{}
		}
		extra["content"] = part(m.OfTool.Content.OfString.Value)
		m.OfTool.SetExtraFields(extra)
	case m.OfUser != nil:
		parts := m.OfUser.Content.OfArrayOfContentParts
		for j := len(parts) - 1; j >= 0; j-- {
			if parts[j].OfText != nil {
				parts[j].OfText.SetExtraFields(map[string]any{"cache_control": cacheMark})
				return true
			}
		}
		return false
	default:
		return false
	}
	return true
}
