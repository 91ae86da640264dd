package event

import (
	"strconv"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
)

// AgentStart begins a low-level run: one chain of turns.
type AgentStart struct{}

// AgentEnd ends a low-level run. A retry, a compaction or a queued message
// may still follow; AgentSettled is the end of all that.
type AgentEnd struct {
	Messages  message.List `json:"messages" doc:"of this low-level run only"`
	WillRetry bool         `json:"willRetry" doc:"an automatic retry follows"`
}

// AppendJSON appends the JSON form to dst.
func (e *AgentEnd) AppendJSON(dst []byte) ([]byte, error) {
	dst, err := e.Messages.AppendJSON(append(dst, `{"messages":`...))
	if err != nil {
		return nil, err
	}
	return append(strconv.AppendBool(append(dst, `,"willRetry":`...), e.WillRetry), '}'), nil
}

// AgentSettled ends what a prompt began: exactly one a prompt.
type AgentSettled struct {
	Aborted bool `json:"aborted,omitempty" doc:"an abort, or the end of input, cut it off"`
}

// TurnStart begins a turn: one answer and the tool calls in it.
type TurnStart struct {
	TurnIndex int   `json:"-"` // counted from 0 in a low-level run; extensions see it
	Timestamp int64 `json:"-"` // milliseconds since 1970; extensions see it
}

// TurnEnd ends a turn.
type TurnEnd struct {
	TurnIndex   int             `json:"-"` // as in TurnStart
	Message     message.Message `json:"message"`
	ToolResults message.List    `json:"toolResults"`
}

// MessageStart shows a message that has begun. That of an assistant is as far
// as it has come and has stop reason pending.
type MessageStart struct {
	Message message.Message `json:"message"`
}

// AppendJSON appends the JSON form to dst.
func (e *MessageStart) AppendJSON(dst []byte) ([]byte, error) { return appendMessage(dst, e.Message) }

// MessageUpdate is one step of an assistant message.
type MessageUpdate struct {
	Update AssistantUpdate `json:"assistantMessageEvent"`
	// Usage is set when the usage reported so far changed; nil otherwise.
	Usage *message.Usage `json:"usage,omitempty" doc:"absent: as it was"`
	// Partial makes a copy of the message so far, for those that want more than
	// the delta (the xcsh dialect). It may be called until the receiver of the
	// event returns, from the goroutine that was given it.
	Partial func() *message.Assistant `json:"-"`
}

// UpdateType says what a step of an assistant message is.
type UpdateType string

// The steps of an assistant message.
const (
	TextStart     UpdateType = "text_start"
	TextDelta     UpdateType = "text_delta"
	TextEnd       UpdateType = "text_end"
	ThinkingStart UpdateType = "thinking_start"
	ThinkingDelta UpdateType = "thinking_delta"
	ThinkingEnd   UpdateType = "thinking_end"
	ToolCallStart UpdateType = "toolcall_start"
	ToolCallDelta UpdateType = "toolcall_delta"
	ToolCallEnd   UpdateType = "toolcall_end"
)

// AssistantUpdate is a step of an assistant message in wire form: which
// fields are there depends on Type.
type AssistantUpdate struct {
	Type         UpdateType     `json:"type"`
	ContentIndex int            `json:"contentIndex" doc:"place of the block in the content of the message"`
	ID           string         `json:"id,omitempty" doc:"of the call; toolcall_start"`
	ToolName     string         `json:"toolName,omitempty" doc:"toolcall_start"`
	Delta        *string        `json:"delta,omitempty" doc:"text_delta, thinking_delta, toolcall_delta: of the arguments as JSON text"`
	Content      *string        `json:"content,omitempty" doc:"the whole block; text_end, thinking_end"`
	ToolCall     *message.Block `json:"toolCall,omitempty" doc:"the whole block; toolcall_end"`
}

// MessageEnd carries a message in its final form. A hook may replace it by
// another of the same role.
type MessageEnd struct {
	Message message.Message `json:"message"`
}

// AppendJSON appends the JSON form to dst.
func (e *MessageEnd) AppendJSON(dst []byte) ([]byte, error) { return appendMessage(dst, e.Message) }

func appendMessage(dst []byte, m message.Message) ([]byte, error) {
	dst, err := message.Append(append(dst, `{"message":`...), m)
	if err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

// ToolExecutionStart announces a tool call. Args are as the model sent them.
type ToolExecutionStart struct {
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	Args       Raw    `json:"args" doc:"as the model sent them"`
}

// ToolExecutionUpdate shows the result so far, accumulated, not a delta.
type ToolExecutionUpdate struct {
	ToolCallID    string `json:"toolCallId"`
	ToolName      string `json:"toolName"`
	Args          Raw    `json:"args" doc:"as the model sent them"`
	PartialResult Raw    `json:"partialResult" doc:"{content: Block[], details?}"`
}

// ToolExecutionEnd ends a tool call.
type ToolExecutionEnd struct {
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	Result     Raw    `json:"result" doc:"{content: Block[], details?}"`
	IsError    bool   `json:"isError"`
}

// BashExecutionUpdate is output of the bash command.
type BashExecutionUpdate struct {
	ID    Raw    `json:"id,omitempty" doc:"of the command bash; absent: it had none"`
	Delta string `json:"delta"`
}

// QueueUpdate lists the texts that wait, whenever that changed.
type QueueUpdate struct {
	Steering []string `json:"steering"`
	FollowUp []string `json:"followUp"`
}

// AutoRetryStart announces a wait before the request is sent again.
type AutoRetryStart struct {
	Attempt      int    `json:"attempt" doc:"from 1"`
	MaxAttempts  int    `json:"maxAttempts"`
	DelayMS      int64  `json:"delayMs"`
	ErrorMessage string `json:"errorMessage" doc:"why the last try failed"`
}

// AutoRetryEnd ends a saga of retries: exactly one a saga.
type AutoRetryEnd struct {
	Success    bool   `json:"success" doc:"false also when aborted"`
	Attempt    int    `json:"attempt" doc:"the last one"`
	FinalError string `json:"finalError,omitempty" doc:"why there are no more"`
}

// ExtensionError reports trouble in an extension; the run goes on.
type ExtensionError struct {
	ExtensionPath string `json:"extensionPath" doc:"its file; command:<name> for a command"`
	Event         string `json:"event" doc:"the event it was handling, or command"`
	Error         string `json:"error"`
}

// SessionInfoChanged reports a new session name.
type SessionInfoChanged struct {
	Name string `json:"name" doc:"empty: it was taken away"`
}

// ThinkingLevelChanged reports a new effective thinking level.
type ThinkingLevelChanged struct {
	Level message.ThinkingLevel `json:"level"`
}

// EntryAppended reports an entry that an extension put into the session.
type EntryAppended struct {
	Entry Raw `json:"entry"`
}

// StorageError reports that the session file could not be written. The
// session goes on in memory, and the entries held back are written as soon as
// writing works again.
type StorageError struct {
	Path   string `json:"path" doc:"the file"`
	Error  string `json:"error"`
	Healed bool   `json:"healed" doc:"everything that was held back is on disk again"`
}

// Kind implements Event.
func (*AgentStart) Kind() Kind { return KindAgentStart }

// Kind implements Event.
func (*AgentEnd) Kind() Kind { return KindAgentEnd }

// Kind implements Event.
func (*AgentSettled) Kind() Kind { return KindAgentSettled }

// Kind implements Event.
func (*TurnStart) Kind() Kind { return KindTurnStart }

// Kind implements Event.
func (*TurnEnd) Kind() Kind { return KindTurnEnd }

// Kind implements Event.
func (*MessageStart) Kind() Kind { return KindMessageStart }

// Kind implements Event.
func (*MessageUpdate) Kind() Kind { return KindMessageUpdate }

// Kind implements Event.
func (*MessageEnd) Kind() Kind { return KindMessageEnd }

// Kind implements Event.
func (*ToolExecutionStart) Kind() Kind { return KindToolExecutionStart }

// Kind implements Event.
func (*ToolExecutionUpdate) Kind() Kind { return KindToolExecutionUpdate }

// Kind implements Event.
func (*ToolExecutionEnd) Kind() Kind { return KindToolExecutionEnd }

// Kind implements Event.
func (*BashExecutionUpdate) Kind() Kind { return KindBashExecutionUpdate }

// Kind implements Event.
func (*QueueUpdate) Kind() Kind { return KindQueueUpdate }

// Kind implements Event.
func (*AutoRetryStart) Kind() Kind { return KindAutoRetryStart }

// Kind implements Event.
func (*AutoRetryEnd) Kind() Kind { return KindAutoRetryEnd }

// Kind implements Event.
func (*ExtensionError) Kind() Kind { return KindExtensionError }

// Kind implements Event.
func (*SessionInfoChanged) Kind() Kind { return KindSessionInfoChanged }

// Kind implements Event.
func (*ThinkingLevelChanged) Kind() Kind { return KindThinkingLevelChanged }

// Kind implements Event.
func (*EntryAppended) Kind() Kind { return KindEntryAppended }

// Kind implements Event.
func (*StorageError) Kind() Kind { return KindStorageError }

// Milliseconds gives a time as events and messages have it.
func Milliseconds(t time.Time) int64 { return t.UnixMilli() }
