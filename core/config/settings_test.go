package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/message"
)

// project makes an agent folder and a working folder with these settings; ""
// is no file.
func project(t testing.TB, user, own string) config.Paths {
	t.Helper()
	dir := t.TempDir()
	p := config.Paths{AgentDir: filepath.Join(dir, "agent"), Home: filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "work")}
	for path, content := range map[string]string{p.SettingsFile(): user, p.ProjectSettingsFile(): own} {
		if content == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func value(t *testing.T, l config.Loaded, key string) config.Value {
	t.Helper()
	for _, v := range l.Values {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("no value of %s", key)
	return config.Value{}
}

func TestSettingsDefaults(t *testing.T) {
	l := config.LoadSettings(config.SettingsOptions{Paths: project(t, "", ""), Trusted: true})
	want := config.Settings{
		SteeringMode: "one-at-a-time", FollowUpMode: "one-at-a-time", InterruptMode: "wait",
		Compaction:        config.CompactionSettings{Enabled: true, ReserveTokens: 16384, KeepRecentTokens: 20000},
		BranchSummary:     config.BranchSummarySettings{ReserveTokens: 16384},
		Retry:             config.RetrySettings{Enabled: true, MaxRetries: 3, BaseDelay: 2 * time.Second, MaxDelay: time.Minute, MaxServiceDelay: time.Minute},
		StreamIdleTimeout: 5 * time.Minute, Images: config.ImageSettings{AutoResize: true}, EnableSkillCommands: true,
		Rules:        config.RuleSettings{Enabled: true, ContextMode: "discard", InterruptMode: "always", RepeatMode: "once", RepeatGap: 10},
		DefaultTools: []string{"read", "bash", "edit", "write"}, DefaultProjectTrust: "ask", HookTimeout: 30 * time.Second, ExtensionStartTimeout: 15 * time.Second,
	}
	if !reflect.DeepEqual(l.Settings, want) {
		t.Errorf("got  %+v\nwant %+v", l.Settings, want)
	}
	if len(l.Warnings)+len(l.Unused) > 0 {
		t.Errorf("warnings: %v %v", l.Warnings, l.Unused)
	}
	for _, v := range l.Values {
		if v.Layer != config.LayerDefault || v.From != "" || !json.Valid(v.Value) {
			t.Errorf("%+v", v)
		}
	}
}

func TestSettingsPrecedence(t *testing.T) {
	p := project(t,
		`{"steeringMode": "all", "compaction": {"enabled": false, "reserveTokens": 100}, "sessionDir": "/user", "defaultModel": "u", "retry": {"baseDelayMs": 200}}`,
		`{"compaction": {"reserveTokens": 8192}, "sessionDir": "below", "defaultModel": "p"}`)
	env := environment("PI_CODING_AGENT_SESSION_DIR=~/env")
	for _, c := range []struct {
		name    string
		options config.SettingsOptions
		want    map[string]string // layer and value by key
	}{
		{"user only", config.SettingsOptions{}, map[string]string{
			"steeringMode": `user "all"`, "compaction.enabled": "user false", "compaction.reserveTokens": "user 100",
			"sessionDir": `user "/user"`, "defaultModel": `user "u"`, "retry.maxRetries": "default 3", "retry.baseDelayMs": "user 200",
		}},
		{"trusted project", config.SettingsOptions{Trusted: true}, map[string]string{
			"steeringMode": `user "all"`, "compaction.enabled": "user false", "compaction.reserveTokens": "project 8192",
			"sessionDir": `project "below"`, "defaultModel": `project "p"`,
		}},
		{"environment", config.SettingsOptions{Trusted: true, Env: env}, map[string]string{"sessionDir": `environment "~/env"`}},
		{"flag", config.SettingsOptions{Trusted: true, Env: env, Flags: map[string]string{"sessionDir": "flagged", "defaultModel": "12", "enabledModels": "a,b:low"}},
			map[string]string{"sessionDir": `flag "flagged"`, "defaultModel": `flag "12"`, "enabledModels": `flag ["a","b:low"]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Paths = p
			l := config.LoadSettings(c.options)
			for key, want := range c.want {
				v := value(t, l, key)
				if got := fmt.Sprintf("%s %s", v.Layer, v.Value); got != want {
					t.Errorf("%s: %s, want %s", key, got, want)
				}
			}
			if len(l.Warnings) > 0 {
				t.Error(l.Warnings)
			}
		})
	}
	l := config.LoadSettings(config.SettingsOptions{Paths: p, Trusted: true, Env: env})
	if got, want := l.Settings.SessionDir, filepath.Join(p.Home, "env"); got != want {
		t.Errorf("the session folder of the environment is %s, want %s", got, want)
	}
	if got := value(t, l, "sessionDir").From; got != "PI_CODING_AGENT_SESSION_DIR" {
		t.Errorf("it came from %q", got)
	}
	l = config.LoadSettings(config.SettingsOptions{Paths: p, Trusted: true})
	if got, want := l.Settings.SessionDir, filepath.Join(p.Cwd, "below"); got != want || l.Settings.Compaction.Enabled || l.Settings.Retry.BaseDelay != 200*time.Millisecond {
		t.Errorf("session folder %s, want %s; %+v", got, want, l.Settings)
	}
	if got := value(t, l, "sessionDir").From; got != p.ProjectSettingsFile() {
		t.Errorf("it came from %q", got)
	}
}

func TestUntrustedProjectSetsNothing(t *testing.T) {
	p := project(t, "", `{"shellPath": "/bin/evil", "shellCommandPrefix": "evil", "extensions": ["evil"], broken`)
	l := config.LoadSettings(config.SettingsOptions{Paths: p})
	if l.Settings.ShellPath != "" || l.Settings.ShellCommandPrefix != "" || l.Settings.Extensions != nil || len(l.Warnings) > 0 {
		t.Errorf("settings %+v, warnings %v", l.Settings, l.Warnings)
	}
}

// A repository must not be able to trust itself, or send the user's requests
// through a proxy of its own.
func TestProjectCannotSetWhatIsTheUsers(t *testing.T) {
	p := project(t, `{"httpProxy": "http://mine"}`, `{"defaultProjectTrust": "always", "httpProxy": "http://theirs", "steeringMode": "all"}`)
	l := config.LoadSettings(config.SettingsOptions{Paths: p, Trusted: true})
	if l.Settings.DefaultProjectTrust != "ask" || l.Settings.HTTPProxy != "http://mine" || l.Settings.SteeringMode != "all" {
		t.Errorf("settings: %+v", l.Settings)
	}
	if len(l.Warnings) != 2 || !strings.Contains(l.Warnings[0].String(), "a project cannot set this") {
		t.Errorf("warnings: %v", l.Warnings)
	}
}

func TestSettingsWarnings(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"not json", "{\n  \"theme\": \"dark\"\n  \"steeringMode\": \"all\"\n}", `:3:3: not JSON: invalid character '"' after object key:value pair; none of this file counts`},
		{"cut off", `{"steeringMode": "all"`, ":1:23: not JSON: unexpected end of JSON input; none of this file counts"},
		{"list", `["all"]`, ":1:1: expected a JSON object; none of this file counts"},
		{"word", `{"steeringMode": "sometimes"}`, `:1:18: steeringMode: expected one of all, one-at-a-time, found "sometimes"; it is ignored`},
		{"type", "{\n\t\"compaction\": {\"enabled\": \"yes\"}}", `:2:28: compaction.enabled: expected true or false, found "yes"; it is ignored`},
		{"range", `{"retry": {"maxRetries": -1}}`, `:1:26: retry.maxRetries: expected a whole number from 0 to 100, found -1; it is ignored`},
		{"fraction", `{"retry": {"maxRetries": 1.5}}`, `:1:26: retry.maxRetries: expected a whole number from 0 to 100, found 1.5; it is ignored`},
		{"huge", `{"compaction": {"reserveTokens": 1e300}}`, `:1:34: compaction.reserveTokens: expected a whole number from 0 to 1000000000, found 1e300; it is ignored`},
		{"group", `{"retry": 5}`, `:1:11: retry: expected an object; it is ignored`},
		{"list of texts", `{"enabledModels": ["a", 5]}`, `:1:19: enabledModels: expected a list of texts, found ["a", 5]; it is ignored`},
		{"level", `{"defaultThinkingLevel": "huge"}`, `:1:26: defaultThinkingLevel: expected one of off, minimal, low, medium, high, xhigh, max, found "huge"; it is ignored`},
		{"duration", `{"httpIdleTimeoutMs": "soon"}`, `:1:23: httpIdleTimeoutMs: expected milliseconds from 0 to 86400000, found "soon"; it is ignored`},
		{"package", `{"packages": [{"skills": []}]}`, `:1:14: packages: expected a list of packages, each a text or an object with source, found [{"skills": []}]; it is ignored`},
		{"long", `{"steeringMode": "` + strings.Repeat("secret", 20) + `"}`, `:1:18: steeringMode: expected one of all, one-at-a-time, found a long text; it is ignored`},
		{"characters", `{"é": 1, "steeringMode": 1}`, `:1:26: steeringMode: expected one of all, one-at-a-time, found 1; it is ignored`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := project(t, c.content, "")
			l := config.LoadSettings(config.SettingsOptions{Paths: p})
			if len(l.Warnings) != 1 || l.Warnings[0].String() != p.SettingsFile()+c.want {
				t.Errorf("warnings %v\nwant %s", l.Warnings, p.SettingsFile()+c.want)
			}
			defaults := config.LoadSettings(config.SettingsOptions{Paths: project(t, "", "")})
			if !reflect.DeepEqual(l.Settings, defaults.Settings) {
				t.Errorf("the defaults are not used: %+v", l.Settings)
			}
			if got := read(t, p.SettingsFile()); got != c.content {
				t.Errorf("the file was changed: %q", got)
			}
		})
	}
}

func TestLowerLayerCountsWhereTheHigherIsWrong(t *testing.T) {
	p := project(t, `{"steeringMode": "all"}`, `{"steeringMode": "never"}`)
	l := config.LoadSettings(config.SettingsOptions{Paths: p, Trusted: true})
	if v := value(t, l, "steeringMode"); l.Settings.SteeringMode != "all" || v.Layer != config.LayerUser || len(l.Warnings) != 1 {
		t.Errorf("%s, %+v, %v", l.Settings.SteeringMode, v, l.Warnings)
	}
}

func TestHarmlessFiles(t *testing.T) {
	for name, content := range map[string]string{
		"empty":           " \n",
		"byte order mark": "\ufeff{}",
		"null":            `{"steeringMode": null, "retry": null}`,
		"terminal":        `{"$schema": "x", "theme": "dark", "terminal": {"showImages": true}, "retry": {"provider": {"maxRetries": 0}}}`,
		"extremes":        `{"retry": {"maxRetries": 0, "baseDelayMs": 0}, "httpIdleTimeoutMs": "disabled", "compaction": {"reserveTokens": 1e3}}`,
	} {
		l := config.LoadSettings(config.SettingsOptions{Paths: project(t, content, "")})
		if len(l.Warnings)+len(l.Unused) > 0 {
			t.Errorf("%s: %v %v", name, l.Warnings, l.Unused)
		}
		if name == "extremes" && (l.Settings.StreamIdleTimeout != 0 || l.Settings.Retry.MaxRetries != 0 || l.Settings.Compaction.ReserveTokens != 1000) {
			t.Errorf("extremes: %+v", l.Settings)
		}
	}
}

func TestUnusedMembersAreListed(t *testing.T) {
	p := project(t, "{\n \"compactoin\": {\"enabled\": false},\n \"retry\": {\"maxRetrys\": 1}}", "")
	l := config.LoadSettings(config.SettingsOptions{Paths: p})
	if len(l.Warnings) > 0 || len(l.Unused) != 2 || l.Unused[0].Key != "compactoin" || l.Unused[1].Key != "retry.maxRetrys" || l.Unused[1].Line != 3 {
		t.Errorf("warnings %v, unused %v", l.Warnings, l.Unused)
	}
}

func TestListsOfResourcesAreJoined(t *testing.T) {
	p := project(t, `{"skills": ["~/shared", "!old"], "packages": ["a", {"source": "b", "skills": ["x"], "extensions": []}]}`,
		`{"skills": ["../.claude/skills"], "packages": ["c"]}`)
	l := config.LoadSettings(config.SettingsOptions{Paths: p, Trusted: true})
	want := []config.PathEntry{
		{Text: "~/shared", BaseDir: p.AgentDir, Scope: config.ScopeUser}, {Text: "!old", BaseDir: p.AgentDir, Scope: config.ScopeUser},
		{Text: "../.claude/skills", BaseDir: p.ProjectDir(), Scope: config.ScopeProject},
	}
	if !slices.Equal(l.Settings.Skills, want) {
		t.Errorf("skills: %+v", l.Settings.Skills)
	}
	wantPackages := []config.PackageEntry{
		{Source: "a", BaseDir: p.AgentDir, Scope: config.ScopeUser},
		{Source: "b", Skills: []string{"x"}, Extensions: []string{}, BaseDir: p.AgentDir, Scope: config.ScopeUser},
		{Source: "c", BaseDir: p.ProjectDir(), Scope: config.ScopeProject},
	}
	if !reflect.DeepEqual(l.Settings.Packages, wantPackages) {
		t.Errorf("packages: %+v", l.Settings.Packages)
	}
	var layers []config.Layer
	for _, v := range l.Values {
		if v.Key == "skills" {
			layers = append(layers, v.Layer)
		}
	}
	if !slices.Equal(layers, []config.Layer{config.LayerUser, config.LayerProject}) {
		t.Errorf("the rows of skills are of %v", layers)
	}
}

func TestThinkingBudgetsAndPaths(t *testing.T) {
	p := project(t, `{"thinkingBudgets": {"low": 4096, "high": 0}, "shellPath": "~/bin/bash", "defaultTools": ["read"]}`, "")
	l := config.LoadSettings(config.SettingsOptions{Paths: p})
	if !reflect.DeepEqual(l.Settings.ThinkingBudgets, map[message.ThinkingLevel]int{"low": 4096}) || len(l.Warnings) != 1 {
		t.Errorf("budgets %v, warnings %v", l.Settings.ThinkingBudgets, l.Warnings)
	}
	if l.Settings.ShellPath != filepath.Join(p.Home, "bin", "bash") || !slices.Equal(l.Settings.DefaultTools, []string{"read"}) {
		t.Errorf("settings: %+v", l.Settings)
	}
}

func TestUpdateSetting(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "settings.json"), `{"theme":"dark","packages":["a"],"unknown":{"x":[1,2]}}`)
	add := func(name string) func(json.RawMessage) (any, error) {
		return func(old json.RawMessage) (any, error) {
			var list []string
			if old != nil {
				if err := json.Unmarshal(old, &list); err != nil {
					return nil, err
				}
			}
			return append(list, name), nil
		}
	}
	if err := config.UpdateSetting(file, "packages", add("b")); err != nil {
		t.Fatal(err)
	}
	if err := config.UpdateSetting(file, "skills", add("s")); err != nil {
		t.Fatal(err)
	}
	if err := config.UpdateSetting(file, "theme", func(json.RawMessage) (any, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(read(t, file)), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"packages": []any{"a", "b"}, "skills": []any{"s"}, "unknown": map[string]any{"x": []any{1.0, 2.0}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the file has %v", got)
	}
	before := read(t, file)
	failed := errors.New("no")
	if err := config.UpdateSetting(file, "skills", func(json.RawMessage) (any, error) { return nil, failed }); !errors.Is(err, failed) || read(t, file) != before {
		t.Errorf("a change that failed: %v", err)
	}
}

func TestUpdateSettingKeepsWhatItCannotRead(t *testing.T) {
	const broken = `{"packages": ["a"`
	file := write(t, filepath.Join(t.TempDir(), "settings.json"), broken)
	err := config.UpdateSetting(file, "packages", func(json.RawMessage) (any, error) { return "x", nil })
	if !errors.Is(err, config.ErrUnreadable) || read(t, file) != broken {
		t.Errorf("%v, and the file is %q", err, read(t, file))
	}
}

func TestUpdateSettingOfAProjectLeavesNothingBehind(t *testing.T) {
	p := project(t, "", "")
	if err := config.UpdateSetting(p.ProjectSettingsFile(), "skills", func(json.RawMessage) (any, error) { return []string{"x"}, nil }); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(p.ProjectDir())
	if err != nil || len(entries) != 1 || entries[0].Name() != "settings.json" {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if info, err := os.Stat(p.ProjectDir()); err != nil || info.Mode().Perm()&0o055 != 0o055 {
		t.Errorf("others cannot enter it: %v, %v", info.Mode(), err)
	}
}

func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"retry":{"maxRetries":3,"provider":{"timeoutMs":1}}}`, `{"skills":["a"],"packages":[{"source":"x"}]}`, `{"a":`, `[]`, "\xef\xbb\xbf{}",
		`{"steeringMode":"all","steeringMode":5}`, `{"thinkingBudgets":{"low":1}}`, `{"httpIdleTimeoutMs":"disabled"}`, `{"retry":{"maxRetries":9e999}}`,
	} {
		f.Add([]byte(seed))
	}
	p := project(f, "{}", "")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(p.SettingsFile(), data, 0o600); err != nil {
			t.Fatal(err)
		}
		l := config.LoadSettings(config.SettingsOptions{Paths: p})
		s := l.Settings
		if s.Retry.MaxRetries < 0 || s.Retry.BaseDelay < 0 || s.Compaction.ReserveTokens < 0 || s.StreamIdleTimeout < 0 ||
			!slices.Contains([]string{"all", "one-at-a-time"}, s.SteeringMode) || !slices.Contains([]string{"ask", "always", "never"}, s.DefaultProjectTrust) {
			t.Errorf("a value out of range got through: %+v", s)
		}
		for _, w := range append(l.Warnings, l.Unused...) {
			if w.File == "" || w.Line < 1 || w.Column < 1 {
				t.Errorf("a warning without a place: %+v", w)
			}
		}
	})
}

func BenchmarkLoadSettings(b *testing.B) {
	p := project(b, `{"retry": {"baseDelayMs": 200}, "enabledModels": ["a"]}`, `{"steeringMode": "all"}`)
	for b.Loop() {
		config.LoadSettings(config.SettingsOptions{Paths: p, Trusted: true, Env: os.Getenv})
	}
}

// BenchmarkStart is what a start costs here: settings, trust, models.json, one
// model and its key.
func BenchmarkStart(b *testing.B) {
	p := project(b, "{}", "")
	if err := os.WriteFile(p.ModelsFile(), []byte(mockModels), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l := config.LoadSettings(config.SettingsOptions{Paths: p, Env: os.Getenv})
		config.NewTrust(p).Decide(p.Cwd, config.TrustFlags{}, l.Settings.DefaultProjectTrust)
		c, _ := config.OpenCatalogue(config.CatalogueOptions{ModelsFile: p.ModelsFile(), Auth: config.NewAuth(p.AuthFile()), Env: environment()})
		s, err := c.Resolve("m1", "mock")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Access(b.Context(), s.Model); err != nil {
			b.Fatal(err)
		}
	}
}

// A list of tools stands in the place of the one below it; one of changes is
// made to it.
func TestDefaultTools(t *testing.T) {
	for _, c := range []struct {
		user, project, flag string
		on, off             string
		shown               string // layers
	}{
		{"", "", "", "read bash edit write", "", "default"},
		{`["ls"]`, "", "", "ls", "", "user"},
		{`[]`, "", "", "", "", "user"},
		{`["+grep", "-write", "-mine"]`, "", "", "read bash edit grep", "write mine", "default user"},
		{`["read", "+grep"]`, "", "", "read grep", "", "user"},
		{`["read", "ls"]`, `["+grep", "-read"]`, "", "ls grep", "read", "user project"},
		{`["+ls"]`, `["+grep"]`, "", "read bash edit write ls grep", "", "default user project"},
		{`["-bash"]`, `["+bash"]`, "", "read edit write bash", "", "default user project"},
		{`["-bash"]`, `["read"]`, "", "read", "", "project"},
		{`["ls"]`, `["+grep"]`, "+find,-ls", "grep find", "ls", "user project flag"},
		{`[]`, `["+grep"]`, "", "grep", "", "user project"},
		{`"ls"`, "", "", "read bash edit write", "", "default"},
	} {
		t.Run(c.user+c.project+c.flag, func(t *testing.T) {
			as := func(list string) string {
				if list == "" {
					return ""
				}
				return `{"defaultTools": ` + list + `}`
			}
			l := config.LoadSettings(config.SettingsOptions{Paths: project(t, as(c.user), as(c.project)), Trusted: true, Flags: map[string]string{"defaultTools": c.flag}})
			if on, off := strings.Join(l.Settings.DefaultTools, " "), strings.Join(l.Settings.DefaultToolsOff, " "); on != c.on || off != c.off || l.Settings.DefaultTools == nil {
				t.Errorf("on are %q and off %q, want %q and %q", on, off, c.on, c.off)
			}
			var layers []string
			for _, v := range l.Values {
				if v.Key == "defaultTools" {
					layers = append(layers, string(v.Layer))
				}
			}
			if got := strings.Join(layers, " "); got != c.shown {
				t.Errorf("shown are %q, want %q", got, c.shown)
			}
			if wrong := strings.HasPrefix(c.user, `"`); (len(l.Warnings) > 0) != wrong {
				t.Errorf("warnings: %v", l.Warnings)
			}
		})
	}
}
