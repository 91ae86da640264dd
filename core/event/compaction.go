package event

import "github.com/seed-54e836f5/pi/core/message"

// CompactionReason says why a compaction runs.
type CompactionReason string

// The reasons of a compaction.
const (
	CompactManual    CompactionReason = "manual"
	CompactThreshold CompactionReason = "threshold"
	CompactOverflow  CompactionReason = "overflow"
)

// CompactionStart announces a compaction.
type CompactionStart struct {
	Reason CompactionReason `json:"reason"`
}

// CompactionEnd ends a compaction.
type CompactionEnd struct {
	Reason       CompactionReason  `json:"reason"`
	Result       *CompactionResult `json:"result"` // nil: failed or aborted
	Aborted      bool              `json:"aborted"`
	WillRetry    bool              `json:"willRetry"` // true: the overflowed request is sent again
	ErrorMessage string            `json:"errorMessage,omitempty"`
}

// CompactionResult is what a compaction gave; it is also the answer to the
// command compact.
type CompactionResult struct {
	Summary              string         `json:"summary"`
	FirstKeptEntryID     string         `json:"firstKeptEntryId"`
	TokensBefore         int64          `json:"tokensBefore"`
	EstimatedTokensAfter int64          `json:"estimatedTokensAfter"`
	Usage                *message.Usage `json:"usage,omitempty"`
	Details              Raw            `json:"details,omitempty"`
}

// SummaryRetry announces a wait before a summary is asked for again.
type SummaryRetry struct {
	Attempt      int    `json:"attempt"`
	MaxAttempts  int    `json:"maxAttempts"`
	DelayMS      int64  `json:"delayMs"`
	ErrorMessage string `json:"errorMessage"`
}

// SummaryRetryAttempt begins another try of a summary.
type SummaryRetryAttempt struct {
	Source string           `json:"source"`           // compaction, branchSummary
	Reason CompactionReason `json:"reason,omitempty"` // compaction only
}

// SummaryRetryFinished ends the tries of a summary.
type SummaryRetryFinished struct{}

// Kind implements Event.
func (*CompactionStart) Kind() Kind { return KindCompactionStart }

// Kind implements Event.
func (*CompactionEnd) Kind() Kind { return KindCompactionEnd }

// Kind implements Event.
func (*SummaryRetry) Kind() Kind { return KindSummaryRetry }

// Kind implements Event.
func (*SummaryRetryAttempt) Kind() Kind { return KindSummaryRetryAttempt }

// Kind implements Event.
func (*SummaryRetryFinished) Kind() Kind { return KindSummaryRetryFinished }
