package config

import (
	"encoding/json"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
)

// Settings are the effective settings: every field has a usable value. The
// names in settings.json are those of the reference agents, where they have
// the setting.
type Settings struct {
	DefaultProvider      string                // empty: not set
	DefaultModel         string                // empty: not set
	DefaultThinkingLevel message.ThinkingLevel // empty: not set
	// ThinkingBudgets has tokens by level; a level that is not there has the
	// adapter's own budget.
	ThinkingBudgets map[message.ThinkingLevel]int
	EnabledModels   []string // patterns, see Catalogue.Scoped; nil: all

	SteeringMode  string // all, one-at-a-time
	FollowUpMode  string // all, one-at-a-time
	InterruptMode string // immediate, wait

	Compaction    CompactionSettings
	BranchSummary BranchSummarySettings
	Retry         RetrySettings
	// StreamIdleTimeout is how long a model's stream may say nothing; 0: for
	// ever.
	StreamIdleTimeout time.Duration
	HTTPProxy         string // address for model requests; empty: the environment's

	// DefaultTools names the tools that are on at first. DefaultToolsOff are
	// those that were taken away: an extension that brings one does not switch
	// it on.
	DefaultTools, DefaultToolsOff []string
	ShellPath                     string // empty: the system's
	ShellCommandPrefix            string // put before every bash command
	Images                        ImageSettings

	SessionDir string // absolute; empty: the usual one

	// Extensions, Skills and Prompts are files, folders and globs, the user's
	// before the project's.
	Extensions, Skills, Prompts []PathEntry
	Packages                    []PackageEntry
	EnableSkillCommands         bool

	Rules RuleSettings

	DefaultProjectTrust string // ask, always, never

	// HookTimeout is how long an extension may take for one hook, and
	// ExtensionStartTimeout how long for its start; 0: as long as it likes.
	HookTimeout           time.Duration
	ExtensionStartTimeout time.Duration
}

// CompactionSettings say when and how a conversation is summarised.
type CompactionSettings struct {
	Enabled          bool
	ReserveTokens    int64 // kept free for the answer
	KeepRecentTokens int64 // not summarised
}

// BranchSummarySettings are for summaries of branches that are left.
type BranchSummarySettings struct {
	ReserveTokens int64
}

// RetrySettings say how failed model calls are tried again.
type RetrySettings struct {
	Enabled    bool
	MaxRetries int
	BaseDelay  time.Duration // doubled with each attempt
	MaxDelay   time.Duration // where the doubling ends; 0: nowhere
	// RequestTimeout bounds one request; 0: only StreamIdleTimeout does.
	RequestTimeout time.Duration
	// MaxServiceDelay is the longest wait that a service may ask for: a longer
	// one ends the run. What it asks for is waited for, whatever MaxDelay is; 0:
	// any.
	MaxServiceDelay time.Duration
}

// RuleSettings say how rules act that watch the model write.
type RuleSettings struct {
	Enabled       bool
	ContextMode   string   // discard, keep: what becomes of the answer that was stopped
	InterruptMode string   // always, prose-only, tool-only, never
	RepeatMode    string   // once, after-gap
	RepeatGap     int      // complete answers before a rule counts again
	Disabled      []string // names of rules that are left out
}

// ImageSettings are about images in messages.
type ImageSettings struct {
	AutoResize  bool
	BlockImages bool // none are sent to models
}

// Scope says whose a file or setting is. The values are the wire's.
type Scope string

// The scopes.
const (
	ScopeUser    Scope = "user"
	ScopeProject Scope = "project"
)

// PathEntry is one line of a list of files, folders and globs. !glob takes
// away, +path and -path add and take away exactly one.
type PathEntry struct {
	Text    string
	BaseDir string // what a relative path is relative to
	Scope   Scope
}

// PackageEntry is one package of the settings. A nil list takes all of what
// the package has, an empty one none of it.
type PackageEntry struct {
	Source     string   `json:"source"`
	Extensions []string `json:"extensions"`
	Skills     []string `json:"skills"`
	Prompts    []string `json:"prompts"`
	Rules      []string `json:"rules"`

	BaseDir string `json:"-"`
	Scope   Scope  `json:"-"`
}

// UnmarshalJSON reads a package: a text is its source, with everything in it.
func (p *PackageEntry) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &p.Source) == nil {
		return nil
	}
	type plain PackageEntry
	return json.Unmarshal(data, (*plain)(p))
}
