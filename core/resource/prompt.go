package resource

import (
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/tool"
)

// PromptInput is what a system prompt is built from.
type PromptInput struct {
	Tools   []tool.Spec // the active ones, in the order the model sees them
	Custom  string      // in place of the part about role and tools; empty: ours
	Append  []string    // texts behind it
	Context []ContextFile
	Rules   []Rule
	Skills  []Skill
	Date    string // empty: the model is not told
	Cwd     string
}

// SystemPrompt builds the system prompt for a set of active tools. The same
// tools give the same bytes.
func (s *Set) SystemPrompt(tools []tool.Spec) string {
	in := PromptInput{Tools: tools, Custom: s.system, Append: s.appended, Context: s.context, Rules: s.rules, Skills: s.skills, Cwd: s.options.Cwd}
	if !s.options.Now.IsZero() {
		in.Date = s.options.Now.Format("2006-01-02")
	}
	return BuildSystemPrompt(in)
}

// BuildSystemPrompt puts a system prompt together: role, tools and guidelines
// or the text in their place, appended texts, context files, rules, skills, date
// and working folder. What changes more often stands further down, so that
// services can keep what is above.
func BuildSystemPrompt(in PromptInput) string {
	var parts []string
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	if strings.TrimSpace(in.Custom) != "" {
		add(in.Custom)
	} else {
		add(role)
		add(toolList(in.Tools))
		add(guidelines(in.Tools))
	}
	for _, text := range in.Append {
		add(text)
	}
	add(contextPart(in.Context))
	add(rulePart(in.Rules, in.Tools))
	add(skillPart(in.Skills, in.Tools))
	last := "Current working directory: " + in.Cwd
	if in.Date != "" {
		last = "Today's date: " + in.Date + "\n" + last
	}
	add(last)
	return strings.Join(parts, "\n\n")
}

const role = `You are a coding agent. You work on the files of the user's project with the tools you are given: you look before you change, change what was asked for, check the outcome, and say plainly what you did and what is still open.`

// toolList shows the active tools that have a line for it.
func toolList(tools []tool.Spec) string {
	var b strings.Builder
	for _, t := range tools {
		if t.Snippet != "" {
			b.WriteString("- " + t.Name + ": " + t.Snippet + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "Tools you can call:\n" + b.String() + "\nA request may offer more tools than these; you can call what it offers."
}

// generalGuidelines hold whatever tools there are.
var generalGuidelines = []string{
	"Be brief; skip preambles and summaries that nobody asked for.",
	"Name files by their paths.",
}

// guidelines lists the sentences of the active tools and the general ones,
// each once.
func guidelines(tools []tool.Spec) string {
	var lines []string
	for _, t := range tools {
		lines = append(lines, t.Guidelines...)
	}
	lines = append(lines, generalGuidelines...)
	var b strings.Builder
	b.WriteString("Guidelines:")
	for i, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines[:i], line) {
			b.WriteString("\n- " + line)
		}
	}
	return b.String()
}

func contextPart(files []ContextFile) string {
	var b strings.Builder
	for _, f := range files {
		if content := strings.TrimSpace(f.Content); content != "" {
			b.WriteString("<project_instructions path=\"" + escapeXML(f.Path) + "\">\n" + content + "\n</project_instructions>\n\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "<project_context>\n\nWhat the user and the project ask of you. Where two of these disagree, the later one counts.\n\n" + b.String() + "</project_context>"
}

// skillPart lists the skills that the model may choose itself. It needs a
// tool that can read their files; read is the usual one, bash does as well.
func skillPart(skills []Skill, tools []tool.Spec) string {
	reader := readerOf(tools)
	var b strings.Builder
	for _, s := range skills {
		if !s.Hidden {
			b.WriteString("  <skill>\n    <name>" + escapeXML(s.Name) + "</name>\n    <description>" + escapeXML(s.Description) +
				"</description>\n    <location>" + escapeXML(s.Info.Path) + "</location>\n  </skill>\n")
		}
	}
	if reader == "" || b.Len() == 0 {
		return ""
	}
	return "Skills hold instructions for special kinds of work. When a description fits the task, read the file at its location with the " + reader +
		" tool before you start. Paths in a skill are relative to the folder of that file; use them as absolute paths.\n\n<available_skills>\n" + b.String() + "</available_skills>"
}

// readerOf names the tool that can read files; empty: there is none.
func readerOf(tools []tool.Spec) string {
	for _, name := range []string{"read", "bash"} {
		if slices.ContainsFunc(tools, func(t tool.Spec) bool { return t.Name == name }) {
			return name
		}
	}
	return ""
}
