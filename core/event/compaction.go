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
	Result       *CompactionResult `json:"result" doc:"null: it failed or was aborted"`
	Aborted      bool              `json:"aborted"`
	WillRetry    bool              `json:"willRetry" doc:"the request that was too long is sent again"`
	ErrorMessage string            `json:"errorMessage,omitempty"`
}

// CompactionResult is what a compaction gave; it is also the answer to the
// command compact.
type CompactionResult struct {
	Summary              string         `json:"summary"`
	FirstKeptEntryID     string         `json:"firstKeptEntryId" doc:"where the part begins that is kept as it is"`
	TokensBefore         int64          `json:"tokensBefore" doc:"of the context"`
	EstimatedTokensAfter int64          `json:"estimatedTokensAfter" doc:"of the context"`
	Usage                *message.Usage `json:"usage,omitempty" doc:"of the requests for the summary"`
	Details              Raw            `json:"details,omitempty" doc:"files that were read and changed, or what an extension put here"`
}

// SummaryRetry announces a wait before a summary is asked for again.
type SummaryRetry struct {
	Attempt      int    `json:"attempt" doc:"from 1"`
	MaxAttempts  int    `json:"maxAttempts"`
	DelayMS      int64  `json:"delayMs"`
	ErrorMessage string `json:"errorMessage" doc:"why the last try failed"`
}

// SummaryRetryAttempt begins another try of a summary.
type SummaryRetryAttempt struct {
	Source string           `json:"source" enum:"compaction,branchSummary"`
	Reason CompactionReason `json:"reason,omitempty" doc:"of a compaction"`
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
