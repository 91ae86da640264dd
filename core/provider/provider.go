// Package provider is the border to model services: what is asked of one,
// what streams back, and the classes of its errors. The adapters live in its
// subfolders.
//
// It imports the standard library and core/message only.
package provider

import (
	"context"
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/message"
)

// Provider streams answers of one API. It may be called from several
// goroutines at once.
type Provider interface {
	// Stream sends the request and passes what comes back to sink, from the
	// calling goroutine, in order, until the answer is complete. An error of
	// sink ends the stream and is returned. A failure of the service is an
	// *Error. When ctx ends, Stream returns soon with an *Error of class
	// Aborted.
	Stream(ctx context.Context, req Request, sink func(Delta) error) error
}

// Request is one model call.
type Request struct {
	Model    message.Model
	APIKey   string
	Headers  map[string]string // added to the adapter's own; an empty value removes one
	Thinking message.ThinkingLevel
	// ThinkingBudgets are the user's own, in tokens by level; a level that is
	// not there has the usual one. Nil: all have.
	ThinkingBudgets map[message.ThinkingLevel]int64
	System          string
	// Messages is the conversation, oldest first, with roles user, assistant
	// and toolResult only. Answers that failed, were aborted or are empty are
	// left out already, and every tool call has its result.
	Messages []message.Message
	Tools    []Tool
	// MaxTokens is the room for the answer, without its thinking; 0: the
	// model's own limit. See Limit.
	MaxTokens int64
	SessionID string // for services that route or cache by it; may be empty
	// Compat are the quirks of an OpenAI-compatible server, as models.json
	// has them; nil: none.
	Compat json.RawMessage
	// Hooks are called while the request is made; nil fields are left out.
	Hooks Hooks
}

// Tool is a tool as the service is told of it.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema
}

// Hooks let the session see and change a request on its way. They run on
// Stream's goroutine.
type Hooks struct {
	// BeforeHeaders may change the extra headers of the request.
	BeforeHeaders func(ctx context.Context, headers map[string]string) map[string]string
	// BeforeRequest may replace the JSON body.
	BeforeRequest func(ctx context.Context, payload json.RawMessage) json.RawMessage
	// AfterResponse sees status and headers of the answer, before its body.
	AfterResponse func(ctx context.Context, status int, headers map[string]string)
}

// DeltaKind says what a delta is.
type DeltaKind int

// The kinds of deltas. Blocks are numbered from 0 by Index in the order they
// begin; every block that begins ends, unless the stream fails.
const (
	Begin         DeltaKind = iota // the answer began: ResponseID, Usage
	TextStart                      // Index
	TextDelta                      // Index, Text
	TextEnd                        // Index; Signature
	ThinkingStart                  // Index
	ThinkingDelta                  // Index, Text
	ThinkingEnd                    // Index; Signature, Redacted
	ToolCallStart                  // Index; ID, Name
	ToolCallDelta                  // Index, Text: a piece of the arguments' JSON
	ToolCallEnd                    // Index; Signature; ID, Name once more where they came late
	UsageSoFar                     // Usage: totals so far
	Finish                         // StopReason, RawStopReason, Usage; ErrorMessage with StopError
)

// Delta is one step of an answer. Which fields count depends on Kind.
type Delta struct {
	Kind          DeltaKind
	Index         int
	Text          string
	Signature     string
	Redacted      bool
	ID            string
	Name          string
	ResponseID    string
	Usage         *message.Usage // without cost; the loop computes that
	StopReason    message.StopReason
	RawStopReason string
	ErrorMessage  string
}
