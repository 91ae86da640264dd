package wire

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/todo"
)

// State is the data of get_state.
type State struct {
	Model                 *message.Model        `json:"model" doc:"null: none could be chosen"`
	ThinkingLevel         message.ThinkingLevel `json:"thinkingLevel" enum:"off,minimal,low,medium,high,xhigh,max"`
	IsStreaming           bool                  `json:"isStreaming" doc:"from the acceptance of a prompt until agent_settled"`
	IsCompacting          bool                  `json:"isCompacting"`
	SteeringMode          string                `json:"steeringMode" enum:"all,one-at-a-time"`
	FollowUpMode          string                `json:"followUpMode" enum:"all,one-at-a-time"`
	SessionFile           string                `json:"sessionFile,omitempty" doc:"absent: the session is kept in memory"`
	SessionID             string                `json:"sessionId"`
	SessionName           string                `json:"sessionName,omitempty"`
	AutoCompactionEnabled bool                  `json:"autoCompactionEnabled"`
	MessageCount          int                   `json:"messageCount"`
	PendingMessageCount   int                   `json:"pendingMessageCount" doc:"length of both queues"`
	InterruptMode         string                `json:"interruptMode" enum:"immediate,wait"`
	QueuedMessageCount    int                   `json:"queuedMessageCount" doc:"length of both queues"`
	TodoPhases            []todo.Phase          `json:"todoPhases"`
	Diagnostics           []string              `json:"diagnostics,omitempty" doc:"what was not loaded, and why"`
}

// Accepted is the data of prompt, steer, follow_up and abort_and_prompt. In the
// xcsh dialect prompt and abort_and_prompt have none: they are answered before
// it is known.
type Accepted struct {
	Disposition string `json:"disposition" enum:"started,queued,handled" doc:"handled: no run follows, and no agent_settled"`
}

// Queue is the data of clear_queue.
type Queue struct {
	Steering []string `json:"steering"`
	FollowUp []string `json:"followUp"`
}

// Cancelled is the data of new_session, switch_session and clone.
type Cancelled struct {
	Cancelled bool `json:"cancelled" doc:"an extension said no; everything is as before"`
}

// Messages is the data of get_messages.
type Messages struct {
	Messages []json.RawMessage `json:"messages" json-type:"message"`
}

// Cycled is the data of cycle_model.
type Cycled struct {
	Model         message.Model         `json:"model"`
	ThinkingLevel message.ThinkingLevel `json:"thinkingLevel" enum:"off,minimal,low,medium,high,xhigh,max"`
	IsScoped      bool                  `json:"isScoped" doc:"cycling is limited to the models chosen at the start"`
}

// Models is the data of get_available_models.
type Models struct {
	Models []message.Model `json:"models" doc:"those with credentials"`
}

// Level is the data of cycle_thinking_level.
type Level struct {
	Level message.ThinkingLevel `json:"level" enum:"off,minimal,low,medium,high,xhigh,max"`
}

// Levels is the data of get_available_thinking_levels.
type Levels struct {
	Levels []message.ThinkingLevel `json:"levels" enum:"off,minimal,low,medium,high,xhigh,max"`
}

// Compaction is the data of compact.
type Compaction struct {
	Summary              string          `json:"summary"`
	FirstKeptEntryID     string          `json:"firstKeptEntryId"`
	TokensBefore         int64           `json:"tokensBefore"`
	EstimatedTokensAfter int64           `json:"estimatedTokensAfter"`
	Usage                *message.Usage  `json:"usage,omitempty"`
	Details              json.RawMessage `json:"details,omitempty"`
}

// BashResult is the data of bash.
type BashResult struct {
	Output         string `json:"output"`
	ExitCode       *int   `json:"exitCode,omitempty" doc:"absent when cancelled"`
	Cancelled      bool   `json:"cancelled"`
	Truncated      bool   `json:"truncated"`
	FullOutputPath string `json:"fullOutputPath,omitempty" doc:"when truncated"`
}

// Stats is the data of get_session_stats.
type Stats struct {
	SessionFile       string        `json:"sessionFile,omitempty"`
	SessionID         string        `json:"sessionId"`
	UserMessages      int           `json:"userMessages"`
	AssistantMessages int           `json:"assistantMessages"`
	ToolCalls         int           `json:"toolCalls"`
	ToolResults       int           `json:"toolResults"`
	TotalMessages     int           `json:"totalMessages"`
	Tokens            Tokens        `json:"tokens"`
	Cost              float64       `json:"cost" doc:"dollars"`
	ContextUsage      *ContextUsage `json:"contextUsage,omitempty"`
}

// Tokens are sums over a whole session.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Total      int64 `json:"total"`
}

// ContextUsage says how full the context window is.
type ContextUsage struct {
	Tokens        *int64   `json:"tokens" doc:"null after a compaction, until the next answer"`
	ContextWindow int64    `json:"contextWindow"`
	Percent       *float64 `json:"percent" doc:"null where tokens is"`
}

// Path is the data of export_html.
type Path struct {
	Path string `json:"path" doc:"absolute"`
}

// Forked is the data of fork.
type Forked struct {
	Text      string `json:"text" doc:"of the message that the fork begins before"`
	Cancelled bool   `json:"cancelled"`
}

// ForkMessages is the data of get_fork_messages.
type ForkMessages struct {
	Messages []ForkMessage `json:"messages"`
}

// ForkMessage is a user message that a fork can begin before.
type ForkMessage struct {
	EntryID string `json:"entryId"`
	Text    string `json:"text"`
}

// Entries is the data of get_entries.
type Entries struct {
	Entries []json.RawMessage `json:"entries" json-type:"entry" doc:"in the order they were appended, without the header"`
	LeafID  *string           `json:"leafId" doc:"null for an empty session"`
}

// Tree is the data of get_tree.
type Tree struct {
	Tree   []*TreeNode `json:"tree" doc:"entries whose parent is missing are roots too"`
	LeafID *string     `json:"leafId"`
}

// TreeNode is an entry with what follows it.
type TreeNode struct {
	Entry          json.RawMessage `json:"entry" json-type:"entry"`
	Children       []*TreeNode     `json:"children"`
	Label          string          `json:"label,omitempty"`
	LabelTimestamp string          `json:"labelTimestamp,omitempty"`
}

// LastText is the data of get_last_assistant_text.
type LastText struct {
	Text *string `json:"text" doc:"null: there is no answer yet"`
}

// Commands is the data of get_commands.
type Commands struct {
	Commands []Command `json:"commands" doc:"extensions', then templates, then skills"`
}

// Command is something that a prompt can call with a slash.
type Command struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Source      string     `json:"source" enum:"extension,prompt,skill"`
	Location    string     `json:"location,omitempty" enum:"user,project,path"`
	Path        string     `json:"path,omitempty"`
	SourceInfo  SourceInfo `json:"sourceInfo"`
}

// SourceInfo says where something was loaded from.
type SourceInfo struct {
	Path    string `json:"path"`
	Source  string `json:"source" doc:"auto, cli, inline or extension:NAME"`
	Scope   string `json:"scope" doc:"user, project or temporary"`
	Origin  string `json:"origin"`
	BaseDir string `json:"baseDir,omitempty"`
}

// Todos is the data of set_todos.
type Todos struct {
	TodoPhases []todo.Phase `json:"todoPhases" doc:"the list in its regular form"`
}

// ToolNames is the data of set_host_tools.
type ToolNames struct {
	ToolNames []string `json:"toolNames"`
}

// Navigated is the data of navigate_tree.
type Navigated struct {
	Cancelled    bool            `json:"cancelled"`
	EditorText   *string         `json:"editorText,omitempty" doc:"of the user message that was navigated to"`
	SummaryEntry json.RawMessage `json:"summaryEntry,omitempty" json-type:"entry"`
}

// Extensions is the data of get_extensions.
type Extensions struct {
	Extensions []Extension `json:"extensions"`
}

// Extension is one extension and how it is doing.
type Extension struct {
	Name        string        `json:"name"`
	Version     string        `json:"version,omitempty"`
	Path        string        `json:"path"`
	PID         int           `json:"pid,omitempty"`
	State       string        `json:"state" doc:"starting, running, restarting, down or failed"`
	Restarts    int           `json:"restarts"`
	MemoryBytes int64         `json:"memoryBytes,omitempty" doc:"resident"`
	Commands    []string      `json:"commands"`
	Tools       []string      `json:"tools"`
	Events      []string      `json:"events"`
	Hooks       []HookLatency `json:"hooks"`
	LastError   string        `json:"lastError,omitempty"`
	Slow        bool          `json:"slow,omitempty" doc:"it does not keep up with the events that come in floods"`
	// DroppedEvents counts those of them that it never saw.
	DroppedEvents int64 `json:"droppedEvents,omitempty"`
}

// HookLatency is how long an extension takes for one kind of event.
type HookLatency struct {
	Event string  `json:"event"`
	Calls int64   `json:"calls"`
	P50Ms float64 `json:"p50Ms"`
	P99Ms float64 `json:"p99Ms"`
}

// Completions is the data of complete_command.
type Completions struct {
	Completions []Completion `json:"completions" doc:"in the order of the extension"`
}

// Completion is what a command suggests for its arguments.
type Completion struct {
	Value       string `json:"value" doc:"the arguments as they would stand behind the command"`
	Label       string `json:"label" doc:"what is shown for it"`
	Description string `json:"description,omitempty"`
}

// Sessions is the data of list_sessions.
type Sessions struct {
	Sessions []SessionInfo `json:"sessions" doc:"last changed first"`
}

// SessionInfo is one session file.
type SessionInfo struct {
	Path          string `json:"path"`
	ID            string `json:"id"`
	Name          string `json:"name,omitempty"`
	Cwd           string `json:"cwd"`
	Created       string `json:"created,omitempty" doc:"RFC 3339; absent: the file does not say"`
	Modified      string `json:"modified" doc:"RFC 3339"`
	MessageCount  int    `json:"messageCount"`
	FirstMessage  string `json:"firstMessage,omitempty"`
	ParentSession string `json:"parentSession,omitempty"`
}

// Protocol is the data of get_protocol.
type Protocol struct {
	Dialect  string                     `json:"dialect" enum:"pi,xcsh"`
	Version  string                     `json:"version"`
	Commands []CommandInfo              `json:"commands"`
	Events   []EventInfo                `json:"events"`
	Frames   []FrameInfo                `json:"frames" doc:"what travels beside commands, responses and events"`
	Defs     map[string]json.RawMessage `json:"$defs,omitempty" doc:"what the schemas refer to"`
}

// CommandInfo describes one command.
type CommandInfo struct {
	Name        string          `json:"name"`
	Aliases     []string        `json:"aliases,omitempty"`
	Description string          `json:"description"`
	Origin      string          `json:"origin" enum:"pi,xcsh,both,added" doc:"which reference documents it; added: neither"`
	Immediate   bool            `json:"immediate,omitempty" doc:"never waits behind another command"`
	Fields      []FieldInfo     `json:"fields"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Data        json.RawMessage `json:"data,omitempty" doc:"schema of the response's data; absent: it has none"`
}

// FieldInfo describes one field of a command.
type FieldInfo struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Required    bool     `json:"required"`
	Enum        []string `json:"enum,omitempty"`
	Description string   `json:"description,omitempty"`
}

// EventInfo describes one event.
type EventInfo struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}

// FrameInfo describes one of the other frames.
type FrameInfo struct {
	Type        string          `json:"type"`
	Direction   string          `json:"direction" enum:"in,out"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}
