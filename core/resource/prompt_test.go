package resource_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/resource"
	"github.com/seed-54e836f5/pi/core/tool"
)

func TestContextFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string // path: content
	}{
		{"user, then project", map[string]string{"agent/AGENTS.md": "global", "work/AGENTS.md": "project", "work/CLAUDE.md": "claude"},
			[]string{"agent/AGENTS.md: global", "work/AGENTS.md: project"}},
		{"CLAUDE.md alone", map[string]string{"work/CLAUDE.md": "claude"}, []string{"work/CLAUDE.md: claude"}},
		{"override takes the place", map[string]string{"work/AGENTS.override.md": "mine", "work/AGENTS.md": "team", "AGENTS.md": "outer"},
			[]string{"AGENTS.md: outer", "work/AGENTS.override.md: mine"}},
		{"other spellings", map[string]string{"AGENTS.MD": "a", "work/CLAUDE.MD": "c"}, []string{"AGENTS.MD: a", "work/CLAUDE.MD: c"}},
		{"outer to inner, through the repository", map[string]string{"CLAUDE.md": "outer", "work/AGENTS.md": "inner"}, []string{"CLAUDE.md: outer", "work/AGENTS.md: inner"}},
		{"a folder of that name", map[string]string{"work/AGENTS.md/x": "folder", "work/CLAUDE.md": "claude"}, []string{"work/CLAUDE.md: claude"}},
		{"windows and marks", map[string]string{"work/AGENTS.md": "\ufeffa\r\nb\xff"}, []string{"work/AGENTS.md: a\nb\ufffd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.files)
			set, diagnostics := w.load(nil)
			var got []string
			for _, f := range set.ContextFiles() {
				if strings.HasPrefix(f.Path, w.root) { // a folder above may have files of its own
					got = append(got, w.relative(f.Path)+": "+f.Content)
				}
			}
			check(t, "context files", got, c.want)
			check(t, "diagnostics", diagnostics, nil)
		})
	}
}

// Context files are read before anyone has said that a project is trusted, and
// a repository may link to anything.
func TestContextFilesThatNeverEnd(t *testing.T) {
	w := newWorld(t, map[string]string{"AGENTS.md": "outer", "work/AGENTS.md": ""})
	if err := errors.Join(os.Symlink(os.DevNull, w.path("work/AGENTS.override.md")), os.Truncate(w.path("work/AGENTS.md"), 1<<40)); err != nil {
		t.Fatal(err)
	}
	set, diagnostics := w.load(nil)
	for _, f := range set.ContextFiles() {
		if strings.HasPrefix(f.Path, w.path("work")) {
			t.Errorf("%s is loaded", f.Path)
		}
	}
	check(t, "diagnostics", diagnostics, []string{
		"work/AGENTS.override.md: cannot be read, so it is left out: it is no ordinary file but a pipe, socket or device.",
		"work/AGENTS.md: cannot be read, so it is left out: it is larger than 16 MiB.",
	})
}

func TestContextFileOfTheAgentFolderComesOnce(t *testing.T) {
	w := newWorld(t, map[string]string{"agent/AGENTS.md": "global"})
	set, _ := w.load(func(o *resource.Options) { o.Cwd = w.path("agent") })
	if got := strings.Count(set.SystemPrompt(nil), "global"); got != 1 {
		t.Errorf("it is there %d times", got)
	}
}

func TestBuildSystemPrompt(t *testing.T) {
	input := resource.PromptInput{
		Tools: []tool.Spec{
			{Name: "read", Snippet: "read a file", Guidelines: []string{"Read before you write.", "Same for all."}},
			{Name: "secret", Guidelines: []string{"Same for all."}},
			{Name: "bash", Snippet: "run a command"},
		},
		Append:  []string{"appended one", " ", "appended two\n"},
		Context: []resource.ContextFile{{Path: "/a/AGENTS.md", Content: "\nrules\n\n"}, {Path: "/b/AGENTS.md", Content: " \n"}, {Path: `/c/"x".md`, Content: "more"}},
		Skills:  []resource.Skill{{Name: "s", Description: "d", Info: resource.Info{Path: "/s/SKILL.md"}}},
		Date:    "2026-01-02", Cwd: "/work",
	}
	prompt := resource.BuildSystemPrompt(input)
	at := 0
	for _, part := range []string{
		"You are ", "- read: read a file\n- bash: run a command\n", "Guidelines:\n- Read before you write.\n- Same for all.\n- ",
		"\n\nappended one\n\nappended two\n\n<project_context>\n\n",
		"<project_instructions path=\"/a/AGENTS.md\">\nrules\n</project_instructions>\n\n<project_instructions path=\"/c/&quot;x&quot;.md\">\nmore\n</project_instructions>\n\n</project_context>\n\n",
		"<available_skills>\n  <skill>\n    <name>s</name>", "</available_skills>\n\nToday's date: 2026-01-02\nCurrent working directory: /work",
	} {
		next := strings.Index(prompt[at:], part)
		if next < 0 {
			t.Fatalf("%q is missing behind byte %d of\n%s", part, at, prompt)
		}
		at += next + len(part)
	}
	if at != len(prompt) || strings.Count(prompt, "Same for all.") != 1 || strings.Contains(prompt, "secret") {
		t.Errorf("the prompt is\n%s", prompt)
	}
	if again := resource.BuildSystemPrompt(input); again != prompt {
		t.Error("the same input gives other bytes")
	}
	input.Custom = "Custom.\n"
	if custom := resource.BuildSystemPrompt(input); !strings.HasPrefix(custom, "Custom.\n\nappended one\n\n") || strings.Contains(custom, "Guidelines") {
		t.Errorf("with a text of one's own:\n%s", custom)
	}
	if bare := resource.BuildSystemPrompt(resource.PromptInput{Cwd: "/w"}); strings.Contains(bare, "<") || strings.Contains(bare, "Tools") || strings.Contains(bare, "date") || !strings.HasSuffix(bare, "\n\nCurrent working directory: /w") {
		t.Errorf("with nothing:\n%s", bare)
	}
}

func TestSystemPromptIsTheSameFromTurnToTurn(t *testing.T) {
	w := newWorld(t, map[string]string{"agent/skills/a/SKILL.md": skill("a"), "work/AGENTS.md": "rules"})
	set, _ := w.load(nil)
	tools := []tool.Spec{{Name: "read", Snippet: "reads"}}
	first := set.SystemPrompt(tools)
	w.write("work/AGENTS.md", "changed")
	w.write("agent/skills/b/SKILL.md", skill("b"))
	if set.SystemPrompt(tools) != first {
		t.Error("a file that changed shows before a reload")
	}
	again, _ := w.load(nil)
	if again.SystemPrompt(tools) == first {
		t.Error("a file that changed does not show after a reload")
	}
}
