package message

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// BlockType says what a content block is. Other words are kept as they are.
type BlockType string

// The block types that this package knows.
const (
	BlockText     BlockType = "text"
	BlockThinking BlockType = "thinking"
	BlockToolCall BlockType = "toolCall"
	BlockImage    BlockType = "image"
)

// Block is one piece of content. Type says which of the fields mean anything;
// fields of another type are zero.
type Block struct {
	Type BlockType

	Text          string // text
	TextSignature string // text: what the service wants back with it

	Thinking          string // thinking
	ThinkingSignature string // thinking: what the service wants back with it
	Redacted          bool   // thinking: the text is hidden, the signature holds it

	ID               string          // toolCall
	Name             string          // toolCall
	Arguments        json.RawMessage // toolCall: JSON as the model wrote it; an empty object where that is none
	Unparsed         string          // toolCall: what the model wrote where that is no JSON; it is not stored
	ThoughtSignature string          // toolCall: what the service wants back with it

	Data     string // image: base64
	MimeType string // image

	// Extra keeps fields that this type does not know, for a round trip.
	Extra Fields
}

// TextBlock makes a text block.
func TextBlock(text string) Block { return Block{Type: BlockText, Text: text} }

// ImageBlock makes an image block of base64 data.
func ImageBlock(data, mimeType string) Block {
	return Block{Type: BlockImage, Data: data, MimeType: mimeType}
}

type (
	textWire struct {
		Type          BlockType `json:"type"`
		Text          string    `json:"text"`
		TextSignature string    `json:"textSignature,omitempty"`
	}
	thinkingWire struct {
		Type              BlockType `json:"type"`
		Thinking          string    `json:"thinking"`
		ThinkingSignature string    `json:"thinkingSignature,omitempty"`
		Redacted          bool      `json:"redacted,omitempty"`
	}
	toolCallWire struct {
		Type             BlockType       `json:"type"`
		ID               string          `json:"id"`
		Name             string          `json:"name"`
		Arguments        json.RawMessage `json:"arguments"`
		ThoughtSignature string          `json:"thoughtSignature,omitempty"`
	}
	imageWire struct {
		Type     BlockType `json:"type"`
		Data     string    `json:"data"`
		MimeType string    `json:"mimeType"`
	}
	otherWire struct {
		Type BlockType `json:"type"`
	}
)

// UnmarshalJSON implements json.Unmarshaler.
func (b *Block) UnmarshalJSON(data []byte) error {
	var all Fields
	err := json.Unmarshal(data, &all)
	*b = Block{}
	if raw, ok := all["type"]; ok && err == nil {
		err = json.Unmarshal(raw, &b.Type)
	}
	if err != nil {
		return fmt.Errorf("content block: %w", err)
	}
	switch b.Type {
	case BlockText:
		var w textWire
		b.Extra, err = fill(&w, data, all)
		b.Text, b.TextSignature = w.Text, w.TextSignature
	case BlockThinking:
		var w thinkingWire
		b.Extra, err = fill(&w, data, all)
		b.Thinking, b.ThinkingSignature, b.Redacted = w.Thinking, w.ThinkingSignature, w.Redacted
	case BlockToolCall:
		var w toolCallWire
		b.Extra, err = fill(&w, data, all)
		b.ID, b.Name, b.Arguments, b.ThoughtSignature = w.ID, w.Name, w.Arguments, w.ThoughtSignature
	case BlockImage:
		var w imageWire
		b.Extra, err = fill(&w, data, all)
		b.Data, b.MimeType = w.Data, w.MimeType
	default:
		b.Extra, err = fill(&otherWire{}, data, all)
	}
	if err != nil {
		return fmt.Errorf("content block of type %q: %w", b.Type, err)
	}
	return nil
}

// Content is what a user or custom message says: a plain string, or blocks.
// It remembers which it was. The zero value is an empty list of blocks.
type Content struct {
	plain  bool
	text   string
	blocks []Block
}

// PlainContent makes content that is written as a JSON string.
func PlainContent(text string) Content { return Content{plain: true, text: text} }

// BlockContent makes content that is written as a JSON array. It keeps the
// slice it is given.
func BlockContent(blocks []Block) Content { return Content{blocks: blocks} }

// Blocks gives the content as blocks; a plain string is one text block.
func (c Content) Blocks() []Block {
	if c.plain {
		return []Block{TextBlock(c.text)}
	}
	return c.blocks
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Content) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) > 0 && data[0] == '"' {
		c.plain, c.blocks = true, nil
		return json.Unmarshal(data, &c.text)
	}
	c.plain, c.text = false, ""
	return json.Unmarshal(data, &c.blocks)
}
