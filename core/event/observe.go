package event

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/message"
)

// SessionStart says that a session is live.
type SessionStart struct {
	Reason              string `json:"reason"` // startup, reload, new, resume, fork
	PreviousSessionFile string `json:"previousSessionFile,omitempty"`
}

// SessionShutdown says that a session, or the process, is about to end. It is
// awaited for a bounded time.
type SessionShutdown struct {
	Reason            string `json:"reason"` // quit, reload, new, resume, fork
	TargetSessionFile string `json:"targetSessionFile,omitempty"`
}

// SessionCompact says that a compaction was stored.
type SessionCompact struct {
	CompactionEntry Raw              `json:"compactionEntry"`
	FromExtension   bool             `json:"fromExtension"`
	Reason          CompactionReason `json:"reason"`
	WillRetry       bool             `json:"willRetry"`
}

// SessionCompactFailed says that a compaction came to nothing.
type SessionCompactFailed struct {
	Reason       CompactionReason `json:"reason"`
	Aborted      bool             `json:"aborted"`
	ErrorMessage string           `json:"errorMessage,omitempty"`
}

// SessionTree says that the leaf has moved.
type SessionTree struct {
	NewLeafID     *string `json:"newLeafId"`
	OldLeafID     *string `json:"oldLeafId"`
	SummaryEntry  Raw     `json:"summaryEntry,omitempty"`
	FromExtension bool    `json:"fromExtension"`
}

// UIPromptStart says that a dialog was shown.
type UIPromptStart struct {
	ID     string `json:"id"`
	Method string `json:"method"`
	Title  string `json:"title"`
}

// UIPromptEnd says that a dialog is over.
type UIPromptEnd struct {
	ID        string `json:"id"`
	Method    string `json:"method"`
	Cancelled bool   `json:"cancelled"`
}

// AfterProviderResponse says what the model service answered first.
type AfterProviderResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
}

// ModelSelect says that the model has changed.
type ModelSelect struct {
	Model         message.Model  `json:"model"`
	PreviousModel *message.Model `json:"previousModel,omitempty"`
	Source        string         `json:"source"` // set, cycle
}

// ThinkingLevelSelect says that the thinking level has changed.
type ThinkingLevelSelect struct {
	Level         message.ThinkingLevel `json:"level"`
	PreviousLevel message.ThinkingLevel `json:"previousLevel"`
}

// Kind implements Event.
func (*SessionStart) Kind() Kind { return KindSessionStart }

// Kind implements Event.
func (*SessionShutdown) Kind() Kind { return KindSessionShutdown }

// Kind implements Event.
func (*SessionCompact) Kind() Kind { return KindSessionCompact }

// Kind implements Event.
func (*SessionCompactFailed) Kind() Kind { return KindSessionCompactFailed }

// Kind implements Event.
func (*SessionTree) Kind() Kind { return KindSessionTree }

// Kind implements Event.
func (*UIPromptStart) Kind() Kind { return KindUIPromptStart }

// Kind implements Event.
func (*UIPromptEnd) Kind() Kind { return KindUIPromptEnd }

// Kind implements Event.
func (*AfterProviderResponse) Kind() Kind { return KindAfterProviderResponse }

// Kind implements Event.
func (*ModelSelect) Kind() Kind { return KindModelSelect }

// Kind implements Event.
func (*ThinkingLevelSelect) Kind() Kind { return KindThinkingLevelSelect }

func optionalMember(data []byte, name string) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	if raw := all[name]; string(raw) != "null" {
		return raw, nil
	}
	return nil, nil
}
