package main

import (
	"fmt"

	"slices"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/resource"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/builtin"
	"github.com/seed-54e836f5/pi/core/ui"
)

// compose makes the session that the flags and settings ask for, in one of
// the modes rpc, json and print.
func (p *process) compose(mode string, user ui.UI, extensions session.Extensions, chain *hook.Chain) (*session.Session, error) {
	log, err := p.openLog()
	if err != nil {
		return nil, err
	}
	if p.options.name != "" {
		if _, err := log.Append(store.SessionInfo{Name: p.options.name}); err != nil {
			return nil, fmt.Errorf("name the session: %w", err)
		}
	}
	had := log.BranchState(log.Leaf())
	model, wasThere := p.models.Find(had.Provider, had.ModelID)
	choice, err := p.chooseModel(model, wasThere)
	if err != nil {
		return nil, err
	}
	if err := p.checkTools(); err != nil {
		return nil, err
	}
	var s *session.Session
	cwd := log.Header().Cwd
	if cwd == "" {
		cwd = p.paths.Cwd
	}
	s = session.New(session.Config{
		Log: log, Dir: p.newSessionFolder(), Cwd: cwd, Mode: mode,
		Models: p.models, Model: choice.model, NoModel: choice.none, Thinking: p.thinking(choice, had), Scoped: choice.scoped,
		Tools: p.builtins(func() *session.Session { return s }), ActiveTools: p.activeTools(), ExcludeTools: p.options.excludeTools,
		Hooks: chain, Extensions: extensions, UI: user, Resources: &loader{p},
		Settings: p.sessionSettings(), Diagnostics: func() []string { return p.diagnostics },
	})
	return s, nil
}

// newSessionFolder is where further sessions of this process go; empty: they
// stay in memory, as this one does.
func (p *process) newSessionFolder() string {
	if p.options.noSession {
		return ""
	}
	return p.sessionFolder()
}

// thinking finds the level to begin with: by flag, as part of the model's
// name, as the session had it, by the settings, or else medium.
func (p *process) thinking(choice chosen, had store.BranchState) message.ThinkingLevel {
	if asked := message.ThinkingLevel(p.options.thinking); asked != "" {
		if slices.Contains(message.ThinkingLevels(), asked) {
			return asked
		}
		warn(p.std.err, "unknown thinking level %q: the levels are off, minimal, low, medium, high, xhigh and max", p.options.thinking)
	}
	switch {
	case choice.thinking != "":
		return choice.thinking
	case had.HasThinkingLevel:
		return had.ThinkingLevel
	case p.loaded.Settings.DefaultThinkingLevel != "":
		return p.loaded.Settings.DefaultThinkingLevel
	}
	return message.ThinkingMedium
}

// builtins makes the built-in tools. They ask the session where it works and
// with what, each time they run.
func (p *process) builtins(s func() *session.Session) []tool.Tool {
	if p.options.noBuiltinTools {
		return nil
	}
	settings := p.loaded.Settings
	return builtin.New(builtin.Options{
		Cwd:         func() string { return s().Cwd() },
		ShellPath:   settings.ShellPath,
		ShellPrefix: settings.ShellCommandPrefix,
		Env:         func() []string { return shellEnvironment(s()) },
		Images:      func() bool { m := s().Model(); return m != nil && m.TakesImages() },
	})
}

// shellEnvironment tells commands of the bash tool who runs them.
func shellEnvironment(s *session.Session) []string {
	env := []string{"PI_CODING_AGENT=true", "PI_SESSION_ID=" + s.ID(), "PI_REASONING_LEVEL=" + string(s.ThinkingLevel())}
	if model := s.Model(); model != nil {
		env = append(env, "PI_PROVIDER="+model.Provider, "PI_MODEL="+model.ID)
	}
	if file := s.File(); file != "" {
		env = append(env, "PI_SESSION_FILE="+file)
	}
	return env
}

// activeTools are the tools that the user picked; nil: nobody did.
func (p *process) activeTools() []string {
	switch {
	case p.options.noTools:
		return []string{}
	case len(p.options.tools) > 0:
		return p.options.tools
	}
	return p.loaded.Settings.DefaultTools
}

func (p *process) sessionSettings() session.Settings {
	from := p.loaded.Settings
	return session.Settings{
		SteeringMode: session.QueueMode(from.SteeringMode), FollowUpMode: session.QueueMode(from.FollowUpMode),
		InterruptMode: session.InterruptMode(from.InterruptMode),
		Retry: session.Retry{
			Enabled: from.Retry.Enabled, MaxRetries: from.Retry.MaxRetries,
			BaseDelay: from.Retry.BaseDelay, MaxDelay: from.Retry.MaxDelay,
		},
		Compaction: compact.Settings{
			Enabled: from.Compaction.Enabled, ReserveTokens: from.Compaction.ReserveTokens, KeepRecentTokens: from.Compaction.KeepRecentTokens,
		},
		BranchReserve: from.BranchSummary.ReserveTokens,
		Shell:         session.Shell{Path: from.ShellPath, Prefix: from.ShellCommandPrefix},
	}
}

// checkTools refuses names that no built-in tool has, unless an extension may
// still bring them.
func (p *process) checkTools() error { return nil }

// loader loads resources for the session, as the flags and settings say.
type loader struct{ process *process }

// Load implements session.Loader.
func (l *loader) Load(cwd string, more event.ResourcesDiscoverResult) session.Resources {
	p := l.process
	o, settings := p.options, p.loaded.Settings
	options := resource.Options{
		AgentDir: p.paths.AgentDir, Home: p.paths.Home, Cwd: cwd, Trusted: p.trust.Trusted,
		NoSkills: o.noSkills, NoPrompts: o.noPromptTemplates, NoContextFiles: o.noContextFiles,
		NoSkillCommands: !settings.EnableSkillCommands,
		SystemPrompt:    o.systemPrompt, AppendSystemPrompt: o.appendSystemPrompt,
	}
	for _, entry := range settings.Skills {
		options.Skills = append(options.Skills, resource.Place{Text: entry.Text, BaseDir: entry.BaseDir, Scope: resource.Scope(entry.Scope)})
	}
	for _, entry := range settings.Prompts {
		options.Prompts = append(options.Prompts, resource.Place{Text: entry.Text, BaseDir: entry.BaseDir, Scope: resource.Scope(entry.Scope)})
	}
	options.Skills = append(options.Skills, temporary(o.skills)...)
	options.Skills = append(options.Skills, temporary(more.SkillPaths)...)
	options.Prompts = append(options.Prompts, temporary(o.promptTemplates)...)
	options.Prompts = append(options.Prompts, temporary(more.PromptPaths)...)
	set, diagnostics := resource.Load(options)
	for _, d := range diagnostics {
		warn(p.std.err, "%s", d)
	}
	return resources{set}
}

func temporary(paths []string) []resource.Place {
	places := make([]resource.Place, len(paths))
	for i, path := range paths {
		places[i] = resource.Place{Text: path, Scope: resource.Temporary}
	}
	return places
}

// resources lets the session use a resource set.
type resources struct{ *resource.Set }

// Expand implements session.Resources.
func (r resources) Expand(text string) string {
	expanded, _ := r.Set.Expand(text)
	return expanded
}

// Commands implements session.Resources.
func (r resources) Commands() []session.Command {
	var list []session.Command
	for _, c := range r.Set.Commands() {
		list = append(list, session.Command{
			Name: c.Name, Description: c.Description, Source: c.Source, Location: c.Location, Path: c.Path,
			SourceInfo: session.SourceInfo{Path: c.Info.Path, Source: c.Info.Source, Scope: string(c.Info.Scope), Origin: c.Info.Origin, BaseDir: c.Info.BaseDir},
		})
	}
	return list
}
