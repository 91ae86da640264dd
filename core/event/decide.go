package event

import "github.com/seed-54e836f5/pi/core/message"

// ProjectTrust asks whether the project's own settings and extensions may be
// used.
type ProjectTrust struct {
	Cwd string `json:"cwd"`
}

// ProjectTrustResult answers ProjectTrust. The first yes or no ends the chain.
type ProjectTrustResult struct {
	Decision string `json:"decision"` // yes, no, undecided
	Remember bool   `json:"remember,omitempty"`
}

// ResourcesDiscover asks for more places of skills and prompt templates.
type ResourcesDiscover struct {
	Cwd    string `json:"cwd"`
	Reason string `json:"reason"` // startup, reload, new, resume, fork
}

// ResourcesDiscoverResult answers ResourcesDiscover; lists are joined.
type ResourcesDiscoverResult struct {
	SkillPaths  []string `json:"skillPaths,omitempty"`
	PromptPaths []string `json:"promptPaths,omitempty"`
	// NamedBy has the names of the extensions that named the paths, by path;
	// the host fills it in. A path that is not there was named by nobody known.
	NamedBy map[string]string `json:"-"`
}

// SessionBeforeSwitch comes before another session takes this one's place.
type SessionBeforeSwitch struct {
	Reason            string `json:"reason"` // new, resume
	TargetSessionFile string `json:"targetSessionFile,omitempty"`
}

// SessionBeforeFork comes before a fork or clone.
type SessionBeforeFork struct {
	EntryID  string `json:"entryId"`
	Position string `json:"position"` // before, at
}

// CancelResult answers the session_before events that know no more than yes
// and no. The first cancel ends the chain.
type CancelResult struct {
	Cancel bool `json:"cancel,omitempty"`
}

// SessionBeforeCompact comes before a compaction.
type SessionBeforeCompact struct {
	Preparation        Raw              `json:"preparation"`
	BranchEntries      []Raw            `json:"branchEntries"`
	CustomInstructions string           `json:"customInstructions,omitempty"`
	Reason             CompactionReason `json:"reason"`
	WillRetry          bool             `json:"willRetry"`
}

// SessionBeforeCompactResult answers SessionBeforeCompact: a cancel ends the
// chain, the last own summary wins.
type SessionBeforeCompactResult struct {
	Cancel     bool              `json:"cancel,omitempty"`
	Compaction *CompactionResult `json:"compaction,omitempty"`
}

// SessionBeforeTree comes before the leaf moves to another entry.
type SessionBeforeTree struct {
	Preparation Raw `json:"preparation"`
}

// SessionBeforeTreeResult answers SessionBeforeTree: a cancel ends the chain,
// the last own summary wins.
type SessionBeforeTreeResult struct {
	Cancel             bool         `json:"cancel,omitempty"`
	Summary            *TreeSummary `json:"summary,omitempty"`
	CustomInstructions string       `json:"customInstructions,omitempty"`
	Label              string       `json:"label,omitempty"`
}

// TreeSummary is an extension's own summary of a branch that is left.
type TreeSummary struct {
	Summary string         `json:"summary"`
	Details Raw            `json:"details,omitempty"`
	Usage   *message.Usage `json:"usage,omitempty"`
}

// Input comes with each text before it is expanded and run or queued.
type Input struct {
	Text              string          `json:"text"`
	Images            []message.Block `json:"images,omitempty"`
	Source            string          `json:"source"` // interactive, rpc, extension
	StreamingBehavior string          `json:"streamingBehavior,omitempty"`
}

// InputResult answers Input: transform chains, handled ends the chain.
type InputResult struct {
	Action string          `json:"action"` // continue, transform, handled
	Text   string          `json:"text,omitempty"`
	Images []message.Block `json:"images,omitzero"` // nil with transform: as they were; empty: none any more
}

// BeforeAgentStart comes when a prompt is about to run.
type BeforeAgentStart struct {
	Prompt              string          `json:"prompt"`
	Images              []message.Block `json:"images,omitempty"`
	SystemPrompt        string          `json:"systemPrompt"`
	SystemPromptOptions Raw             `json:"systemPromptOptions,omitempty"`
}

// BeforeAgentStartResult answers BeforeAgentStart: messages are collected,
// the system prompt is chained and holds for this run.
type BeforeAgentStartResult struct {
	Message      *CustomMessage `json:"message,omitempty"`
	SystemPrompt *string        `json:"systemPrompt,omitempty"`
}

// CustomMessage is a message that an extension asks for.
type CustomMessage struct {
	CustomType string          `json:"customType"`
	Content    message.Content `json:"content"`
	Display    bool            `json:"display"`
	Details    Raw             `json:"details,omitempty"`
}

// Context comes before each model call with the messages it will see.
type Context struct {
	Messages message.List `json:"messages"`
}

// ContextResult answers Context; chained. Nil messages: no change.
type ContextResult struct {
	Messages *message.List `json:"messages,omitempty"`
}

// BeforeProviderHeaders comes before each model call with its own headers.
type BeforeProviderHeaders struct {
	Headers map[string]string `json:"headers"`
}

// BeforeProviderHeadersResult answers BeforeProviderHeaders; chained.
type BeforeProviderHeadersResult struct {
	Set    map[string]string `json:"set,omitempty"`
	Delete []string          `json:"delete,omitempty"`
}

// BeforeProviderRequest comes with the request body of each model call.
type BeforeProviderRequest struct {
	Payload Raw `json:"payload"`
}

// BeforeProviderRequestResult answers BeforeProviderRequest; chained.
type BeforeProviderRequestResult struct {
	Payload Raw `json:"payload,omitempty"` // nil: no change
}

// ToolCall comes before a tool runs. A handler that fails blocks the call,
// unless it was registered to fail open.
type ToolCall struct {
	ToolName   string `json:"toolName"`
	ToolCallID string `json:"toolCallId"`
	Input      Raw    `json:"input"`
}

// ToolCallResult answers ToolCall: the first block ends the chain, changed
// input is chained.
type ToolCallResult struct {
	Block     bool   `json:"block,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Terminate bool   `json:"terminate,omitempty"` // with block: end the run too
	Input     Raw    `json:"input,omitempty"`     // nil: no change
}

// ToolResult comes when a tool has run.
type ToolResult struct {
	ToolName   string          `json:"toolName"`
	ToolCallID string          `json:"toolCallId"`
	Input      Raw             `json:"input"`
	Content    []message.Block `json:"content"`
	Details    Raw             `json:"details,omitempty"`
	IsError    bool            `json:"isError"`
}

// ToolResultPatch answers ToolResult; chained. Nil fields: no change.
type ToolResultPatch struct {
	Content *[]message.Block `json:"content,omitempty"`
	Details Raw              `json:"details,omitempty"`
	IsError *bool            `json:"isError,omitempty"`
}

// UserBash comes before the bash command runs.
type UserBash struct {
	Command            string `json:"command"`
	Cwd                string `json:"cwd"`
	ExcludeFromContext bool   `json:"excludeFromContext"`
}

// UserBashResult answers UserBash: the first one with a result ends the chain
// and takes the place of running the command.
type UserBashResult struct {
	Result *BashResult `json:"result,omitempty"`
}

// BashResult is the outcome of the bash command, as its answer has it.
type BashResult struct {
	Output         string `json:"output"`
	ExitCode       *int   `json:"exitCode,omitempty"`
	Cancelled      bool   `json:"cancelled"`
	Truncated      bool   `json:"truncated"`
	FullOutputPath string `json:"fullOutputPath,omitempty"`
}

// MessageEndResult answers MessageEnd: another message of the same role;
// chained.
type MessageEndResult struct {
	Message message.Message `json:"message,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *MessageEndResult) UnmarshalJSON(data []byte) error {
	raw, err := optionalMember(data, "message")
	if err != nil || raw == nil {
		return err
	}
	r.Message, err = message.Decode(raw)
	return err
}

// Kind implements Event.
func (*ProjectTrust) Kind() Kind { return KindProjectTrust }

// Kind implements Event.
func (*ResourcesDiscover) Kind() Kind { return KindResourcesDiscover }

// Kind implements Event.
func (*SessionBeforeSwitch) Kind() Kind { return KindSessionBeforeSwitch }

// Kind implements Event.
func (*SessionBeforeFork) Kind() Kind { return KindSessionBeforeFork }

// Kind implements Event.
func (*SessionBeforeCompact) Kind() Kind { return KindSessionBeforeCompact }

// Kind implements Event.
func (*SessionBeforeTree) Kind() Kind { return KindSessionBeforeTree }

// Kind implements Event.
func (*Input) Kind() Kind { return KindInput }

// Kind implements Event.
func (*BeforeAgentStart) Kind() Kind { return KindBeforeAgentStart }

// Kind implements Event.
func (*Context) Kind() Kind { return KindContext }

// Kind implements Event.
func (*BeforeProviderHeaders) Kind() Kind { return KindBeforeProviderHeaders }

// Kind implements Event.
func (*BeforeProviderRequest) Kind() Kind { return KindBeforeProviderRequest }

// Kind implements Event.
func (*ToolCall) Kind() Kind { return KindToolCall }

// Kind implements Event.
func (*ToolResult) Kind() Kind { return KindToolResult }

// Kind implements Event.
func (*UserBash) Kind() Kind { return KindUserBash }
