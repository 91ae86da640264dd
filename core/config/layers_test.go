package config_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/config"
)

// layered are two values of each setting, as the files have them, and how else
// it can be given.
var layered = map[string]struct {
	one, two       string
	flag, variable string // names; empty: there is none
	userOnly       bool
	both           bool // the lists of files add up
}{
	"defaultProvider":                {one: `"p"`, two: `"q"`, flag: "--provider"},
	"defaultModel":                   {one: `"m"`, two: `"n"`, flag: "--model"},
	"defaultThinkingLevel":           {one: `"low"`, two: `"high"`, flag: "--thinking"},
	"thinkingBudgets.minimal":        {one: `1`, two: `2`},
	"thinkingBudgets.low":            {one: `1`, two: `2`},
	"thinkingBudgets.medium":         {one: `1`, two: `2`},
	"thinkingBudgets.high":           {one: `1`, two: `2`},
	"enabledModels":                  {one: `["a"]`, two: `["b"]`, flag: "--models"},
	"steeringMode":                   {one: `"all"`, two: `"one-at-a-time"`},
	"followUpMode":                   {one: `"all"`, two: `"one-at-a-time"`},
	"interruptMode":                  {one: `"immediate"`, two: `"wait"`},
	"compaction.enabled":             {one: `false`, two: `true`},
	"compaction.reserveTokens":       {one: `1`, two: `2`},
	"compaction.keepRecentTokens":    {one: `1`, two: `2`},
	"branchSummary.reserveTokens":    {one: `1`, two: `2`},
	"retry.enabled":                  {one: `false`, two: `true`},
	"retry.maxRetries":               {one: `1`, two: `2`},
	"retry.baseDelayMs":              {one: `1`, two: `2`},
	"retry.maxDelayMs":               {one: `1`, two: `0`},
	"retry.provider.timeoutMs":       {one: `1`, two: `"disabled"`},
	"retry.provider.maxRetryDelayMs": {one: `1`, two: `0`},
	"httpIdleTimeoutMs":              {one: `1`, two: `2`},
	"httpProxy":                      {one: `"http://a:1"`, two: `"http://b:1"`, userOnly: true},
	"defaultTools":                   {one: `["ls"]`, two: `["grep"]`, flag: "--tools"},
	"shellPath":                      {one: `"/bin/sh"`, two: `"/bin/bash"`},
	"shellCommandPrefix":             {one: `"a"`, two: `"b"`},
	"images.autoResize":              {one: `false`, two: `true`},
	"images.blockImages":             {one: `true`, two: `false`},
	"sessionDir":                     {one: `"/a"`, two: `"/b"`, flag: "--session-dir", variable: "PI_CODING_AGENT_SESSION_DIR"},
	"extensions":                     {one: `["a"]`, two: `["b"]`, both: true},
	"skills":                         {one: `["a"]`, two: `["b"]`, both: true},
	"prompts":                        {one: `["a"]`, two: `["b"]`, both: true},
	"packages":                       {one: `["a"]`, two: `[{"source":"b"}]`, both: true},
	"enableSkillCommands":            {one: `false`, two: `true`},
	"ttsr.enabled":                   {one: `false`, two: `true`},
	"ttsr.contextMode":               {one: `"keep"`, two: `"discard"`},
	"ttsr.interruptMode":             {one: `"never"`, two: `"always"`},
	"ttsr.repeatMode":                {one: `"after-gap"`, two: `"once"`},
	"ttsr.repeatGap":                 {one: `1`, two: `2`},
	"ttsr.disabledRules":             {one: `["a"]`, two: `["b"]`},
	"defaultProjectTrust":            {one: `"never"`, two: `"always"`, userOnly: true},
	"extensionHookTimeoutMs":         {one: `1`, two: `2`},
	"extensionStartTimeoutMs":        {one: `1`, two: `2`},
}

// TestEverySettingInEveryLayer goes through all that pi config shows: the
// default, the user, the project, the environment, a flag, each before those
// in front of it, with where the value came from.
func TestEverySettingInEveryLayer(t *testing.T) {
	var shown []string
	for _, v := range config.LoadSettings(config.SettingsOptions{Paths: project(t, "", "")}).Values {
		shown = append(shown, v.Key)
	}
	if keys := slices.Sorted(maps.Keys(layered)); !slices.Equal(keys, slices.Sorted(slices.Values(shown))) {
		t.Fatalf("settings are shown that this test does not know, or the other way round:\n%q\n%q", keys, shown)
	}
	for key, c := range layered {
		t.Run(key, func(t *testing.T) {
			user, own := nested(key, c.one), nested(key, c.two)
			paths := project(t, user, own)
			flags := map[string]string{}
			load := func(trusted bool, env config.Env) string {
				t.Helper()
				l := config.LoadSettings(config.SettingsOptions{Paths: paths, Trusted: trusted, Env: env, Flags: flags})
				var rows []string
				for _, v := range l.Values {
					if v.Key == key {
						rows = append(rows, fmt.Sprintf("%s %s %s", v.Layer, compact(t, v.Value), v.From))
					}
				}
				return strings.Join(rows, "; ")
			}
			asUser, asProject := fmt.Sprintf("user %s %s", compact(t, []byte(c.one)), paths.SettingsFile()), fmt.Sprintf("project %s %s", compact(t, []byte(c.two)), paths.ProjectSettingsFile())
			want := asProject
			switch {
			case c.userOnly:
				want = asUser
			case c.both:
				want = asUser + "; " + asProject
			}
			if got := load(false, nil); got != asUser {
				t.Errorf("the user's is %s, want %s", got, asUser)
			}
			if got := load(true, nil); got != want {
				t.Errorf("the project's is %s, want %s", got, want)
			}
			env := environment(c.variable + "=/v")
			if c.variable != "" {
				if got, want := load(true, env), `environment "/v" `+c.variable; got != want {
					t.Errorf("that of the environment is %s, want %s", got, want)
				}
			}
			if c.flag != "" {
				flags[key] = "high" // fits all that have a flag
				got := load(true, env)
				if !strings.HasPrefix(got, "flag ") || !strings.Contains(got, `"high"`) || !strings.HasSuffix(got, " "+c.flag) || strings.Contains(got, ";") {
					t.Errorf("that of the flag is %s", got)
				}
			}
		})
	}
}

// docs/settings.md has a row for each setting, with its default, its flag, its
// variable, and whether a project can set it.
func TestSettingsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if key, ok := strings.CutPrefix(line, "| `"); ok {
			key, rest, _ := strings.Cut(key, "` | ")
			rows[key] = rest
		}
	}
	for _, v := range config.LoadSettings(config.SettingsOptions{Paths: project(t, "", "")}).Values {
		c, row := layered[v.Key], rows[v.Key]
		delete(rows, v.Key)
		value := "`" + string(v.Value) + "`"
		if string(v.Value) == `""` || string(v.Value) == "null" {
			value = "-"
		}
		if !strings.HasPrefix(row, value+" | ") || !strings.Contains(row, c.flag) || !strings.Contains(row, c.variable) || strings.Contains(row, "yours only") != c.userOnly {
			t.Errorf("the row of %s is %q, with the default %s, the flag %q, the variable %q, yours only: %v", v.Key, row, value, c.flag, c.variable, c.userOnly)
		}
	}
	if len(rows) > 0 {
		t.Errorf("there are no settings %q", slices.Sorted(maps.Keys(rows)))
	}
}

// nested writes a settings file with one value at a key with dots.
func nested(key, value string) string {
	parts := strings.Split(key, ".")
	text := value
	for _, part := range slices.Backward(parts) {
		text = fmt.Sprintf("{%q: %s}", part, text)
	}
	return text
}

func compact(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	decode(t, string(raw), &v)
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
