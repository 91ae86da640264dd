package google

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/internal/history"
)

// The body of a request. The format is that of
// https://ai.google.dev/api/generate-content.
type (
	body struct {
		Contents          []content         `json:"contents"`
		SystemInstruction *content          `json:"systemInstruction,omitempty"`
		Tools             []tools           `json:"tools,omitempty"`
		GenerationConfig  *generationConfig `json:"generationConfig,omitempty"`
	}
	content struct {
		Role  string `json:"role,omitempty"`
		Parts []part `json:"parts"`
	}
	part struct {
		Text             *string           `json:"text,omitempty"`
		Thought          bool              `json:"thought,omitempty"`
		ThoughtSignature string            `json:"thoughtSignature,omitempty"`
		InlineData       *inlineData       `json:"inlineData,omitempty"`
		FunctionCall     *functionCall     `json:"functionCall,omitempty"`
		FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	}
	inlineData struct {
		MimeType string `json:"mimeType"`
		Data     string `json:"data"`
	}
	functionCall struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	functionResponse struct {
		ID       string            `json:"id,omitempty"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
		Parts    []part            `json:"parts,omitempty"`
	}
	tools struct {
		FunctionDeclarations []functionDeclaration `json:"functionDeclarations"`
	}
	functionDeclaration struct {
		Name                 string          `json:"name"`
		Description          string          `json:"description,omitempty"`
		ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema,omitempty"`
	}
	generationConfig struct {
		MaxOutputTokens int64           `json:"maxOutputTokens,omitempty"`
		ThinkingConfig  *thinkingConfig `json:"thinkingConfig,omitempty"`
	}
	thinkingConfig struct {
		IncludeThoughts bool   `json:"includeThoughts,omitempty"`
		ThinkingBudget  *int64 `json:"thinkingBudget,omitempty"`
		ThinkingLevel   string `json:"thinkingLevel,omitempty"`
	}
)

const (
	roleUser  = "user"
	roleModel = "model"
)

func build(req provider.Request) body {
	out := body{
		Contents: (&conversation{model: req.Model, family: familyOf(req.Model.ID)}).contents(req.Messages),
		GenerationConfig: &generationConfig{
			MaxOutputTokens: req.Limit(),
			ThinkingConfig:  thinking(req),
		},
	}
	if !history.Blank(req.System) {
		out.SystemInstruction = &content{Parts: []part{textPart(req.System)}}
	}
	if len(req.Tools) > 0 {
		out.Tools = []tools{{FunctionDeclarations: declarations(req.Tools)}}
	}
	return out
}

func declarations(list []provider.Tool) []functionDeclaration {
	out := make([]functionDeclaration, 0, len(list))
	for _, t := range list {
		out = append(out, functionDeclaration{Name: t.Name, Description: t.Description, ParametersJSONSchema: t.Parameters})
	}
	return out
}

func textPart(text string) part { return part{Text: &text} }

// conversation turns the messages of a request into the API's contents.
type conversation struct {
	model  message.Model
	family family
	out    []content
}

func (c *conversation) contents(list []message.Message) []content {
	list = history.Sound(list, false, c.wireID)
	for i := 0; i < len(list); i++ {
		switch m := list[i].(type) {
		case *message.User:
			c.add(roleUser, parts(history.Said(m.Content.Blocks(), c.model)))
		case *message.Assistant:
			c.add(roleModel, c.answered(m))
		case *message.ToolResult:
			results := []*message.ToolResult{m}
			for ; i+1 < len(list); i++ {
				next, ok := list[i+1].(*message.ToolResult)
				if !ok {
					break
				}
				results = append(results, next)
			}
			c.results(results)
		}
	}
	if n := len(c.out); n == 0 || c.out[n-1].Role != roleUser {
		// The last message was blank, and is left out as all such are; but the
		// API wants something to answer.
		c.add(roleUser, []part{textPart(history.NothingSaid)})
	}
	return c.out
}

func (c *conversation) add(role string, list []part) {
	if len(list) > 0 {
		c.out = append(c.out, content{Role: role, Parts: list})
	}
}

func parts(blocks []message.Block) []part {
	var out []part
	for _, b := range blocks {
		if b.Type == message.BlockImage {
			out = append(out, imagePart(b))
		} else {
			out = append(out, textPart(b.Text))
		}
	}
	return out
}

func imagePart(b message.Block) part {
	return part{InlineData: &inlineData{MimeType: b.MimeType, Data: b.Data}}
}

// anySignature tells the service not to look for the signature of a call that
// it did not make. The words are the service's.
const anySignature = "skip_thought_signature_validator"

func (c *conversation) answered(m *message.Assistant) []part {
	var out []part
	own := history.SameModel(m, c.model)
	signature := func(s string) string {
		if _, err := base64.StdEncoding.DecodeString(s); !own || err != nil {
			return ""
		}
		return s
	}
	signed := false // a call was: one is enough for those that come with it
	for _, b := range m.Content {
		switch b.Type {
		case message.BlockText:
			p := textPart(b.Text)
			p.ThoughtSignature = signature(b.TextSignature)
			if p.ThoughtSignature != "" || !history.Blank(b.Text) {
				out = append(out, p)
			}
		case message.BlockThinking:
			p := textPart(b.Thinking)
			p.Thought, p.ThoughtSignature = own, signature(b.ThinkingSignature)
			if p.ThoughtSignature != "" || !b.Redacted && !history.Blank(b.Thinking) {
				out = append(out, p)
			}
		case message.BlockToolCall:
			p := part{FunctionCall: &functionCall{ID: c.callID(b.ID), Name: b.Name, Args: history.Arguments(b)}}
			p.ThoughtSignature = signature(b.ThoughtSignature)
			if p.ThoughtSignature == "" && c.family.signsCalls && !signed {
				p.ThoughtSignature = anySignature
			}
			signed = true
			out = append(out, p)
		}
	}
	return out
}

func (c *conversation) callID(id string) string {
	if !c.family.callIDs {
		return ""
	}
	return c.wireID(id)
}

func (c *conversation) wireID(id string) string { return history.CallID(id, longestCallID) }

const longestCallID = 64

// imagesOf stands before the images of tool results, for models that take
// none inside them.
const imagesOf = "Images that the tools gave:"

// results makes one content of the results of one answer's calls: the service
// wants as many as there were calls.
func (c *conversation) results(list []*message.ToolResult) {
	var out, behind []part
	for _, m := range list {
		text, images := history.Result(m.Content, c.model)
		response := &functionResponse{ID: c.callID(m.ToolCallID), Name: m.ToolName, Response: map[string]string{"output": text}}
		if m.IsError {
			response.Response = map[string]string{"error": text}
		}
		if c.family.imagesInResults {
			response.Parts = parts(images)
		} else {
			behind = append(behind, parts(images)...)
		}
		out = append(out, part{FunctionResponse: response})
	}
	c.add(roleUser, out)
	if len(behind) > 0 {
		c.add(roleUser, append([]part{textPart(imagesOf)}, behind...))
	}
}

// family is what a generation of models has in common.
type family struct {
	callIDs         bool // calls have ids
	signsCalls      bool // calls are refused without a signature
	imagesInResults bool
}

func familyOf(id string) family {
	if strings.Contains(id, "gemini-3") {
		return family{callIDs: true, signsCalls: true, imagesInResults: true}
	}
	return family{}
}
