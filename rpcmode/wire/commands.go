package wire

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/todo"
)

// Image is a picture that goes with a text.
type Image struct {
	Type     string `json:"type" enum:"image"`
	Data     string `json:"data" format:"base64" doc:"base64"`
	MimeType string `json:"mimeType" format:"image-type" doc:"e.g. image/png"`
}

// Prompt are the fields of prompt.
type Prompt struct {
	Message           string  `json:"message" doc:"text for the model, or a slash command"`
	Images            []Image `json:"images,omitempty"`
	StreamingBehavior string  `json:"streamingBehavior,omitempty" enum:"steer,followUp" doc:"what to do while a run is on; without it the prompt is refused then"`
}

// Text are the fields of steer, follow_up and abort_and_prompt.
type Text struct {
	Message string  `json:"message"`
	Images  []Image `json:"images,omitempty"`
}

// NewSession are the fields of new_session.
type NewSession struct {
	ParentSession string `json:"parentSession,omitempty" doc:"path that the new session's header names as its parent"`
}

// SetModel are the fields of set_model.
type SetModel struct {
	Provider string `json:"provider"`
	ModelID  string `json:"modelId"`
}

// SetThinkingLevel are the fields of set_thinking_level.
type SetThinkingLevel struct {
	Level message.ThinkingLevel `json:"level" enum:"off,minimal,low,medium,high,xhigh,max" doc:"clamped to what the model has"`
}

// SetQueueMode are the fields of set_steering_mode and set_follow_up_mode.
type SetQueueMode struct {
	Mode string `json:"mode" enum:"all,one-at-a-time"`
}

// SetInterruptMode are the fields of set_interrupt_mode.
type SetInterruptMode struct {
	Mode string `json:"mode" enum:"immediate,wait" doc:"immediate: steering cancels the rest of a batch of tool calls"`
}

// Compact are the fields of compact.
type Compact struct {
	CustomInstructions string `json:"customInstructions,omitempty" doc:"what the summary should dwell on"`
}

// Switch are the fields of set_auto_compaction and set_auto_retry.
type Switch struct {
	Enabled bool `json:"enabled"`
}

// Bash are the fields of bash.
type Bash struct {
	Command            string `json:"command"`
	ExcludeFromContext bool   `json:"excludeFromContext,omitempty" doc:"keep the result from the model"`
}

// ExportHTML are the fields of export_html.
type ExportHTML struct {
	OutputPath string `json:"outputPath,omitempty" doc:"default: named after the session file, in the working folder"`
}

// SwitchSession are the fields of switch_session.
type SwitchSession struct {
	SessionPath string `json:"sessionPath"`
}

// Fork are the fields of fork.
type Fork struct {
	EntryID string `json:"entryId" doc:"a user message; the new session ends before it"`
}

// GetEntries are the fields of get_entries.
type GetEntries struct {
	Since *string `json:"since,omitempty" null:"refuse" doc:"id of the last entry already known"`
}

// SetSessionName are the fields of set_session_name.
type SetSessionName struct {
	Name string `json:"name"`
}

// SetTodos are the fields of set_todos.
type SetTodos struct {
	Phases []TodoPhase `json:"phases"`
}

// TodoPhase is a phase as a host may write it: what is missing is filled in.
type TodoPhase struct {
	ID    string     `json:"id,omitempty"`
	Name  string     `json:"name,omitempty"`
	Tasks []TodoTask `json:"tasks"`
}

// TodoTask is a task as a host may write it.
type TodoTask struct {
	ID      string      `json:"id,omitempty"`
	Content string      `json:"content"`
	Status  todo.Status `json:"status,omitempty" enum:"pending,in_progress,completed,abandoned"`
}

// SetHostTools are the fields of set_host_tools.
type SetHostTools struct {
	Tools []HostTool `json:"tools" doc:"takes the place of the set before"`
}

// HostTool is a tool that the host runs.
type HostTool struct {
	Name        string          `json:"name"`
	Label       string          `json:"label,omitempty" doc:"for people; default: the name"`
	Description string          `json:"description" doc:"for the model"`
	Parameters  json.RawMessage `json:"parameters" json-type:"object" doc:"JSON Schema of the arguments"`
	Hidden      bool            `json:"hidden,omitempty" doc:"not active until somebody switches it on"`
}

// NavigateTree are the fields of navigate_tree.
type NavigateTree struct {
	TargetID           string `json:"targetId" doc:"for a user message the leaf becomes its parent, and its text is given back"`
	Summarize          bool   `json:"summarize,omitempty" doc:"summarise the branch that is left"`
	CustomInstructions string `json:"customInstructions,omitempty"`
	Label              string `json:"label,omitempty" doc:"for the target"`
}

// SetLabel are the fields of set_label.
type SetLabel struct {
	EntryID string `json:"entryId"`
	Label   string `json:"label,omitempty" doc:"empty or absent: the label is taken off"`
}

// CompleteCommand are the fields of complete_command.
type CompleteCommand struct {
	Name   string `json:"name" doc:"of an extension's command, without the slash, as get_commands has it"`
	Prefix string `json:"prefix,omitempty" doc:"what stands behind the command so far"`
}

// GetProtocol are the fields of get_protocol.
type GetProtocol struct {
	Schemas bool `json:"schemas,omitempty" doc:"with the JSON Schema of every frame"`
}

// ListSessions are the fields of list_sessions.
type ListSessions struct {
	Scope string `json:"scope,omitempty" enum:"folder,all" doc:"folder: those of the working folder, the default"`
}
