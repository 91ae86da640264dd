// Package wire has the frames of the RPC protocol as Go types: the fields of
// every command, the data of every response, and what travels for dialogs and
// host tools. Both ends use them, and the JSON Schemas, the reference page and
// the TypeScript types are made from them.
//
// A field is required unless its json tag says omitempty; the tag enum lists
// the words that a string may be, doc says what the field means, and a
// pointer may be null.
//
// It imports the standard library, core/message and core/todo only: a client
// must not have to link the agent.
package wire

import "encoding/json"

// Frame types beside commands and events.
const (
	TypeResponse       = "response"
	TypeUIRequest      = "extension_ui_request"
	TypeUIResponse     = "extension_ui_response"
	TypeHostToolCall   = "host_tool_call"
	TypeHostToolUpdate = "host_tool_update"
	TypeHostToolResult = "host_tool_result"
	TypeHostToolCancel = "host_tool_cancel"
	TypeReady          = "ready"
)

// Empty is for commands without fields.
type Empty struct{}

// None is for responses without data.
type None struct{}

// Response answers one command. The encoder of the server writes its fields
// by hand, in this order.
type Response struct {
	ID      json.RawMessage `json:"id,omitempty" doc:"as it stood in the command"`
	Type    string          `json:"type" enum:"response"`
	Command string          `json:"command" doc:"the command's type; parse for a line that is no command"`
	Success bool            `json:"success"`
	Data    json.RawMessage `json:"data,omitempty" doc:"with success; each command has its own"`
	Error   string          `json:"error,omitempty" doc:"without success"`
}
