package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/resource"
	"github.com/seed-54e836f5/pi/core/store"
)

// configCommand is pi config: every effective value and where it comes from.
func configCommand(std streams) *cobra.Command {
	var asJSON bool
	o := &options{}
	c := &cobra.Command{
		Use:   "config [flags]",
		Short: "Show every effective setting and where it comes from",
		Long: `Show every effective setting and where it comes from: a flag counts before the environment, that before the project's .pi/settings.json, that before the user's settings.json, that before the default.

It takes the flags that pi itself takes, and shows what they would come to.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c.Flags()); err != nil {
				return err
			}
			p := &process{std: std, options: o, flags: c.Flags(), describing: true}
			if err := p.readConfiguration(); err != nil {
				return err
			}
			d, err := p.describeConfiguration(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return d.printJSON(std)
			}
			return d.printTable(std)
		},
	}
	o.register(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// configuration is what pi config shows, in the form of --json.
type configuration struct {
	AgentDir   string         `json:"agentDir"`
	Project    string         `json:"project"`
	SessionDir string         `json:"sessionDir"`
	Trust      trustShown     `json:"trust"`
	Model      *modelShown    `json:"model"` // null: there is none
	Settings   []settingShown `json:"settings"`
	Keys       []keyShown     `json:"keys"`
	Commands   []commandShown `json:"commands"` // templates and skills; extensions say theirs when they run
	Rules      []ruleShown    `json:"rules"`
	Context    []string       `json:"contextFiles"`
	Extensions []placeShown   `json:"extensions"`
	Packages   []packageShown `json:"packages"`
	Unused     []string       `json:"unused"`   // members of the files that mean nothing
	Problems   []string       `json:"problems"` // what is not used as it stands
}

type trustShown struct {
	Trusted bool     `json:"trusted"`
	Reason  string   `json:"reason"`
	Needed  []string `json:"neededFor"` // parts of the project, relative to it
}

type modelShown struct {
	Provider string                `json:"provider"`
	ID       string                `json:"id"`
	Thinking message.ThinkingLevel `json:"thinkingLevel"`
}

type settingShown struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	Layer config.Layer    `json:"layer"`
	From  string          `json:"from,omitempty"` // the file, variable or flag
}

type keyShown struct {
	Provider string `json:"provider"`
	From     string `json:"from"`
}

type commandShown struct {
	Name   string `json:"name"` // without the slash
	Path   string `json:"path"`
	Source string `json:"source"` // auto, local, or that of a package
	Scope  string `json:"scope"`
}

type ruleShown struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Source  string `json:"source"`
	Scope   string `json:"scope"`
	Watches bool   `json:"watches"` // the model while it writes; else the model is told of it beforehand
}

type placeShown struct {
	Path   string `json:"path"`
	Source string `json:"source"`
	Scope  string `json:"scope"`
}

type packageShown struct {
	Source string `json:"source"`
	Scope  string `json:"scope"`
	State  string `json:"state"`
	Dir    string `json:"dir,omitempty"`
}

func (p *process) describeConfiguration(ctx context.Context) (configuration, error) {
	d := configuration{
		AgentDir: p.paths.AgentDir, Project: p.project.cwd, SessionDir: p.sessionFolder(),
		Trust: trustShown{p.project.trust.Trusted, p.project.trust.Reason, append([]string{}, p.project.trust.Found...)},
		Keys:  []keyShown{}, Commands: []commandShown{}, Rules: []ruleShown{}, Context: []string{}, Extensions: []placeShown{}, Packages: []packageShown{},
		Unused: []string{}, Problems: []string{},
	}
	for _, v := range p.project.loaded.Values {
		value := json.RawMessage(p.catalogue.Redact(string(withoutPassword(v.Value))))
		d.Settings = append(d.Settings, settingShown{v.Key, value, v.Layer, v.From})
	}
	for _, w := range p.project.loaded.Unused {
		d.Unused = append(d.Unused, w.String())
	}
	for _, name := range p.catalogue.Providers() {
		if source := p.catalogue.KeySource(name); source != "" {
			d.Keys = append(d.Keys, keyShown{name, source})
		}
	}
	choice, err := p.chooseModel(store.BranchState{}, false)
	if err != nil {
		return d, err
	}
	if choice.model != nil {
		level := choice.model.Clamp(p.thinking(choice, store.BranchState{}))
		d.Model = &modelShown{choice.model.Provider, choice.model.ID, level}
	}
	problems := p.describeResources(ctx, &d)
	d.Problems = append(d.Problems, p.notes.list()...)
	d.Problems = append(d.Problems, problems...)
	p.notes.say(problems...)
	return d, nil
}

// describeResources shows what a session would load, and gives what it would
// not.
func (p *process) describeResources(ctx context.Context, d *configuration) (problems []string) {
	shared, problems := p.sharedBy(p.project)
	for _, s := range shared {
		d.Packages = append(d.Packages, packageShown{s.of.Entry.Source, string(s.of.Entry.Scope), string(s.of.State), s.of.Dir})
	}
	set, diagnostics := resource.Load(ctx, p.resourceOptions(p.project, shared, event.ResourcesDiscoverResult{}))
	for _, c := range set.Commands() {
		d.Commands = append(d.Commands, commandShown{c.Name, c.Path, c.Info.Source, string(c.Info.Scope)})
	}
	for _, r := range set.Rules() {
		d.Rules = append(d.Rules, ruleShown{r.Name, r.Path, r.Info.Source, string(r.Info.Scope), r.Watches()})
	}
	for _, f := range set.ContextFiles() {
		d.Context = append(d.Context, f.Path)
	}
	host := p.newHost(&hook.Chain{}, &loader{process: p}, slog.New(slog.DiscardHandler))
	for _, e := range host.Found() {
		d.Extensions = append(d.Extensions, placeShown{e.Path, e.Source, e.Scope})
	}
	for _, diagnostic := range diagnostics {
		problems = append(problems, diagnostic.String())
	}
	problems = append(problems, p.unmatched(p.project)...)
	if withheld := p.project.withheld(); withheld != "" {
		problems = append(problems, withheld)
	}
	return problems
}

// withoutPassword takes the password out of an address, such as a proxy's.
func withoutPassword(value json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value
	}
	address, err := url.Parse(text)
	if err != nil || address.User == nil {
		return value
	}
	shown, err := message.Marshal(address.Redacted())
	if err != nil {
		return value
	}
	return shown
}

func (d configuration) printJSON(std streams) error {
	data, err := message.Marshal(d)
	if err != nil {
		return err
	}
	_, err = std.out.Write(append(data, '\n'))
	return err
}

func (d configuration) printTable(std streams) error {
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(table, strings.Join(cells, "\t")) }
	row("NAME", "VALUE", "FROM")
	row("agent folder", d.AgentDir, "")
	row("project", d.Project, "")
	row("sessions", d.SessionDir, "")
	row("project trusted", yesNo(d.Trust.Trusted), d.Trust.Reason)
	if d.Model == nil {
		row("model", "none", "no provider has a key")
	} else {
		row("model", d.Model.Provider+"/"+d.Model.ID, "thinking "+string(d.Model.Thinking))
	}
	for _, s := range d.Settings {
		row(s.Key, shownValue(s.Value), strings.TrimSpace(string(s.Layer)+" "+s.From))
	}
	for _, k := range d.Keys {
		row("key of "+k.Provider, "set", k.From)
	}
	for _, p := range d.Packages {
		row("package "+p.Source, p.State, p.Scope)
	}
	for _, c := range d.Commands {
		row("command /"+c.Name, c.Path, c.Scope+" "+c.Source)
	}
	for _, r := range d.Rules {
		row("rule "+r.Name, r.Path, r.Scope+" "+r.Source)
	}
	for _, e := range d.Extensions {
		row("extension", e.Path, e.Scope+" "+e.Source)
	}
	for _, path := range d.Context {
		row("context file", path, "")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, text := range d.Unused {
		warn(std.err, "%s", text)
	}
	return nil
}

// shownValue gives a value as the file has it; a missing one is a dash.
func shownValue(value json.RawMessage) string {
	var line bytes.Buffer
	if err := json.Compact(&line, value); err != nil {
		return string(value)
	}
	if text := line.String(); text != "null" && text != `""` {
		return text
	}
	return "-"
}
