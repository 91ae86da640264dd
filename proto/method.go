package proto

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
)

// Capability is something that a manifest may list. A manifest without a list
// allows everything; one with a list allows only what is in it.
type Capability string

// The capabilities of a manifest.
const (
	CanAsk         Capability = "ui"              // dialogs and notices
	CanRead        Capability = "session.read"    // entries, tree, messages, models, tools, system prompt
	CanWrite       Capability = "session.write"   // entries of its own, labels, the session's name
	CanControl     Capability = "session.control" // other sessions, the tree's leaf, reload, shutdown
	CanSend        Capability = "messages"        // messages to the model
	CanSteer       Capability = "agent"           // abort, compact
	CanSetModel    Capability = "models"          // model and thinking level
	CanAddTools    Capability = "tools"           // tools of its own, and which ones are active
	CanAddCommands Capability = "commands"        // slash commands
	CanAddProvider Capability = "providers"       // model providers
	CanDecide      Capability = "hooks"           // handlers whose result counts
	CanObserve     Capability = "events"          // handlers that are only told
	CanPublish     Capability = "bus"             // messages to and from other extensions
)

// Capabilities lists all that a manifest may name.
func Capabilities() []Capability {
	return []Capability{
		CanAsk, CanRead, CanWrite, CanControl, CanSend, CanSteer, CanSetModel,
		CanAddTools, CanAddCommands, CanAddProvider, CanDecide, CanObserve, CanPublish,
	}
}

// Method is one row of the table of what HostService.Call understands.
type Method struct {
	Name       string
	Capability Capability // empty: everybody may
	// CommandOnly methods wait for the session or replace it, and would wait
	// for ever if an event's handler called them.
	CommandOnly bool
	// Detached methods wait for the session, which may wait for the handler that
	// calls them: they are refused on its behalf, except to commands. Without a
	// call_id they are carried out in their turn.
	Detached bool
	// AnySession methods have nothing to do with the session, and may be
	// called with a context of one that is gone.
	AnySession bool
}

// The methods of HostService.Call. Behind each: arguments → result, as JSON.
const (
	MethodState        = "session.state"        // → State
	MethodEntries      = "session.entries"      // EntriesArgs → Entries
	MethodBranch       = "session.branch"       // BranchArgs → Entries
	MethodTree         = "session.tree"         // → Tree
	MethodMessages     = "session.messages"     // → [message]
	MethodSystemPrompt = "session.systemPrompt" // → string
	MethodAppendEntry  = "session.appendEntry"  // AppendEntryArgs → the entry
	MethodSetName      = "session.setName"      // SetNameArgs
	MethodSetLabel     = "session.setLabel"     // SetLabelArgs

	MethodWaitForIdle = "session.waitForIdle"
	MethodNewSession  = "session.new"      // NewSessionArgs → Changed
	MethodFork        = "session.fork"     // ForkArgs → Changed
	MethodNavigate    = "session.navigate" // NavigateArgs → Navigated
	MethodSwitch      = "session.switch"   // SwitchArgs → Changed
	MethodReload      = "session.reload"   // → Changed

	MethodAbort    = "agent.abort"
	MethodCompact  = "agent.compact" // CompactArgs → event.CompactionResult
	MethodShutdown = "agent.shutdown"

	MethodSendMessage     = "messages.send"     // SendMessageArgs
	MethodSendUserMessage = "messages.sendUser" // SendUserMessageArgs

	MethodModels      = "models.available"   // → [message.Model]
	MethodSetModel    = "models.set"         // SetModelArgs → message.Model
	MethodSetThinking = "models.setThinking" // SetThinkingArgs

	MethodTools          = "tools.list"      // → [Tool]
	MethodSetActiveTools = "tools.setActive" // SetActiveToolsArgs
	MethodCommands       = "commands.list"   // → [Command]

	MethodPublish            = "bus.publish"          // BusMessage
	MethodRegisterProvider   = "providers.register"   // Provider
	MethodUnregisterProvider = "providers.unregister" // UnregisterProviderArgs
)

// Methods gives the table. The caller may keep and change the slice.
func Methods() []Method {
	return []Method{
		{Name: MethodState},
		{Name: MethodEntries, Capability: CanRead},
		{Name: MethodBranch, Capability: CanRead},
		{Name: MethodTree, Capability: CanRead},
		{Name: MethodMessages, Capability: CanRead},
		{Name: MethodSystemPrompt, Capability: CanRead},
		{Name: MethodAppendEntry, Capability: CanWrite},
		{Name: MethodSetName, Capability: CanWrite},
		{Name: MethodSetLabel, Capability: CanWrite},
		{Name: MethodWaitForIdle, Capability: CanControl, CommandOnly: true},
		{Name: MethodNewSession, Capability: CanControl, CommandOnly: true},
		{Name: MethodFork, Capability: CanControl, CommandOnly: true},
		{Name: MethodNavigate, Capability: CanControl, CommandOnly: true},
		{Name: MethodSwitch, Capability: CanControl, CommandOnly: true},
		{Name: MethodReload, Capability: CanControl, CommandOnly: true},
		{Name: MethodAbort, Capability: CanSteer},
		{Name: MethodCompact, Capability: CanSteer, Detached: true},
		{Name: MethodShutdown, Capability: CanControl, AnySession: true},
		{Name: MethodSendMessage, Capability: CanSend},
		{Name: MethodSendUserMessage, Capability: CanSend},
		{Name: MethodModels, Capability: CanRead, AnySession: true},
		{Name: MethodSetModel, Capability: CanSetModel},
		{Name: MethodSetThinking, Capability: CanSetModel},
		{Name: MethodTools, Capability: CanRead, AnySession: true},
		{Name: MethodSetActiveTools, Capability: CanAddTools},
		{Name: MethodCommands, Capability: CanRead, AnySession: true},
		{Name: MethodPublish, Capability: CanPublish, AnySession: true},
		{Name: MethodRegisterProvider, Capability: CanAddProvider, AnySession: true},
		{Name: MethodUnregisterProvider, Capability: CanAddProvider, AnySession: true},
	}
}

// KindBus is the kind under which HandleRequest carries a BusMessage.
const KindBus = "bus"

// State is where the session stands.
type State struct {
	Generation         uint64                `json:"generation"`
	Cwd                string                `json:"cwd"`
	Mode               string                `json:"mode"`
	HasUI              bool                  `json:"hasUI"`
	ProjectTrusted     bool                  `json:"projectTrusted"`
	SessionFile        string                `json:"sessionFile,omitempty"`
	SessionID          string                `json:"sessionId"`
	SessionName        string                `json:"sessionName,omitempty"`
	Model              *message.Model        `json:"model,omitempty"`
	ThinkingLevel      message.ThinkingLevel `json:"thinkingLevel"`
	IsIdle             bool                  `json:"isIdle"`
	HasPendingMessages bool                  `json:"hasPendingMessages"`
	ContextUsage       *ContextUsage         `json:"contextUsage,omitempty"`
}

// ContextUsage is how full the model's window is; nil numbers are not known
// yet, as after a compaction.
type ContextUsage struct {
	Tokens        *int64   `json:"tokens"`
	ContextWindow int64    `json:"contextWindow"`
	Percent       *float64 `json:"percent"`
}

// EntriesArgs asks for the entries behind one; nil: all.
type EntriesArgs struct {
	Since *string `json:"since,omitempty"`
}

// BranchArgs asks for the way from the root to an entry; nil: to the leaf.
type BranchArgs struct {
	EntryID *string `json:"entryId,omitempty"`
}

// Entries are entries of the session file, oldest first.
type Entries struct {
	Entries []json.RawMessage `json:"entries"`
	LeafID  *string           `json:"leafId"`
}

// Tree is the whole session as a tree. It has no nesting: a session is a chain
// of many thousand entries, and readers of JSON give up at some depth.
type Tree struct {
	Nodes  []TreeNode `json:"nodes"` // each behind its parent, siblings in their order
	LeafID *string    `json:"leafId"`
}

// TreeNode is an entry in its place in the tree.
type TreeNode struct {
	Entry          json.RawMessage `json:"entry"`
	Parent         int             `json:"parent"` // its place among the nodes; -1: a root
	Label          string          `json:"label,omitempty"`
	LabelTimestamp string          `json:"labelTimestamp,omitempty"`
}

// AppendEntryArgs is an entry of the extension's own, which no model sees.
type AppendEntryArgs struct {
	CustomType string          `json:"customType"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// SetNameArgs names the session.
type SetNameArgs struct {
	Name string `json:"name"`
}

// SetLabelArgs labels an entry; an empty label removes it.
type SetLabelArgs struct {
	EntryID string `json:"entryId"`
	Label   string `json:"label,omitempty"`
}

// NewSessionArgs begins a session.
type NewSessionArgs struct {
	ParentSession string `json:"parentSession,omitempty"`
	// Setup is what the session holds before session_start: entries as the
	// session file has them, without id, parentId and timestamp, of the types
	// message, custom, custom_message and session_info. Hosts that take them say
	// CapabilitySetup.
	Setup []json.RawMessage `json:"setup,omitempty"`
}

// ForkArgs begins a session from an entry of this one.
type ForkArgs struct {
	EntryID  string `json:"entryId"`
	Position string `json:"position,omitempty"` // before (default), at
}

// SwitchArgs opens another session file.
type SwitchArgs struct {
	SessionPath string `json:"sessionPath"`
}

// Changed is what came of replacing the session.
type Changed struct {
	Cancelled  bool   `json:"cancelled"`
	Text       string `json:"text,omitempty"` // fork: the message that was forked at
	Generation uint64 `json:"generation"`     // of the session that is current now
	Cwd        string `json:"cwd,omitempty"`  // that it works in; empty: the one before it did
}

// NavigateArgs moves the leaf to another entry.
type NavigateArgs struct {
	TargetID           string `json:"targetId"`
	Summarize          bool   `json:"summarize,omitempty"`
	CustomInstructions string `json:"customInstructions,omitempty"`
	Label              string `json:"label,omitempty"`
}

// Navigated is what came of moving the leaf.
type Navigated struct {
	Cancelled    bool            `json:"cancelled"`
	EditorText   *string         `json:"editorText,omitempty"`
	SummaryEntry json.RawMessage `json:"summaryEntry,omitempty"`
}

// CompactArgs asks for a compaction.
type CompactArgs struct {
	CustomInstructions string `json:"customInstructions,omitempty"`
}

// SendMessageArgs puts a custom message into the conversation.
type SendMessageArgs struct {
	Message     event.CustomMessage `json:"message"`
	DeliverAs   string              `json:"deliverAs,omitempty"` // steer, followUp, nextTurn
	TriggerTurn bool                `json:"triggerTurn,omitempty"`
}

// SendUserMessageArgs says something in the user's place.
type SendUserMessageArgs struct {
	Content   message.Content `json:"content"`
	DeliverAs string          `json:"deliverAs,omitempty"` // steer, followUp
}

// SetModelArgs chooses a model.
type SetModelArgs struct {
	Provider string `json:"provider"`
	ModelID  string `json:"modelId"`
}

// SetThinkingArgs chooses a thinking level.
type SetThinkingArgs struct {
	Level message.ThinkingLevel `json:"level"`
}

// Tool describes a tool of the session.
type Tool struct {
	Name        string          `json:"name"`
	Label       string          `json:"label,omitempty"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Snippet     string          `json:"promptSnippet,omitempty"`
	Guidelines  []string        `json:"promptGuidelines,omitempty"`
	Active      bool            `json:"active"`
	Source      string          `json:"source"` // builtin, host, or the extension's path
}

// SetActiveToolsArgs says which tools the model has from the next turn on.
type SetActiveToolsArgs struct {
	Names []string `json:"names"`
}

// Command is something that a prompt can call with a slash.
type Command struct {
	Name        string     `json:"name"` // without the slash
	Description string     `json:"description,omitempty"`
	Source      string     `json:"source"`             // extension, prompt, skill
	Location    string     `json:"location,omitempty"` // user, project, path; empty for extensions
	Path        string     `json:"path,omitempty"`
	SourceInfo  SourceInfo `json:"sourceInfo"`
}

// SourceInfo says where something was loaded from.
type SourceInfo struct {
	Path    string `json:"path"`
	Source  string `json:"source"`            // auto, cli, inline or extension:NAME
	Scope   string `json:"scope"`             // user, project, temporary
	Origin  string `json:"origin"`            // top-level, package
	BaseDir string `json:"baseDir,omitempty"` // folder it was found under
}

// BusMessage is a message between extensions.
type BusMessage struct {
	Topic string          `json:"topic"`
	Data  json.RawMessage `json:"data,omitempty"`
	From  string          `json:"from,omitempty"` // the sender's name; set by the host
}

// Provider is a model provider that an extension registers.
type Provider struct {
	Name    string            `json:"name"`
	BaseURL string            `json:"baseUrl,omitempty"`
	APIKey  string            `json:"apiKey,omitempty"` // as in models.json: a key, or $VARIABLE
	API     string            `json:"api,omitempty"`    // which adapter speaks to it
	Headers map[string]string `json:"headers,omitempty"`
	Models  []message.Model   `json:"models,omitempty"`
	// Streams says that the extension streams the answers itself.
	Streams bool `json:"streams,omitempty"`
}

// UnregisterProviderArgs removes a provider that the extension registered.
type UnregisterProviderArgs struct {
	Name string `json:"name"`
}
