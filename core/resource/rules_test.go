package resource_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/resource"
	"github.com/seed-54e836f5/pi/core/tool"
)

// rules lists rules with where they come from, and * for those that watch.
func (w world) rules(set *resource.Set) (list []string) {
	for _, r := range set.Rules() {
		watches := ""
		if r.Watches() {
			watches = "*"
		}
		list = append(list, watches+r.Name+" "+r.Source.Level+" "+r.Source.Provider)
	}
	return list
}

func TestRuleDiscovery(t *testing.T) {
	const watching = "---\ncondition: x\n---\nBody"
	w := newWorld(t, map[string]string{
		"agent/rules/user.md":         watching,
		"agent/rules/both.md":         watching,
		"agent/rules/cursor.mdc":      watching,
		"agent/rules/readme.txt":      watching,
		"agent/rules/deeper/no.md":    watching,
		"work/.pi/rules/both.md":      watching,
		"work/.pi/agent/rules/old.md": watching,
		"package/rules/shared.md":     watching,
		"package/rules/user.md":       watching,
	})
	places := func(o *resource.Options) {
		o.Trusted = true
		o.Rules = []resource.Place{{Text: w.path("package/rules"), Scope: resource.User, Source: "git:x", Origin: resource.OriginPackage}}
	}
	set, diagnostics := w.load(places)
	check(t, "rules", w.rules(set), []string{"*both project native", "*old project native", "*cursor user native", "*user user native", "*shared user git:x"})
	check(t, "diagnostics", diagnostics, []string{
		"agent/rules/both.md: the rule both of work/.pi/rules/both.md has the same name and is used.",
		"package/rules/user.md: the rule user of agent/rules/user.md has the same name and is used.",
	})
	set, _ = w.load(func(o *resource.Options) { o.Trusted = false })
	check(t, "untrusted", w.rules(set), []string{"*both user native", "*cursor user native", "*user user native"})
	set, diagnostics = w.load(func(o *resource.Options) { o.Trusted, o.DisabledRules = true, []string{"both", "old", "cursor"} })
	check(t, "some left out", w.rules(set), []string{"*user user native"})
	check(t, "diagnostics", diagnostics, nil)
	set, _ = w.load(func(o *resource.Options) { o.NoRules = true })
	check(t, "all left out", w.rules(set), nil)
}

func TestRuleFiles(t *testing.T) {
	for _, c := range []struct {
		name, content string
		conditions    []string
		scope         []string
		diagnostic    string // empty: none
		loaded        bool
	}{
		{"one condition", "---\ncondition: a\\.b\n---\nB", []string{`a\.b`}, nil, "", true},
		{"several", "---\ncondition: [a, 'b c']\nscope: text, tool:edit(*.{go,ts})\n---\nB", []string{"a", "b c"}, []string{"text", "tool:edit(*.{go,ts})"}, "", true},
		{"older names", "---\nttsrTrigger: a\n---\nB", []string{"a"}, nil, "", true},
		{"older names, underscore", "---\nttsr_trigger:\n  - a\n---\nB", []string{"a"}, nil, "", true},
		{"quoted backslashes", "---\ncondition: \"\\\\bany\\\\b\"\n---\nB", []string{`\bany\b`}, nil, "", true},
		{"a glob", "---\ncondition: '*.rs'\n---\nB", []string{".*"}, []string{"tool:edit(*.rs)", "tool:write(*.rs)"}, "", true},
		{"switched off", "---\ncondition: a\nenabled: false\n---\nB", nil, nil, "", false},
		{"for others", "---\ncondition: a\nagents: [reviewer, scout-*]\n---\nB", nil, nil, "", false},
		{"for us too", "---\ncondition: a\nagents: [reviewer, main]\n---\nB", []string{"a"}, nil, "", true},
		{"always", "---\nalwaysApply: true\n---\nB", nil, nil, "", true},
		{"described", "---\ndescription: d\n---\nB", nil, nil, "", true},
		{"no condition that works", "---\ncondition: a(?!b)\ndescription: d\n---\nB", []string{"a(?!b)"}, nil, `the condition "a(?!b)" cannot be used: "(?!" is not known in the syntax of RE2, which has no lookahead and no lookbehind; it is left out.`, true},
		{"neither", "B", nil, nil, "nothing says when it counts: it has no condition that can be used, no alwaysApply and no description; the rule is left out.", false},
		{"empty", "---\ncondition: a\n---\n", nil, nil, "it says nothing behind the frontmatter; the rule is left out.", false},
		{"of a judge", "---\ncondition: a\nquestion: Is it?\n---\nB", []string{"a"}, nil, "question is not known here; it has no effect.", true},
		{"no YAML", "---\ncondition: [a\n---\nB", nil, nil, "the frontmatter is not YAML", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"agent/rules/r.md": c.content})
			set, diagnostics := w.load(nil)
			if got := len(set.Rules()) == 1; got != c.loaded {
				t.Fatalf("loaded is %t, with %q", got, diagnostics)
			}
			if c.loaded {
				r := set.Rules()[0]
				if !slices.Equal(r.Condition, c.conditions) || !slices.Equal(r.Scope, c.scope) || r.Name != "r" || r.Content != "B" || r.Path != w.path("agent/rules/r.md") {
					t.Errorf("it is %+v", r.Rule.Rule)
				}
			}
			switch {
			case c.diagnostic == "":
				check(t, "diagnostics", diagnostics, nil)
			case len(diagnostics) != 1 || !strings.HasPrefix(diagnostics[0], "agent/rules/r.md: "+c.diagnostic):
				t.Errorf("the diagnostics are %q, want %q", diagnostics, c.diagnostic)
			}
		})
	}
}

func TestRulesInTheSystemPrompt(t *testing.T) {
	w := newWorld(t, map[string]string{
		"agent/rules/always.md":   "---\nalwaysApply: true\ndescription: not shown\n---\nBe kind.",
		"agent/rules/some.md":     "---\ndescription: How we write SQL\nglobs: \"*.sql, db/**\"\n---\nIn capitals.",
		"agent/rules/watching.md": "---\ncondition: x\ndescription: secret\nalwaysApply: true\n---\nHidden.",
	})
	set, _ := w.load(nil)
	got := set.SystemPrompt([]tool.Spec{{Name: "read"}})
	for _, want := range []string{
		"<rule name=\"always\" path=\"" + w.path("agent/rules/always.md") + "\">\nBe kind.\n</rule>",
		"with the read tool first:\n- " + w.path("agent/rules/some.md") + " (for *.sql, db/**): How we write SQL",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the system prompt is without %q:\n%s", want, got)
		}
	}
	for _, not := range []string{"secret", "Hidden", "capitals", "not shown"} {
		if strings.Contains(got, not) {
			t.Errorf("the system prompt has %q", not)
		}
	}
	if got := set.SystemPrompt(nil); strings.Contains(got, "How we write SQL") || !strings.Contains(got, "Be kind.") {
		t.Errorf("without a tool to read it is %s", got)
	}
}
