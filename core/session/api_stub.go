// Package session is the live session.
package session

import (
	"context"
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/ui"
)

type Session struct{}

// Behavior says what becomes of a prompt that comes while a run is on.
type Behavior string

const (
	Refuse        Behavior = "" // the prompt is refused
	SteerBehavior Behavior = "steer"
	FollowUp      Behavior = "followUp"
)

// Prompt is a text for the model, or a slash command.
type Prompt struct {
	Text     string
	Images   []message.Block
	Behavior Behavior
	Source   string // interactive, rpc, extension
}

// Disposition says what became of an accepted prompt.
type Disposition string

const (
	Started Disposition = "started"
	Queued  Disposition = "queued"
	Handled Disposition = "handled"
)

type QueueMode string     // all, one-at-a-time
type InterruptMode string // immediate, wait

// Prompt takes effect in the order of calls and returns at once. accepted is called exactly once, from any
// goroutine, when the prompt was accepted, queued, handled or refused: before the first event of its run.
func (s *Session) Prompt(p Prompt, accepted func(Disposition, error))        { panic("stub") }
func (s *Session) Steer(p Prompt, accepted func(Disposition, error))         { panic("stub") }
func (s *Session) QueueFollowUp(p Prompt, accepted func(Disposition, error)) { panic("stub") }

// Abort stops the run, dialogs in it, a compaction, a retry wait; returns a channel closed when the session is idle.
// The effect is immediate (before return); never blocks.
func (s *Session) Abort() <-chan struct{}                    { panic("stub") }
func (s *Session) ClearQueue() (steering, followUp []string) { panic("stub") }
func (s *Session) WaitIdle(ctx context.Context) error        { panic("stub") }
func (s *Session) AbortRetry()                               { panic("stub") }

// Subscribe: fn is called in event order from one goroutine at a time; it may block (backpressure).
func (s *Session) Subscribe(fn func(event.Event)) (cancel func()) { panic("stub") }

// State is the data of get_state.
type State struct {
	Model                 *message.Model        `json:"model"`
	ThinkingLevel         message.ThinkingLevel `json:"thinkingLevel"`
	IsStreaming           bool                  `json:"isStreaming"`
	IsCompacting          bool                  `json:"isCompacting"`
	SteeringMode          QueueMode             `json:"steeringMode"`
	FollowUpMode          QueueMode             `json:"followUpMode"`
	InterruptMode         InterruptMode         `json:"interruptMode"`
	SessionFile           string                `json:"sessionFile,omitempty"`
	SessionID             string                `json:"sessionId"`
	SessionName           string                `json:"sessionName,omitempty"`
	AutoCompactionEnabled bool                  `json:"autoCompactionEnabled"`
	MessageCount          int                   `json:"messageCount"`
	PendingMessageCount   int                   `json:"pendingMessageCount"`
	QueuedMessageCount    int                   `json:"queuedMessageCount"`
	TodoPhases            json.RawMessage       `json:"todoPhases"`
	Diagnostics           []string              `json:"diagnostics,omitempty"`
}

func (s *Session) State() State { panic("stub") }

// Messages in wire form, raw where they came from the file.
func (s *Session) Messages() []json.RawMessage { panic("stub") }

// ErrModelNotFound etc: errors have their final wire text.
func (s *Session) SetModel(ctx context.Context, provider, id string) (message.Model, error) {
	panic("stub")
}

type Cycled struct {
	Model         message.Model         `json:"model"`
	ThinkingLevel message.ThinkingLevel `json:"thinkingLevel"`
	IsScoped      bool                  `json:"isScoped"`
}

func (s *Session) CycleModel(ctx context.Context) *Cycled                            { panic("stub") } // nil: only one model
func (s *Session) AvailableModels() []message.Model                                  { panic("stub") }
func (s *Session) SetThinkingLevel(ctx context.Context, level message.ThinkingLevel) { panic("stub") }
func (s *Session) CycleThinkingLevel(ctx context.Context) (message.ThinkingLevel, bool) {
	panic("stub")
}                                                          // false: no reasoning
func (s *Session) ThinkingLevels() []message.ThinkingLevel { panic("stub") }
func (s *Session) SetSteeringMode(m QueueMode)             { panic("stub") }
func (s *Session) SetFollowUpMode(m QueueMode)             { panic("stub") }
func (s *Session) SetInterruptMode(m InterruptMode)        { panic("stub") }
func (s *Session) SetAutoCompaction(on bool)               { panic("stub") }
func (s *Session) SetAutoRetry(on bool)                    { panic("stub") }
func (s *Session) Compact(ctx context.Context, instructions string) (*event.CompactionResult, error) {
	panic("stub")
}

type BashCommand struct {
	ID                 json.RawMessage // of the command, for bash_execution_update; nil: none
	Command            string
	ExcludeFromContext bool
}

// StartBash takes effect at once (AbortBash right behind it stops it); wait for the result with the returned function.
func (s *Session) StartBash(c BashCommand) (wait func() (event.BashResult, error)) { panic("stub") }
func (s *Session) AbortBash()                                                      { panic("stub") }

type Stats struct {
	SessionFile       string `json:"sessionFile,omitempty"`
	SessionID         string `json:"sessionId"`
	UserMessages      int    `json:"userMessages"`
	AssistantMessages int    `json:"assistantMessages"`
	ToolCalls         int    `json:"toolCalls"`
	ToolResults       int    `json:"toolResults"`
	TotalMessages     int    `json:"totalMessages"`
	Tokens            struct {
		Input      int64 `json:"input"`
		Output     int64 `json:"output"`
		CacheRead  int64 `json:"cacheRead"`
		CacheWrite int64 `json:"cacheWrite"`
		Total      int64 `json:"total"`
	} `json:"tokens"`
	Cost         float64       `json:"cost"`
	ContextUsage *ContextUsage `json:"contextUsage,omitempty"`
}

type ContextUsage struct {
	Tokens        *int64   `json:"tokens"`
	ContextWindow int64    `json:"contextWindow"`
	Percent       *float64 `json:"percent"`
}

func (s *Session) Stats() Stats                                   { panic("stub") }
func (s *Session) ContextUsage() *ContextUsage                    { panic("stub") }
func (s *Session) ExportHTML(path string) (string, error)         { panic("stub") }
func (s *Session) LastAssistantText() *string                     { panic("stub") }
func (s *Session) SetName(ctx context.Context, name string) error { panic("stub") }

// NewSession and the like: cancelled true when a hook said so.
func (s *Session) NewSession(ctx context.Context, parentSession string) (cancelled bool, err error) {
	panic("stub")
}
func (s *Session) SwitchSession(ctx context.Context, path string) (cancelled bool, err error) {
	panic("stub")
}
func (s *Session) Fork(ctx context.Context, entryID, position string) (text string, cancelled bool, err error) {
	panic("stub")
}                                                                        // position: before, at
func (s *Session) Clone(ctx context.Context) (cancelled bool, err error) { panic("stub") }

type ForkMessage struct {
	EntryID string `json:"entryId"`
	Text    string `json:"text"`
}

func (s *Session) ForkMessages() []ForkMessage { panic("stub") }

// Entries after since (nil: all), in append order, raw; leafID nil for an empty session.
func (s *Session) Entries(since *string) (entries []json.RawMessage, leafID *string, err error) {
	panic("stub")
}

type TreeNode struct {
	Entry          json.RawMessage `json:"entry"`
	Children       []*TreeNode     `json:"children"`
	Label          string          `json:"label,omitempty"`
	LabelTimestamp string          `json:"labelTimestamp,omitempty"`
}

func (s *Session) Tree() (tree []*TreeNode, leafID *string) { panic("stub") }

// Navigate moves the leaf.
type Navigate struct {
	TargetID           string
	Summarize          bool
	CustomInstructions string
	Label              string
}
type Navigated struct {
	Cancelled    bool            `json:"cancelled"`
	Aborted      bool            `json:"aborted,omitempty"`
	EditorText   *string         `json:"editorText,omitempty"`
	SummaryEntry json.RawMessage `json:"summaryEntry,omitempty"`
}

func (s *Session) NavigateTree(ctx context.Context, n Navigate) (Navigated, error) { panic("stub") }
func (s *Session) SetLabel(entryID string, label string) error                     { panic("stub") } // "" clears

// Command is one row of get_commands.
type Command struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Source      string     `json:"source"`             // extension, prompt, skill
	Location    string     `json:"location,omitempty"` // user, project, path
	Path        string     `json:"path,omitempty"`
	SourceInfo  SourceInfo `json:"sourceInfo"`
}
type SourceInfo struct {
	Path    string `json:"path"`
	Source  string `json:"source"` // auto, cli, inline, extension:<name>
	Scope   string `json:"scope"`  // user, project, temporary
	Origin  string `json:"origin"`
	BaseDir string `json:"baseDir,omitempty"`
}

func (s *Session) Commands() []Command { panic("stub") }

// What extensions add. owner is the extension's path; a second call replaces what owner had.
type ExtensionCommand struct {
	Name        string
	Description string
	Info        SourceInfo
	// Run carries out the command; ctx ends when the process shuts down (not on abort of a run).
	Run func(ctx context.Context, args string) error
	// Complete suggests arguments; nil: none.
	Complete func(ctx context.Context, prefix string) ([]string, error)
}

func (s *Session) RegisterCommands(owner string, commands []ExtensionCommand) { panic("stub") }
func (s *Session) RegisterTools(owner string, tools []tool.Tool)              { panic("stub") } // override built-ins of the same name; active at once

// For extensions' context calls.
func (s *Session) AppendEntry(customType string, data json.RawMessage) (entry json.RawMessage, err error) {
	panic("stub")
}

type SendOptions struct {
	DeliverAs   string // "", steer, followUp, nextTurn
	TriggerTurn bool
}

func (s *Session) SendMessage(ctx context.Context, m event.CustomMessage, o SendOptions) error {
	panic("stub")
}
func (s *Session) SendUserMessage(ctx context.Context, content message.Content, deliverAs string) error {
	panic("stub")
}

type ToolInfo struct {
	Spec   tool.Spec
	Source SourceInfo
	Active bool
}

func (s *Session) Tools() []ToolInfo                    { panic("stub") }
func (s *Session) SetActiveTools(names []string) error  { panic("stub") }
func (s *Session) Model() *message.Model                { panic("stub") }
func (s *Session) ThinkingLevel() message.ThinkingLevel { panic("stub") }
func (s *Session) SystemPrompt() string                 { panic("stub") }
func (s *Session) Cwd() string                          { panic("stub") }
func (s *Session) Mode() string                         { panic("stub") } // rpc, json, print
func (s *Session) UI() ui.UI                            { panic("stub") }
func (s *Session) IsIdle() bool                         { panic("stub") }
func (s *Session) HasPendingMessages() bool             { panic("stub") }

// Generation counts session changes (new, switch, fork, clone, reload): a context made in an older one is stale.
func (s *Session) Generation() uint64 { panic("stub") }

// RequestShutdown asks the process to end when the session is idle. Done is closed when it should.
func (s *Session) RequestShutdown()                   { panic("stub") }
func (s *Session) ShutdownRequested() <-chan struct{} { panic("stub") }

// Reload reloads extensions and resources; waits until idle first.
func (s *Session) Reload(ctx context.Context) error { panic("stub") }

// Emit lets the extension host and rpcmode put client events (extension_error, ...) into the ordered stream.
func (s *Session) Emit(e event.Event) { panic("stub") }

// SetHostTools replaces the tools that the client runs itself.
func (s *Session) SetHostTools(tools []tool.Tool) { panic("stub") }

// Close aborts what runs, waits for its end to be emitted, tells extensions session_shutdown {reason}; idempotent.
func (s *Session) Close(ctx context.Context, reason string) error { panic("stub") }
