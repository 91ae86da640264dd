package message

import (
	"encoding/json"
	"fmt"
)

// Everything here is written in one pass. Were the values left to
// encoding/json, it would go over the JSON of a picture once more for each
// value that the picture is in.

// Append appends the JSON form of a message to dst.
func Append(dst []byte, m Message) ([]byte, error) {
	if m, ok := m.(appender); ok && !isNil(m) {
		return m.AppendJSON(dst)
	}
	return appendValue(dst, m)
}

// AppendJSON appends the JSON form to dst.
func (m *User) AppendJSON(dst []byte) ([]byte, error) {
	o := beginMessage(dst, RoleUser)
	o.append("content", m.Content)
	o.integer("timestamp", m.Timestamp)
	return o.endMessage(m.Extra)
}

// AppendJSON appends the JSON form to dst.
func (m *Assistant) AppendJSON(dst []byte) ([]byte, error) {
	o := beginMessage(dst, RoleAssistant)
	o.append("content", blocks(m.Content))
	o.text("api", m.API)
	o.text("provider", m.Provider)
	o.text("model", m.Model)
	o.append("usage", m.Usage)
	o.text("stopReason", string(m.StopReason))
	o.integer("timestamp", m.Timestamp)
	o.textIfAny("responseId", m.ResponseID)
	o.textIfAny("rawStopReason", m.RawStopReason)
	o.textIfAny("errorMessage", m.ErrorMessage)
	return o.endMessage(m.Extra)
}

// AppendJSON appends the JSON form to dst.
func (m *ToolResult) AppendJSON(dst []byte) ([]byte, error) {
	o := beginMessage(dst, RoleToolResult)
	o.text("toolCallId", m.ToolCallID)
	o.text("toolName", m.ToolName)
	o.append("content", blocks(m.Content))
	o.rawIfAny("details", m.Details)
	if m.Usage != nil {
		o.append("usage", m.Usage)
	}
	o.boolean("isError", m.IsError)
	o.integer("timestamp", m.Timestamp)
	return o.endMessage(m.Extra)
}

// AppendJSON appends the JSON form to dst.
func (m *BashExecution) AppendJSON(dst []byte) ([]byte, error) {
	o := beginMessage(dst, RoleBashExecution)
	o.text("command", m.Command)
	o.text("output", m.Output)
	if m.ExitCode != nil {
		o.integer("exitCode", int64(*m.ExitCode))
	}
	o.boolean("cancelled", m.Cancelled)
	o.boolean("truncated", m.Truncated)
	o.textIfAny("fullOutputPath", m.FullOutputPath)
	o.integer("timestamp", m.Timestamp)
	o.booleanIfTrue("excludeFromContext", m.ExcludeFromContext)
	return o.endMessage(m.Extra)
}

// AppendJSON appends the JSON form to dst.
func (m *Custom) AppendJSON(dst []byte) ([]byte, error) {
	o := beginMessage(dst, RoleCustom)
	o.text("customType", m.CustomType)
	o.append("content", m.Content)
	o.boolean("display", m.Display)
	o.rawIfAny("details", m.Details)
	o.integer("timestamp", m.Timestamp)
	return o.endMessage(m.Extra)
}

// AppendJSON appends the JSON form to dst.
func (m *BranchSummary) AppendJSON(dst []byte) ([]byte, error) {
	o := beginMessage(dst, RoleBranchSummary)
	o.text("summary", m.Summary)
	o.text("fromId", m.FromID)
	o.integer("timestamp", m.Timestamp)
	return o.endMessage(m.Extra)
}

// AppendJSON appends the JSON form to dst.
func (m *CompactionSummary) AppendJSON(dst []byte) ([]byte, error) {
	o := beginMessage(dst, RoleCompactionSummary)
	o.text("summary", m.Summary)
	o.integer("tokensBefore", m.TokensBefore)
	o.integer("timestamp", m.Timestamp)
	return o.endMessage(m.Extra)
}

// AppendJSON appends the JSON form to dst.
func (m *Opaque) AppendJSON(dst []byte) ([]byte, error) { return appendRaw(dst, m.Raw) }

// AppendJSON appends the JSON form to dst.
func (u Usage) AppendJSON(dst []byte) ([]byte, error) {
	o := beginObject(dst)
	o.integer("input", u.Input)
	o.integer("output", u.Output)
	o.integer("cacheRead", u.CacheRead)
	o.integer("cacheWrite", u.CacheWrite)
	o.integer("totalTokens", u.TotalTokens)
	o.append("cost", u.Cost)
	o.integerIfKnown("cacheWrite1h", u.CacheWrite1h)
	o.integerIfKnown("reasoning", u.Reasoning)
	return o.end(u.Extra)
}

// AppendJSON appends the JSON form to dst.
func (c Cost) AppendJSON(dst []byte) ([]byte, error) {
	o := beginObject(dst)
	o.value("input", c.Input)
	o.value("output", c.Output)
	o.value("cacheRead", c.CacheRead)
	o.value("cacheWrite", c.CacheWrite)
	o.value("total", c.Total)
	return o.end(c.Extra)
}

func beginMessage(dst []byte, role Role) *object {
	o := beginObject(dst)
	o.text("role", string(role))
	return o
}

func (o *object) endMessage(extra Fields) ([]byte, error) {
	dst, err := o.end(extra)
	if err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return dst, nil
}

// AppendJSON appends the JSON form to dst.
func (l List) AppendJSON(dst []byte) ([]byte, error) { return appendList(dst, l, Append) }

// AppendJSON appends the JSON form to dst.
func (c Content) AppendJSON(dst []byte) ([]byte, error) {
	if c.plain {
		return AppendString(dst, c.text), nil
	}
	return blocks(c.blocks).AppendJSON(dst)
}

type blocks []Block

// AppendJSON implements appender.
func (b blocks) AppendJSON(dst []byte) ([]byte, error) {
	return appendList(dst, b, func(dst []byte, b Block) ([]byte, error) { return b.AppendJSON(dst) })
}

// AppendJSON appends the JSON form to dst.
func (b Block) AppendJSON(dst []byte) ([]byte, error) {
	o := beginObject(dst)
	o.text("type", string(b.Type))
	switch b.Type {
	case BlockText:
		o.text("text", b.Text)
		o.textIfAny("textSignature", b.TextSignature)
	case BlockThinking:
		o.text("thinking", b.Thinking)
		o.textIfAny("thinkingSignature", b.ThinkingSignature)
		o.booleanIfTrue("redacted", b.Redacted)
	case BlockToolCall:
		o.text("id", b.ID)
		o.text("name", b.Name)
		arguments := b.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		o.raw("arguments", arguments)
		o.textIfAny("thoughtSignature", b.ThoughtSignature)
	case BlockImage:
		o.text("data", b.Data)
		o.text("mimeType", b.MimeType)
	}
	return o.end(b.Extra)
}

// MarshalJSON implements json.Marshaler.
func (m *User) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (m *Assistant) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (m *ToolResult) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (m *BashExecution) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (m *Custom) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (m *BranchSummary) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (m *CompactionSummary) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (m *Opaque) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (l List) MarshalJSON() ([]byte, error) { return l.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (c Content) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (b Block) MarshalJSON() ([]byte, error) { return b.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (u Usage) MarshalJSON() ([]byte, error) { return u.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (c Cost) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil) }
