package main

import (
	"fmt"
	"slices"

	"github.com/seed-54e836f5/pi/core/compact"
	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/builtin"
	"github.com/seed-54e836f5/pi/core/ui"
)

// compose makes the session that the flags and settings ask for, in one of
// the modes rpc, json and print.
func (p *process) compose(mode string, log *store.Log, user ui.UI, extensions session.Extensions, chain *hook.Chain, resources *loader) (*session.Session, error) {
	if p.options.name != "" {
		if _, err := log.Append(store.SessionInfo{Name: p.options.name}); err != nil {
			return nil, fmt.Errorf("name the session: %w", err)
		}
	}
	had := log.BranchState(log.Leaf())
	choice, err := p.chooseModel(had, !resources.up)
	if err != nil {
		return nil, err
	}
	var s *session.Session
	s = session.New(session.Config{
		Log: log, Cwd: p.project.cwd, Mode: mode,
		Models: p.models, Model: choice.model, NoModel: choice.none, Thinking: p.thinking(choice, had),
		Choose: p.chooseLater(choice, had),
		Tools:  p.builtins(func() *session.Session { return s }), ExcludeTools: p.options.excludeTools,
		Folder: p.folderOf(p.project), Enter: p.enter,
		Hooks: chain, Extensions: extensions, UI: user, Resources: resources,
		Diagnostics: resources.diagnostics, Note: p.notes.add,
	})
	resources.serve(s)
	return s, nil
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
	case p.settings().DefaultThinkingLevel != "":
		return p.settings().DefaultThinkingLevel
	}
	return message.ThinkingMedium
}

// builtins makes the built-in tools. They ask the session where it works and
// with what, each time they run.
func (p *process) builtins(s func() *session.Session) []tool.Tool {
	if p.options.noBuiltinTools {
		return nil
	}
	return builtin.Tools(builtin.Options{
		Cwd:           func() string { return s().Cwd() },
		Shell:         func() string { return s().Shell().Path },
		CommandPrefix: func() string { return s().Shell().Prefix },
		Environment:   func() []string { return shellEnvironment(s()) },
		Background:    &p.background,
		TakesImages: func() bool {
			m := s().Model()
			return m != nil && m.TakesImages() && !p.models.inForce().Images.BlockImages
		},
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

// enter makes what the settings of a working folder say hold for the session.
func (p *process) enter(cwd string) session.Folder {
	project := p.projects.look(cwd)
	p.models.use(project.loaded.Settings)
	return p.folderOf(project)
}

// folderOf is what the flags and the settings of a folder come to.
func (p *process) folderOf(project project) session.Folder {
	settings := project.loaded.Settings
	folder := session.Folder{Settings: sessionSettings(settings), ActiveTools: settings.DefaultTools, InactiveTools: settings.DefaultToolsOff}
	scoped, _ := p.catalogue.Scoped(settings.EnabledModels) // where resources are loaded it is told what fits none
	for _, s := range scoped {
		folder.Scoped = append(folder.Scoped, session.ScopedModel{Model: s.Model, Level: s.Thinking})
	}
	if p.options.picksTools() {
		folder.ActiveTools, folder.OnlyActive, folder.InactiveTools = p.options.tools, true, nil
	}
	if p.options.noTools {
		folder.ActiveTools, folder.OnlyActive = []string{}, true
	}
	return folder
}

func sessionSettings(from config.Settings) session.Settings {
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
