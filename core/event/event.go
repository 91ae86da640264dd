// Package event names everything that happens in a session and everything
// that a hook may decide: one Go type per kind, with the JSON form that
// clients and extensions see, and one table that says what each kind is for.
//
// It imports the standard library and core/message only. An event is shared
// by all who receive it; only the hook chain changes one, and only the fields
// that the kind's result type names.
package event

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/message"
)

// Kind is the name of an event, as it stands in the field type on the wire
// and in an extension's registration.
type Kind string

// Event is one occurrence. Implementations are pointers to the structs of
// this package; their JSON form has all fields but type.
type Event interface {
	Kind() Kind
}

// Encode gives the wire form of an event: its JSON object with the field type
// in front.
func Encode(e Event) ([]byte, error) {
	if e, ok := e.(appender); ok {
		return encodeInOnePass(e)
	}
	body, err := message.Marshal(e)
	if err != nil {
		return nil, err
	}
	return message.Splice("type", []byte(`"`+string(e.Kind())+`"`), body), nil
}

// appender is an event whose messages may hold pictures of many megabytes: it
// writes itself, with at least one member.
type appender interface {
	Event
	AppendJSON(dst []byte) ([]byte, error)
}

func encodeInOnePass(e appender) ([]byte, error) {
	head := `{"type":"` + string(e.Kind()) + `"`
	frame, err := e.AppendJSON([]byte(head))
	if err != nil {
		return nil, err
	}
	frame[len(head)] = ',' // where the event's own object begins
	return frame, nil
}

// The kinds that go to clients, to extensions, or to both: see the table.
const (
	KindAgentStart          Kind = "agent_start"
	KindAgentEnd            Kind = "agent_end"
	KindAgentSettled        Kind = "agent_settled"
	KindTurnStart           Kind = "turn_start"
	KindTurnEnd             Kind = "turn_end"
	KindMessageStart        Kind = "message_start"
	KindMessageUpdate       Kind = "message_update"
	KindMessageEnd          Kind = "message_end"
	KindToolExecutionStart  Kind = "tool_execution_start"
	KindToolExecutionUpdate Kind = "tool_execution_update"
	KindToolExecutionEnd    Kind = "tool_execution_end"

	KindBashExecutionUpdate  Kind = "bash_execution_update"
	KindQueueUpdate          Kind = "queue_update"
	KindCompactionStart      Kind = "compaction_start"
	KindCompactionEnd        Kind = "compaction_end"
	KindAutoRetryStart       Kind = "auto_retry_start"
	KindAutoRetryEnd         Kind = "auto_retry_end"
	KindSummaryRetry         Kind = "summarization_retry_scheduled"
	KindSummaryRetryAttempt  Kind = "summarization_retry_attempt_start"
	KindSummaryRetryFinished Kind = "summarization_retry_finished"
	KindExtensionError       Kind = "extension_error"
	KindSessionInfoChanged   Kind = "session_info_changed"
	KindThinkingLevelChanged Kind = "thinking_level_changed"
	KindEntryAppended        Kind = "entry_appended"
	KindStorageError         Kind = "storage_error"
	KindTodoReminder         Kind = "todo_reminder"
	KindTodoAutoClear        Kind = "todo_auto_clear"
	KindRulesTriggered       Kind = "ttsr_triggered"

	KindProjectTrust          Kind = "project_trust"
	KindResourcesDiscover     Kind = "resources_discover"
	KindSessionBeforeSwitch   Kind = "session_before_switch"
	KindSessionBeforeFork     Kind = "session_before_fork"
	KindSessionBeforeCompact  Kind = "session_before_compact"
	KindSessionBeforeTree     Kind = "session_before_tree"
	KindInput                 Kind = "input"
	KindBeforeAgentStart      Kind = "before_agent_start"
	KindContext               Kind = "context"
	KindBeforeProviderHeaders Kind = "before_provider_headers"
	KindBeforeProviderRequest Kind = "before_provider_request"
	KindToolCall              Kind = "tool_call"
	KindToolResult            Kind = "tool_result"
	KindUserBash              Kind = "user_bash"

	KindSessionStart          Kind = "session_start"
	KindSessionCompact        Kind = "session_compact"
	KindSessionCompactFailed  Kind = "session_compact_failed"
	KindSessionTree           Kind = "session_tree"
	KindSessionShutdown       Kind = "session_shutdown"
	KindUIPromptStart         Kind = "ui_prompt_start"
	KindUIPromptEnd           Kind = "ui_prompt_end"
	KindAfterProviderResponse Kind = "after_provider_response"
	KindModelSelect           Kind = "model_select"
	KindThinkingLevelSelect   Kind = "thinking_level_select"
)

// Raw is JSON that is passed on as it is.
type Raw = json.RawMessage
