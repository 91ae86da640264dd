package sdk

import (
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/proto"
)

// Values of conversations, under the names that they have in pi's core.
type (
	// Message is one message of a conversation: one of the types below.
	Message = message.Message
	// Messages is a list of messages.
	Messages = message.List
	// User is what a person, a client or an extension said.
	User = message.User
	// Assistant is an answer of a model.
	Assistant = message.Assistant
	// ToolResultMessage is what a tool call gave, as the conversation has it.
	ToolResultMessage = message.ToolResult
	// BashExecution is a bash command of the user's with its output.
	BashExecution = message.BashExecution
	// Custom is a message that an extension put into the conversation.
	Custom = message.Custom
	// BranchSummary tells the model about a branch that was left.
	BranchSummary = message.BranchSummary
	// CompactionSummary stands for what a compaction removed.
	CompactionSummary = message.CompactionSummary
	// Block is one piece of content: text, thinking, an image or a tool call.
	Block = message.Block
	// Content is a text or a list of blocks.
	Content = message.Content
	// Usage counts the tokens of model calls.
	Usage = message.Usage
	// Model describes a model.
	Model = message.Model
	// Price is what a model costs in dollars per million tokens.
	Price = message.Price
	// ThinkingLevel says how much a model thinks before it answers.
	ThinkingLevel = message.ThinkingLevel
	// StopReason says why an answer ended.
	StopReason = message.StopReason
)

// What an extension gives and gets beside events.
type (
	// CustomMessage is a message of an extension's own type, to be sent.
	CustomMessage = event.CustomMessage
	// CompactionResult is what a compaction gave, or is to give.
	CompactionResult = event.CompactionResult
	// TreeSummary is an own summary of a branch that is left.
	TreeSummary = event.TreeSummary
	// BashResult is the outcome of a bash command.
	BashResult = event.BashResult
	// Raw is JSON that is passed on as it is.
	Raw = event.Raw
	// ContextUsage says how full a model's window is.
	ContextUsage = proto.ContextUsage
	// State says where a session stands.
	State = proto.State
	// ToolInfo describes a tool of the session.
	ToolInfo = proto.Tool
	// CommandInfo is a slash command that the user has.
	CommandInfo = proto.Command
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
