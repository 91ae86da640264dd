package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/packages"
	"github.com/seed-54e836f5/pi/core/resource"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/session"
)

// loader loads resources for the session, as the flags and the settings of
// the folder say that it works in.
type loader struct {
	process *process
	// life ends when the process is to end.
	life context.Context

	mu sync.Mutex
	// up says that the extensions are, if there are any, so that they can be
	// asked. The session loads once before that, and then not until it is so.
	up      bool
	session *session.Session // nil: it is being made
	// wanted are the tools that somebody named for the folder, and told those
	// of which it was said that they are missing.
	wanted, told []toolName
	// cut is the folder whose resources were not all looked for, as nobody
	// waited any more; empty: they were.
	cut string
}

// serve tells the loader which session it is for.
func (l *loader) serve(s *session.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = s
}

// Load implements session.Loader.
func (l *loader) Load(ctx context.Context, cwd string, more event.ResourcesDiscoverResult) session.Resources {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	p := l.process
	project := p.projects.look(cwd)
	l.mu.Lock()
	up := l.up
	l.up, l.wanted = true, nil
	l.mu.Unlock()
	if up {
		project = l.decide(ctx, project)
	}
	fromPackages, problems := p.sharedBy(project)
	set, diagnostics := resource.Load(ctx, p.resourceOptions(project, fromPackages, more))
	for _, d := range diagnostics {
		problems = append(problems, d.String())
	}
	if up {
		problems = append(problems, p.unmatched(project)...)
	}
	p.notes.say(problems...)
	l.mu.Lock()
	if l.cut = ""; ctx.Err() != nil {
		l.cut = cwd
	}
	l.mu.Unlock()
	l.lookForTools(project)
	if withheld := project.withheld(); withheld != "" {
		problems = append(problems, withheld)
		if up {
			p.notes.say(withheld)
		}
	}
	p.notes.replace(problems)
	return resources{set, ruleBook(set, project)}
}

// ruleBook has the rules that watch the model in a folder, as its settings want
// them; nil: there are none.
func ruleBook(set *resource.Set, project project) *rule.Book {
	var list []*rule.Rule
	for _, r := range set.Rules() {
		list = append(list, r.Rule)
	}
	from := project.loaded.Settings.Rules
	settings := rule.Settings{KeepAnswer: from.ContextMode == "keep", Interrupt: rule.Interrupt(from.InterruptMode)}
	if from.RepeatMode == "after-gap" {
		settings.Gap = from.RepeatGap
	}
	return rule.NewBook(list, settings, project.cwd)
}

// lookForTools tells of names that no tool has, as soon as all that may bring
// one are there.
func (l *loader) lookForTools(project project) {
	l.mu.Lock()
	s := l.session
	if s != nil {
		l.wanted = l.process.wantedTools(project)
	}
	l.mu.Unlock()
	for _, missing := range l.unknownTools() {
		l.mu.Lock()
		told := slices.Contains(l.told, missing.toolName)
		l.told = append(l.told, missing.toolName)
		l.mu.Unlock()
		if !told {
			l.process.notes.say(missing.sentence)
		}
	}
}

// diagnostics is what clients are told of what is not used as it stands.
func (l *loader) diagnostics() []string {
	list := l.process.notes.list()
	l.mu.Lock()
	if l.cut != "" {
		list = append(list, fmt.Sprintf("not all templates, skills, rules and context files of %s are loaded, as that was cut short: reload to try again", l.cut))
	}
	l.mu.Unlock()
	for _, missing := range l.unknownTools() {
		list = append(list, missing.sentence)
	}
	return list
}

func (l *loader) unknownTools() []missingTool {
	l.mu.Lock()
	s, wanted := l.session, l.wanted
	l.mu.Unlock()
	if s == nil {
		return nil
	}
	return unknown(wanted, s.Tools())
}

// decideFirst lets extensions decide about a folder. It is for the host, which
// starts the project's extensions then.
func (l *loader) decideFirst(ctx context.Context, cwd string) bool {
	return l.decide(ctx, l.process.projects.look(cwd)).trust.Trusted
}

func (l *loader) decide(ctx context.Context, p project) project {
	p, err := l.process.projects.ask(ctx, p)
	if err != nil {
		l.process.notes.say(err.Error())
	}
	return p
}

// shared are the resources of packages, with what they come from.
type shared struct {
	packages.Resources
	of packages.Installed
}

// sharedBy finds the packages of a folder's settings, and says what of settings
// and packages is not used as it stands.
func (p *process) sharedBy(project project) (list []shared, problems []string) {
	for _, w := range project.loaded.Warnings {
		problems = append(problems, w.String())
	}
	for _, installed := range packages.Find(p.paths, project.loaded.Settings.Packages) {
		resources, now := installed.Resources()
		if now.Problem != "" {
			problems = append(problems, now.Problem)
		}
		list = append(list, shared{resources, now})
	}
	return list, problems
}

// unmatched says which patterns of models fit none.
func (p *process) unmatched(project project) (problems []string) {
	_, warnings := p.catalogue.Scoped(project.loaded.Settings.EnabledModels)
	for _, w := range warnings {
		problems = append(problems, w.String())
	}
	return problems
}

// resourceOptions say what is loaded for a folder.
func (p *process) resourceOptions(project project, list []shared, more event.ResourcesDiscoverResult) resource.Options {
	o, settings := p.options, project.loaded.Settings
	options := resource.Options{
		AgentDir: p.paths.AgentDir, Home: p.paths.Home, Cwd: project.cwd, Trusted: project.trust.Trusted,
		NoSkills: o.noSkills, NoPrompts: o.noPromptTemplates, NoContextFiles: o.noContextFiles,
		NoRules: o.noRules || !settings.Rules.Enabled, DisabledRules: settings.Rules.Disabled,
		NoSkillCommands: !settings.EnableSkillCommands,
		SystemPrompt:    p.textOrFile(o.systemPrompt),
		Now:             p.started,
	}
	for _, text := range o.appendSystemPrompt {
		options.AppendSystemPrompt = append(options.AppendSystemPrompt, p.textOrFile(text))
	}
	if !o.noSkills {
		options.Skills = places(settings.Skills)
		for _, s := range list {
			options.Skills = append(options.Skills, s.places(s.Skills)...)
		}
	}
	if !o.noPromptTemplates {
		options.Prompts = places(settings.Prompts)
		for _, s := range list {
			options.Prompts = append(options.Prompts, s.places(s.Prompts)...)
		}
	}
	if !options.NoRules {
		for _, s := range list {
			options.Rules = append(options.Rules, s.places(s.Rules)...)
		}
	}
	options.Skills = append(options.Skills, p.flagPlaces(o.skills)...)
	options.Skills = append(options.Skills, extensionPlaces(more.SkillPaths, more.NamedBy)...)
	options.Prompts = append(options.Prompts, p.flagPlaces(o.promptTemplates)...)
	options.Prompts = append(options.Prompts, extensionPlaces(more.PromptPaths, more.NamedBy)...)
	return options
}

func places(entries []config.PathEntry) []resource.Place {
	var list []resource.Place
	for _, e := range entries {
		list = append(list, resource.Place{Text: e.Text, BaseDir: e.BaseDir, Scope: resource.Scope(e.Scope)})
	}
	return list
}

func (s shared) places(paths []string) []resource.Place {
	var list []resource.Place
	for _, path := range paths {
		list = append(list, resource.Place{
			Text: path, BaseDir: s.of.Dir, Scope: resource.Scope(s.of.Entry.Scope), Source: s.of.Entry.Source, Origin: resource.OriginPackage,
		})
	}
	return list
}

// flagPlaces are relative to where the process was started, whatever folder
// the session works in later.
func (p *process) flagPlaces(paths []string) []resource.Place {
	var list []resource.Place
	for _, path := range paths {
		list = append(list, resource.Place{Text: path, BaseDir: p.paths.Cwd, Scope: resource.Temporary})
	}
	return list
}

// textOrFile makes a flag's text that names a file name the same one wherever
// the session works later.
func (p *process) textOrFile(text string) string {
	if text == "" || strings.ContainsAny(text[:1], "~!+-\n") || filepath.IsAbs(text) {
		return text
	}
	path := filepath.Join(p.paths.Cwd, text)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return text
	}
	return path
}

func extensionPlaces(paths []string, namedBy map[string]string) []resource.Place {
	var list []resource.Place
	for _, path := range paths {
		place := resource.Place{Text: path, Scope: resource.Temporary}
		if name := namedBy[path]; name != "" {
			place.Source = "extension:" + name
		}
		list = append(list, place)
	}
	return list
}

// resources lets the session use a resource set.
type resources struct {
	*resource.Set
	book *rule.Book
}

// Rules implements session.Resources.
func (r resources) Rules() *rule.Book { return r.book }

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
