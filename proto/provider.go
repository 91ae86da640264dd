package proto

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/message"
)

// ProviderRequest is one model call, as an extension that streams answers
// gets it.
type ProviderRequest struct {
	Model     message.Model         `json:"model"`
	APIKey    string                `json:"apiKey,omitempty"`  // of this provider
	Headers   map[string]string     `json:"headers,omitempty"` // to be added to the request
	Thinking  message.ThinkingLevel `json:"thinking"`
	System    string                `json:"system"`
	Messages  message.List          `json:"messages"` // roles user, assistant, toolResult
	Tools     []ProviderTool        `json:"tools"`
	MaxTokens int64                 `json:"maxTokens,omitempty"` // 0: the model's own limit
	SessionID string                `json:"sessionId,omitempty"`
}

// ProviderTool is a tool as a model is told of it.
type ProviderTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// DeltaKind says what a step of an answer is.
type DeltaKind string

// The steps of an answer. Blocks are numbered from 0 in the order they begin,
// and every block that begins ends.
const (
	DeltaBegin         DeltaKind = "begin"
	DeltaTextStart     DeltaKind = "text_start"
	DeltaText          DeltaKind = "text_delta"
	DeltaTextEnd       DeltaKind = "text_end"
	DeltaThinkingStart DeltaKind = "thinking_start"
	DeltaThinking      DeltaKind = "thinking_delta"
	DeltaThinkingEnd   DeltaKind = "thinking_end"
	DeltaToolCallStart DeltaKind = "toolcall_start"
	DeltaToolCall      DeltaKind = "toolcall_delta"
	DeltaToolCallEnd   DeltaKind = "toolcall_end"
	DeltaUsage         DeltaKind = "usage"
	DeltaFinish        DeltaKind = "finish"
)

// ProviderDelta is one step of an answer; which fields count depends on Kind.
type ProviderDelta struct {
	Kind          DeltaKind          `json:"kind"`
	Index         int                `json:"index,omitempty"`
	Text          string             `json:"text,omitempty"`
	Signature     string             `json:"signature,omitempty"`
	Redacted      bool               `json:"redacted,omitempty"`
	ID            string             `json:"id,omitempty"`
	Name          string             `json:"name,omitempty"`
	ResponseID    string             `json:"responseId,omitempty"`
	Usage         *message.Usage     `json:"usage,omitempty"`
	StopReason    message.StopReason `json:"stopReason,omitempty"`
	RawStopReason string             `json:"rawStopReason,omitempty"`
	ErrorMessage  string             `json:"errorMessage,omitempty"`
}

// ProviderError is a failure of a model service.
type ProviderError struct {
	// Class says what can be done: retryable, overflow, quota, auth, aborted
	// or invalid.
	Class        string `json:"class"`
	Status       int    `json:"status,omitempty"` // HTTP; 0: none
	Message      string `json:"message"`
	RetryAfterMS int64  `json:"retryAfterMs,omitempty"`
}
