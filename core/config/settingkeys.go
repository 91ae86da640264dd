package config

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
)

// setting is one row of the table of settings.
type setting struct {
	key      string // path in settings.json
	variable string // environment variable; empty: none
	flag     string // flag of the command line; empty: none
	userOnly bool   // a project cannot set it
	// joins says whether a list is put behind those of lower layers, and does not
	// take their place; nil: it does.
	joins    func(raw json.RawMessage) bool
	expected string // for people
	value    json.RawMessage
	// put decodes a value and stores it; false: it does not fit.
	put func(s *Settings, raw json.RawMessage, from place) bool
}

// place is where a value stands, for paths in it.
type place struct {
	scope Scope
	base  string // folder of relative paths
	cwd   string
	home  string
}

const hour = time.Hour

// settingTable lists all settings with their defaults.
var settingTable = []setting{
	text("defaultProvider", func(s *Settings) *string { return &s.DefaultProvider }).onFlag("--provider"),
	text("defaultModel", func(s *Settings) *string { return &s.DefaultModel }).onFlag("--model"),
	word("defaultThinkingLevel", "", message.ThinkingLevels(), func(s *Settings) *message.ThinkingLevel { return &s.DefaultThinkingLevel }).onFlag("--thinking"),
	thinkingBudget(message.ThinkingMinimal),
	thinkingBudget(message.ThinkingLow),
	thinkingBudget(message.ThinkingMedium),
	thinkingBudget(message.ThinkingHigh),
	texts("enabledModels", func(s *Settings) *[]string { return &s.EnabledModels }).onFlag("--models"),
	word("steeringMode", "one-at-a-time", []string{"all", "one-at-a-time"}, func(s *Settings) *string { return &s.SteeringMode }),
	word("followUpMode", "one-at-a-time", []string{"all", "one-at-a-time"}, func(s *Settings) *string { return &s.FollowUpMode }),
	word("interruptMode", "wait", []string{"immediate", "wait"}, func(s *Settings) *string { return &s.InterruptMode }),
	boolean("compaction.enabled", true, func(s *Settings) *bool { return &s.Compaction.Enabled }),
	number("compaction.reserveTokens", 16384, 0, 1e9, func(s *Settings) *int64 { return &s.Compaction.ReserveTokens }),
	number("compaction.keepRecentTokens", 20000, 0, 1e9, func(s *Settings) *int64 { return &s.Compaction.KeepRecentTokens }),
	number("branchSummary.reserveTokens", 16384, 0, 1e9, func(s *Settings) *int64 { return &s.BranchSummary.ReserveTokens }),
	boolean("retry.enabled", true, func(s *Settings) *bool { return &s.Retry.Enabled }),
	number("retry.maxRetries", 3, 0, 100, func(s *Settings) *int { return &s.Retry.MaxRetries }),
	milliseconds("retry.baseDelayMs", 2*time.Second, hour, func(s *Settings) *time.Duration { return &s.Retry.BaseDelay }),
	// The doubling ends at maxDelayMs. What a service asks for is waited for, and
	// refused beyond provider.maxRetryDelayMs. 0 is no limit in both.
	milliseconds("retry.maxDelayMs", time.Minute, hour, func(s *Settings) *time.Duration { return &s.Retry.MaxDelay }),
	milliseconds("retry.provider.timeoutMs", 0, 24*hour, func(s *Settings) *time.Duration { return &s.Retry.RequestTimeout }),
	milliseconds("retry.provider.maxRetryDelayMs", time.Minute, 24*hour, func(s *Settings) *time.Duration { return &s.Retry.MaxServiceDelay }),
	// Longer than the pauses of models that think unseen.
	milliseconds("httpIdleTimeoutMs", 5*time.Minute, 24*hour, func(s *Settings) *time.Duration { return &s.StreamIdleTimeout }),
	text("httpProxy", func(s *Settings) *string { return &s.HTTPProxy }).onlyUser(),
	defaultTools().onFlag("--tools"),
	path("shellPath", false, func(s *Settings) *string { return &s.ShellPath }),
	text("shellCommandPrefix", func(s *Settings) *string { return &s.ShellCommandPrefix }),
	boolean("images.autoResize", true, func(s *Settings) *bool { return &s.Images.AutoResize }),
	boolean("images.blockImages", false, func(s *Settings) *bool { return &s.Images.BlockImages }),
	path("sessionDir", true, func(s *Settings) *string { return &s.SessionDir }).onFlag("--session-dir").onVariable("PI_CODING_AGENT_SESSION_DIR"),
	paths("extensions", func(s *Settings) *[]PathEntry { return &s.Extensions }),
	paths("skills", func(s *Settings) *[]PathEntry { return &s.Skills }),
	paths("prompts", func(s *Settings) *[]PathEntry { return &s.Prompts }),
	packages(),
	boolean("enableSkillCommands", true, func(s *Settings) *bool { return &s.EnableSkillCommands }),
	boolean("ttsr.enabled", true, func(s *Settings) *bool { return &s.Rules.Enabled }),
	word("ttsr.contextMode", "discard", []string{"discard", "keep"}, func(s *Settings) *string { return &s.Rules.ContextMode }),
	word("ttsr.interruptMode", "always", []string{"always", "prose-only", "tool-only", "never"}, func(s *Settings) *string { return &s.Rules.InterruptMode }),
	word("ttsr.repeatMode", "once", []string{"once", "after-gap"}, func(s *Settings) *string { return &s.Rules.RepeatMode }),
	number("ttsr.repeatGap", 10, 1, 1e6, func(s *Settings) *int { return &s.Rules.RepeatGap }),
	texts("ttsr.disabledRules", func(s *Settings) *[]string { return &s.Rules.Disabled }),
	word("defaultProjectTrust", "ask", []string{"ask", "always", "never"}, func(s *Settings) *string { return &s.DefaultProjectTrust }).onlyUser(),
	milliseconds("extensionHookTimeoutMs", 30*time.Second, 24*hour, func(s *Settings) *time.Duration { return &s.HookTimeout }),
	milliseconds("extensionStartTimeoutMs", 15*time.Second, hour, func(s *Settings) *time.Duration { return &s.ExtensionStartTimeout }),
}

// otherKeys are settings of the reference agents' terminal interface and of
// services that are not here. They are no mistakes, and have no effect.
var otherKeys = []string{
	"$schema", "hideThinkingBlock", "showCacheMissNotices", "cacheWarming", "modelThinkingLevels", "theme", "themes",
	"externalEditor", "quietStartup", "collapseChangelog", "enableInstallTelemetry", "enableAnalytics", "trackingId",
	"doubleEscapeAction", "treeFilterMode", "editorPaddingX", "outputPad", "autocompleteMaxVisible", "showHardwareCursor",
	"tuiMode", "fullscreenScrollbar", "warnings", "branchSummary.skipPrompt", "retry.provider.maxRetries", "transport",
	"websocketConnectTimeoutMs", "terminal", "npmCommand", "markdown", "lastChangelogVersion",
}

func (s setting) onFlag(name string) setting     { s.flag = name; return s }
func (s setting) onVariable(name string) setting { s.variable = name; return s }
func (s setting) onlyUser() setting              { s.userOnly = true; return s }

// row makes a row; value is the default as settings.json would have it.
func row(key, expected string, value any, put func(*Settings, json.RawMessage, place) bool) setting {
	raw, err := message.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("setting %s: %v", key, err))
	}
	return setting{key: key, expected: expected, value: raw, put: put}
}

func boolean(key string, value bool, field func(*Settings) *bool) setting {
	return row(key, "true or false", value, func(s *Settings, raw json.RawMessage, _ place) bool {
		return json.Unmarshal(raw, field(s)) == nil
	})
}

func text(key string, field func(*Settings) *string) setting {
	return row(key, "a text", "", func(s *Settings, raw json.RawMessage, _ place) bool {
		return json.Unmarshal(raw, field(s)) == nil
	})
}

func word[T ~string](key string, value T, words []T, field func(*Settings) *T) setting {
	var list []string
	for _, w := range words {
		list = append(list, string(w))
	}
	return row(key, "one of "+strings.Join(list, ", "), value, func(s *Settings, raw json.RawMessage, _ place) bool {
		var v T
		if json.Unmarshal(raw, &v) != nil || v != value && !slices.Contains(words, v) {
			return false
		}
		*field(s) = v
		return true
	})
}

func number[T int | int64](key string, value, least, most T, field func(*Settings) *T) setting {
	return row(key, fmt.Sprintf("a whole number from %d to %d", least, most), value, func(s *Settings, raw json.RawMessage, _ place) bool {
		var v float64
		if json.Unmarshal(raw, &v) != nil || v < float64(least) || v > float64(most) || v != math.Trunc(v) {
			return false
		}
		*field(s) = T(v)
		return true
	})
}

// milliseconds is a duration; the word disabled is 0.
func milliseconds(key string, value, most time.Duration, field func(*Settings) *time.Duration) setting {
	expected := fmt.Sprintf("milliseconds from 0 to %d", most.Milliseconds())
	return row(key, expected, value.Milliseconds(), func(s *Settings, raw json.RawMessage, _ place) bool {
		var v float64
		if string(raw) != `"disabled"` && (json.Unmarshal(raw, &v) != nil || v < 0 || v > float64(most.Milliseconds())) {
			return false
		}
		*field(s) = time.Duration(v * float64(time.Millisecond))
		return true
	})
}

func thinkingBudget(level message.ThinkingLevel) setting {
	r := row("thinkingBudgets."+string(level), "a whole number of tokens from 1", nil, func(s *Settings, raw json.RawMessage, _ place) bool {
		var v int
		if json.Unmarshal(raw, &v) != nil || v < 1 {
			return false
		}
		if s.ThinkingBudgets == nil {
			s.ThinkingBudgets = map[message.ThinkingLevel]int{}
		}
		s.ThinkingBudgets[level] = v
		return true
	})
	return r
}

func texts(key string, field func(*Settings) *[]string) setting {
	return row(key, "a list of texts", nil, func(s *Settings, raw json.RawMessage, _ place) bool {
		var v []string
		if json.Unmarshal(raw, &v) != nil {
			return false
		}
		*field(s) = v
		return true
	})
}

// path is a file or folder; one that is not absolute is below the working
// folder if relative says so, and else a name to look up.
func path(key string, relative bool, field func(*Settings) *string) setting {
	return row(key, "a path", "", func(s *Settings, raw json.RawMessage, from place) bool {
		var v string
		if json.Unmarshal(raw, &v) != nil {
			return false
		}
		v = expandHome(v, from.home)
		if relative && v != "" && !filepath.IsAbs(v) {
			v = filepath.Join(from.cwd, v)
		}
		*field(s) = v
		return true
	})
}

func paths(key string, field func(*Settings) *[]PathEntry) setting {
	r := row(key, "a list of paths", nil, func(s *Settings, raw json.RawMessage, from place) bool {
		var v []string
		if json.Unmarshal(raw, &v) != nil {
			return false
		}
		for _, p := range v {
			*field(s) = append(*field(s), PathEntry{Text: p, BaseDir: from.base, Scope: from.scope})
		}
		return true
	})
	r.joins = always
	return r
}

func always(json.RawMessage) bool { return true }

// defaultTools is a list of names, in the place of the usual ones; +name and
// -name alone add to what lower layers say, and take away from it.
func defaultTools() setting {
	usual := []string{"read", "bash", "edit", "write"}
	r := row("defaultTools", "a list of names, or of +name and -name", usual, func(s *Settings, raw json.RawMessage, _ place) bool {
		var v []string
		if json.Unmarshal(raw, &v) != nil {
			return false
		}
		if !onlyChanges(raw) {
			s.DefaultTools, s.DefaultToolsOff = []string{}, nil
		}
		for _, name := range v {
			bare := strings.TrimLeft(name, "+-")
			on := slices.DeleteFunc(slices.Clone(s.DefaultTools), func(other string) bool { return other == bare })
			off := slices.DeleteFunc(slices.Clone(s.DefaultToolsOff), func(other string) bool { return other == bare })
			switch {
			case strings.HasPrefix(name, "-"):
				off = append(off, bare)
			case len(on) == len(s.DefaultTools):
				on = append(on, bare)
			default:
				on = s.DefaultTools
			}
			s.DefaultTools, s.DefaultToolsOff = on, off
		}
		return true
	})
	r.joins = onlyChanges
	return r
}

// onlyChanges says whether a list of tools has nothing but +name and -name.
func onlyChanges(raw json.RawMessage) bool {
	var names []string
	return json.Unmarshal(raw, &names) == nil && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, "+") && !strings.HasPrefix(name, "-")
	})
}

func packages() setting {
	r := row("packages", "a list of packages, each a text or an object with source", nil, func(s *Settings, raw json.RawMessage, from place) bool {
		var v []PackageEntry
		if json.Unmarshal(raw, &v) != nil || slices.ContainsFunc(v, func(p PackageEntry) bool { return p.Source == "" }) {
			return false
		}
		for _, p := range v {
			p.BaseDir, p.Scope = from.base, from.scope
			s.Packages = append(s.Packages, p)
		}
		return true
	})
	r.joins = always
	return r
}
