package resource

import (
	"context"
	"path/filepath"
	"time"
)

// Scope says whose a resource is. The values are the wire's.
type Scope string

// The scopes.
const (
	User      Scope = "user"
	Project   Scope = "project"
	Temporary Scope = "temporary" // named for this run: by a flag or an extension
)

// Where a resource comes from, for Info.Source and Info.Origin. An
// extension's places have the source extension:<name>.
const (
	SourceAuto  = "auto"  // found in a folder that is always looked at
	SourceLocal = "local" // named in the settings or by a flag

	OriginTopLevel = "top-level"
	OriginPackage  = "package"
)

// Options say what Load looks at. Folders are absolute.
type Options struct {
	AgentDir string
	Home     string // empty: not known
	Cwd      string
	// Trusted lets the project's own templates, skills, rules and system prompt
	// in. Context files need no trust.
	Trusted bool

	// Skills and Prompts are named places: those of the settings, packages,
	// flags and extensions, in this order.
	Skills, Prompts []Place
	// Rules are those of packages.
	Rules []Place
	// The No switches leave out what is found without being named.
	NoSkills, NoPrompts, NoRules, NoContextFiles bool
	// DisabledRules are names of rules that are left out.
	DisabledRules []string
	// NoSkillCommands takes /skill:name away; skills are still shown to the
	// model.
	NoSkillCommands bool

	// SystemPrompt replaces the first part of the system prompt, and SYSTEM.md
	// too: a text, or the name of a file. Empty: not given.
	SystemPrompt string
	// AppendSystemPrompt are texts or names of files that come behind
	// APPEND_SYSTEM.md.
	AppendSystemPrompt []string
	// Now is the date the model is told; zero: it is told none. It is read
	// once, so that the system prompt stays the same from turn to turn.
	Now time.Time
}

// Place is a file, a folder or a glob that somebody named. A text that begins
// with ! takes away what fits the glob, + and - add and take away one path;
// they concern what is found in the place's scope.
type Place struct {
	Text    string
	BaseDir string // what a relative path is relative to, the package's own folder; empty: Options.Cwd
	Scope   Scope
	Source  string // empty: local
	Origin  string // empty: top-level
}

// Info says where a resource comes from. It is sourceInfo on the wire.
type Info struct {
	Path    string `json:"path"`
	Source  string `json:"source"`
	Scope   Scope  `json:"scope"`
	Origin  string `json:"origin"`
	BaseDir string `json:"baseDir,omitempty"`
}

// Diagnostic is something that was not loaded as it stands.
type Diagnostic struct {
	Path    string
	Message string // a sentence that says what is wrong and what became of it
}

// String gives path and message in one line.
func (d Diagnostic) String() string { return d.Path + ": " + d.Message }

// Set is what was loaded. It does not change, and may be used from any
// goroutine.
type Set struct {
	options   Options
	templates []Template
	skills    []Skill
	rules     []Rule
	context   []ContextFile
	system    string // empty: the built-in one
	appended  []string
}

// Load reads everything. It always gives a usable set: what cannot be used is
// left out with a diagnostic. When ctx ends it looks no further.
func Load(ctx context.Context, options Options) (*Set, []Diagnostic) {
	l := &loader{options: options, ended: func() bool { return ctx.Err() != nil }}
	set := &Set{options: options}
	set.templates = l.loadTemplates()
	set.skills = l.loadSkills()
	set.rules = l.loadRules()
	if !options.NoContextFiles {
		set.context = l.loadContext()
	}
	set.system, set.appended = l.loadSystem()
	return set, l.diagnostics
}

// Rules gives all rules: those that watch the model, and those that it is told
// of beforehand.
func (s *Set) Rules() []Rule { return s.rules }

// ContextFiles gives the context files in the order of the system prompt.
func (s *Set) ContextFiles() []ContextFile { return s.context }

// loader collects diagnostics while one set is loaded.
type loader struct {
	options     Options
	ended       func() bool // nobody waits for the set any more
	diagnostics []Diagnostic
}

func (l *loader) report(path, message string) {
	l.diagnostics = append(l.diagnostics, Diagnostic{Path: path, Message: message})
}

// Command is a template or skill as a slash command.
type Command struct {
	Name        string // without the slash
	Description string // empty: none
	Source      string // prompt, skill
	Location    string // user, project, path
	Path        string
	Info        Info
}

// Commands lists the templates, then the skills, as get_commands has them.
func (s *Set) Commands() []Command {
	var list []Command
	for _, t := range s.templates {
		list = append(list, command(t.Name, t.Description, "prompt", t.Info))
	}
	if s.options.NoSkillCommands {
		return list
	}
	for _, k := range s.skills {
		list = append(list, command("skill:"+k.Name, k.Description, "skill", k.Info))
	}
	return list
}

func command(name, description, source string, info Info) Command {
	location := string(info.Scope)
	if info.Scope == Temporary {
		location = "path"
	}
	return Command{Name: name, Description: description, Source: source, Location: location, Path: info.Path, Info: info}
}

// realPath gives the one name of a file that may be reached by several.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
