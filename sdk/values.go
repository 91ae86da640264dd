package sdk

import (
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
)

// Values of conversations, under the names that they have in pi's core.
type (
	Message           = message.Message
	Messages          = message.List
	User              = message.User
	Assistant         = message.Assistant
	ToolResultMessage = message.ToolResult
	BashExecution     = message.BashExecution
	Custom            = message.Custom
	BranchSummary     = message.BranchSummary
	CompactionSummary = message.CompactionSummary
	Block             = message.Block
	Content           = message.Content
	Usage             = message.Usage
	Model             = message.Model
	Price             = message.Price
	ThinkingLevel     = message.ThinkingLevel
	StopReason        = message.StopReason
)

// What an extension gives and gets beside events.
type (
	CustomMessage    = event.CustomMessage
	CompactionResult = event.CompactionResult
	TreeSummary      = event.TreeSummary
	BashResult       = event.BashResult
	Raw              = event.Raw
	ContextUsage     = proto.ContextUsage
	State            = proto.State
	ToolInfo         = proto.Tool
)

// The types of content blocks.
const (
	BlockText     = message.BlockText
	BlockThinking = message.BlockThinking
	BlockToolCall = message.BlockToolCall
	BlockImage    = message.BlockImage
)

// The thinking levels, from none to most.
const (
	ThinkingOff     = message.ThinkingOff
	ThinkingMinimal = message.ThinkingMinimal
	ThinkingLow     = message.ThinkingLow
	ThinkingMedium  = message.ThinkingMedium
	ThinkingHigh    = message.ThinkingHigh
	ThinkingXHigh   = message.ThinkingXHigh
	ThinkingMax     = message.ThinkingMax
)

// Text makes a text block.
func Text(text string) Block { return message.TextBlock(text) }

// Image makes an image block of base64 data.
func Image(data, mimeType string) Block { return message.ImageBlock(data, mimeType) }

// PlainContent makes the content of a message from a text.
func PlainContent(text string) Content { return message.PlainContent(text) }

// BlockContent makes the content of a message from blocks.
func BlockContent(blocks ...Block) Content { return message.BlockContent(blocks) }

// TextOf joins the texts of a message.
func TextOf(m Message) string { return message.TextOf(m) }
