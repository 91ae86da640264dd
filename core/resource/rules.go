package resource

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/readfile"
	"github.com/seed-54e836f5/pi/core/rule"
	"github.com/seed-54e836f5/pi/core/tool"
)

// Rule is a rule with where it comes from.
type Rule struct {
	*rule.Rule
	Info Info
}

// ruleFileEndings are those of rule files; the second is that of editors which
// have the same form.
var ruleFileEndings = []string{".md", ".mdc"}

// loadRules reads the rules of all places. Of two with one name the first
// counts.
func (l *loader) loadRules() []Rule {
	var list named[Rule]
	for _, file := range l.find(ruleKind) {
		r, ok := l.readRule(file)
		if !ok || slices.Contains(l.options.DisabledRules, r.Name) {
			continue
		}
		if clash := list.add(r.Name, r, r.Info); clash != nil {
			l.report(clash.lost.Path, fmt.Sprintf("the rule %s of %s has the same name and is used.", r.Name, clash.kept.Path))
		}
	}
	return list.items
}

// readRule reads one rule; false: there is nothing to use in the file, or it
// does not want to be used here.
func (l *loader) readRule(info Info) (Rule, bool) {
	data, err := readfile.Ordinary(info.Path)
	if err != nil {
		l.report(info.Path, fmt.Sprintf("cannot be read, so the rule is left out: %v.", reason(err)))
		return Rule{}, false
	}
	doc, err := parseDocument(data)
	if err != nil {
		l.report(info.Path, err.Error()+"; the rule is left out.")
		return Rule{}, false
	}
	if doc.text("enabled") == "false" || !isForUs(doc.texts("agents")) {
		return Rule{}, false
	}
	made, problems := rule.New(ruleOf(doc, info))
	for _, problem := range problems {
		l.report(info.Path, problem.Error()+".")
	}
	for _, name := range []string{"astCondition", "question"} {
		if doc.meta[name] != nil {
			l.report(info.Path, fmt.Sprintf("%s is not known here; it has no effect.", name))
		}
	}
	r := Rule{made, info}
	switch {
	case made.Content == "":
		l.report(info.Path, "it says nothing behind the frontmatter; the rule is left out.")
		return Rule{}, false
	case !made.Watches() && !made.AlwaysApply && made.Description == "":
		l.report(info.Path, "nothing says when it counts: it has no condition that can be used, no alwaysApply and no description; the rule is left out.")
		return Rule{}, false
	}
	return r, true
}

// ruleOf gives what a file says. The names are those of the xcsh family, with
// those that it had for the condition before.
func ruleOf(doc document, info Info) event.Rule {
	r := event.Rule{
		Name: ruleName(info.Path), Path: info.Path, Content: strings.TrimSpace(doc.body),
		Globs: doc.texts("globs"), AlwaysApply: doc.truth("alwaysApply"), Description: doc.text("description"),
		Scope: doc.texts("scope"), InterruptMode: doc.text("interruptMode"),
		Source: event.RuleSource{Provider: "native", ProviderName: "pi", Path: info.Path, Level: string(info.Scope)},
	}
	for _, name := range []string{"condition", "ttsr_trigger", "ttsrTrigger"} {
		if r.Condition = doc.texts(name); len(r.Condition) > 0 {
			break
		}
	}
	if info.Origin == OriginPackage {
		r.Source.Provider, r.Source.ProviderName = info.Source, info.Source
	}
	return r
}

func ruleName(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// isForUs says whether a rule for some agents is for the one that a person
// talks to, and not for helpers of it, which are not here. Without a list it
// is for all.
func isForUs(agents []string) bool {
	if len(agents) == 0 {
		return true
	}
	return slices.ContainsFunc(agents, func(glob string) bool {
		ok, err := doublestar.Match(strings.ToLower(glob), "main")
		return err == nil && ok
	})
}

// ruleFiles lists the rules of a folder, in the order of their names.
func (l *loader) ruleFiles(r root) []string {
	var files []string
	for _, ending := range ruleFileEndings {
		files = append(files, l.filesIn(r.dir, ending, "rules")...)
	}
	slices.Sort(files)
	return files
}

// rulePart tells the model of the rules that watch nothing: those that always
// apply in full, the others by what they are about. Reading those needs a tool.
func rulePart(rules []Rule, tools []tool.Spec) string {
	var always, others strings.Builder
	for _, r := range rules {
		switch {
		case r.Watches():
		case r.AlwaysApply:
			always.WriteString("<rule name=\"" + escapeXML(r.Name) + "\" path=\"" + escapeXML(r.Path) + "\">\n" + r.Content + "\n</rule>\n")
		default:
			others.WriteString("- " + r.Path)
			if len(r.Globs) > 0 {
				others.WriteString(" (for " + strings.Join(r.Globs, ", ") + ")")
			}
			others.WriteString(": " + strings.Join(strings.Fields(r.Description), " ") + "\n")
		}
	}
	var parts []string
	if always.Len() > 0 {
		parts = append(parts, "These rules always count:\n\n"+strings.TrimSpace(always.String()))
	}
	if reader := readerOf(tools); reader != "" && others.Len() > 0 {
		parts = append(parts, "These rules count for some kinds of work. Where one may be about your task, read its file with the "+reader+" tool first:\n"+strings.TrimSpace(others.String()))
	}
	return strings.Join(parts, "\n\n")
}
