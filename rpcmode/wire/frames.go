package wire

import "encoding/json"

// UIRequest asks the client to show something. Dialogs (select, confirm,
// input, editor) are answered by a UIResponse with their id; notices (notify,
// setStatus, setWidget, setTitle, set_editor_text) are not; cancel takes back
// the dialog TargetID (xcsh only). Which fields are there depends on Method.
type UIRequest struct {
	Type   string `json:"type" enum:"extension_ui_request"`
	ID     string `json:"id"`
	Method string `json:"method" enum:"select,confirm,input,editor,notify,setStatus,setWidget,setTitle,set_editor_text,cancel"`

	Title       *string   `json:"title,omitempty" doc:"the dialogs, setTitle"`
	Message     *string   `json:"message,omitempty" doc:"confirm, notify"`
	Options     *[]string `json:"options,omitempty" doc:"select"`
	Placeholder *string   `json:"placeholder,omitempty" doc:"input"`
	Prefill     *string   `json:"prefill,omitempty" doc:"editor"`
	Timeout     int64     `json:"timeout,omitempty" doc:"milliseconds after which the agent goes on without an answer"`

	NotifyType      string    `json:"notifyType,omitempty" enum:"info,warning,error" doc:"notify; absent: info"`
	StatusKey       *string   `json:"statusKey,omitempty" doc:"setStatus"`
	StatusText      *string   `json:"statusText,omitempty" doc:"setStatus; absent: clear"`
	WidgetKey       *string   `json:"widgetKey,omitempty" doc:"setWidget"`
	WidgetLines     *[]string `json:"widgetLines,omitempty" doc:"setWidget; absent: clear"`
	WidgetPlacement string    `json:"widgetPlacement,omitempty" enum:"aboveEditor,belowEditor" doc:"setWidget; absent: aboveEditor"`
	Text            *string   `json:"text,omitempty" doc:"set_editor_text"`
	TargetID        string    `json:"targetId,omitempty" doc:"cancel"`
}

// UIResponse answers a dialog: with a value, with confirmed, or with
// cancelled.
type UIResponse struct {
	Type      string  `json:"type" enum:"extension_ui_response"`
	ID        string  `json:"id" doc:"of the dialog; unknown ones are ignored"`
	Value     *string `json:"value,omitempty" doc:"select, input, editor"`
	Confirmed *bool   `json:"confirmed,omitempty" doc:"confirm"`
	Cancelled bool    `json:"cancelled,omitempty" doc:"the dialog was dismissed"`
}

// HostToolCall asks the host to run one of its tools.
type HostToolCall struct {
	Type       string          `json:"type" enum:"host_tool_call"`
	ID         string          `json:"id"`
	ToolCallID string          `json:"toolCallId" doc:"the model's call"`
	ToolName   string          `json:"toolName"`
	Arguments  json.RawMessage `json:"arguments" json-type:"object"`
}

// HostToolUpdate shows how far a call is.
type HostToolUpdate struct {
	Type          string         `json:"type" enum:"host_tool_update"`
	ID            string         `json:"id" doc:"of the host_tool_call; unknown ones are ignored"`
	PartialResult HostToolOutput `json:"partialResult" doc:"all there is so far"`
}

// HostToolResult ends a call.
type HostToolResult struct {
	Type    string         `json:"type" enum:"host_tool_result"`
	ID      string         `json:"id" doc:"of the host_tool_call; unknown ones are ignored"`
	Result  HostToolOutput `json:"result"`
	IsError bool           `json:"isError,omitempty"`
}

// HostToolOutput is what a host tool gave.
type HostToolOutput struct {
	Content []HostToolBlock `json:"content"`
	Details json.RawMessage `json:"details,omitempty" doc:"for clients; the model does not see it"`
}

// HostToolBlock is a piece of what a host tool gave: a text or an image.
type HostToolBlock struct {
	Type     string `json:"type" enum:"text,image"`
	Text     string `json:"text,omitempty" doc:"text"`
	Data     string `json:"data,omitempty" format:"base64" doc:"image: base64"`
	MimeType string `json:"mimeType,omitempty" format:"image-type" doc:"image, e.g. image/png"`
}

// HostToolCancel takes back a call: nobody waits for its result any more.
type HostToolCancel struct {
	Type     string `json:"type" enum:"host_tool_cancel"`
	ID       string `json:"id"`
	TargetID string `json:"targetId" doc:"of the host_tool_call"`
}

// Ready is the first frame of the xcsh dialect.
type Ready struct {
	Type string `json:"type" enum:"ready"`
}
