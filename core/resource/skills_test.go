package resource_test

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-54e836f5/pi/core/resource"
	"github.com/seed-54e836f5/pi/core/tool"
)

func TestSkillDiscovery(t *testing.T) {
	w := newWorld(t, map[string]string{
		"agent/skills/a/SKILL.md":              skill("a"),
		"agent/skills/a/inner/SKILL.md":        skill("inner"), // belongs to a
		"agent/skills/a/references/x.md":       "reference",
		"agent/skills/deep/er/still/SKILL.md":  skill("still"),
		"agent/skills/deep/loose.md":           skill("loose"), // only the folder itself has single files
		"agent/skills/lower/skill.md":          skill("lower"),
		"agent/skills/node_modules/n/SKILL.md": skill("n"),
		"agent/skills/.git/g/SKILL.md":         skill("g"),
		"agent/skills/.gitignore":              "# comment\n\nignored/\n/build\n*.tmp.md\n!kept\n",
		"agent/skills/ignored/SKILL.md":        skill("ignored"),
		"agent/skills/x/ignored/SKILL.md":      skill("ignored2"),
		"agent/skills/build/SKILL.md":          skill("build"),
		"agent/skills/x/build/SKILL.md":        skill("inner-build"), // the pattern is anchored above
		"agent/skills/some.tmp.md":             skill("tmp"),
		"agent/skills/x/.ignore":               "secret\r\n",
		"agent/skills/x/secret/SKILL.md":       skill("secret"),
		"agent/skills/secret/SKILL.md":         skill("not-secret"), // the file below does not reach up
		"agent/skills/dir.md/SKILL.md":         skill("dir-md"),
		"agent/skills/empty/readme.txt":        "nothing",
	})
	set, diagnostics := w.load(nil)
	check(t, "skills", w.list(set), []string{
		"skill:a@agent/skills/a/SKILL.md", "skill:still@agent/skills/deep/er/still/SKILL.md", "skill:dir-md@agent/skills/dir.md/SKILL.md",
		"skill:not-secret@agent/skills/secret/SKILL.md", "skill:inner-build@agent/skills/x/build/SKILL.md",
	})
	check(t, "diagnostics", diagnostics, nil)
}

func TestSkillLinks(t *testing.T) {
	w := newWorld(t, map[string]string{
		"shared/linked/SKILL.md":    skill("linked"),
		"shared/file.md":            skill("file"),
		"agent/skills/own/SKILL.md": skill("own"),
	})
	w.link("agent/skills/to-folder", "shared/linked")
	w.link("agent/skills/again", "shared/linked") // the same skill by another name
	w.link("agent/skills/to-file.md", "shared/file.md")
	w.link("agent/skills/circle", "agent/skills")
	w.link("agent/skills/up", "agent")
	w.link("agent/skills/nowhere", "gone")
	w.link("agent/skills/itself", "agent/skills/itself")
	set, diagnostics := w.load(nil)
	check(t, "skills", w.list(set), []string{
		"skill:linked@agent/skills/again/SKILL.md", "skill:own@agent/skills/own/SKILL.md", "skill:file@agent/skills/to-file.md",
	})
	check(t, "diagnostics", diagnostics, nil)
}

func TestSkillsFolderIsALink(t *testing.T) {
	w := newWorld(t, map[string]string{"dotfiles/skills/a/SKILL.md": skill("a")})
	w.link("agent/skills", "dotfiles/skills")
	set, diagnostics := w.load(nil)
	check(t, "skills", w.list(set), []string{"skill:a@agent/skills/a/SKILL.md"})
	check(t, "diagnostics", diagnostics, nil)
}

func TestSkillFaults(t *testing.T) {
	for _, c := range []struct {
		name, content string
		command       string // empty: not loaded
		diagnostic    string // empty: none
	}{
		{"good", skill("good-one-2"), "good-one-2", ""},
		{"other folder name", skill("other"), "other", ""},
		{"no name", "---\ndescription: d\n---\n", "dir", `the name is missing; "dir" is used.`},
		{"no description", "---\nname: x\n---\n", "", "the description is missing; the skill is left out."},
		{"blank description", "---\nname: x\ndescription: \"  \"\n---\n", "", "the description is missing; the skill is left out."},
		{"no frontmatter", "just text", "", "the description is missing; the skill is left out."},
		{"broken", "---\nname: [x\n---\n", "", "the frontmatter is not YAML"},
		{"capitals", skill("PDF-Tools"), "PDF-Tools", `the name "PDF-Tools" must be of the letters`},
		{"hyphen first", skill("-x"), "-x", `the name "-x" must be`},
		{"two hyphens", skill("a--b"), "a--b", `the name "a--b" must be`},
		{"long name", skill(strings.Repeat("x", 65)), strings.Repeat("x", 65), "the name has 65 characters, and the standard allows 64; the skill is used all the same."},
		{"long description", "---\nname: x\ndescription: " + strings.Repeat("é", 1025) + "\n---\n", "x", "the description has 1025 characters, and the standard allows 1024"},
		{"longest description", "---\nname: x\ndescription: " + strings.Repeat("é", 1024) + "\n---\n", "x", ""},
		{"long compatibility", "---\nname: x\ndescription: d\ncompatibility: " + strings.Repeat("c", 501) + "\n---\n", "x", "the compatibility has 501 characters"},
		{"unknown fields", "---\nname: x\ndescription: d\nlicense: MIT\nmetadata:\n  a: b\nallowed-tools: Bash(git:*) Read\nfuture: [1]\n---\n", "x", ""},
		{"colon in the description", "---\nname: x\ndescription: Use when: the user asks\n---\n", "x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"agent/skills/dir/SKILL.md": c.content})
			set, diagnostics := w.load(nil)
			var want []string
			if c.command != "" {
				want = []string{"skill:" + c.command + "@agent/skills/dir/SKILL.md"}
			}
			check(t, "skills", w.list(set), want)
			if c.diagnostic == "" {
				check(t, "diagnostics", diagnostics, nil)
			} else if len(diagnostics) != 1 || !strings.HasPrefix(diagnostics[0], "agent/skills/dir/SKILL.md: "+c.diagnostic) {
				t.Errorf("diagnostics %q, want %q", diagnostics, c.diagnostic)
			}
		})
	}
}

func TestUnreadableFilesAreReported(t *testing.T) {
	if os.Getuid() == 0 {
		// The superuser reads everything; a folder in a file's place fails for
		// everybody.
		w := newWorld(t, map[string]string{"agent/prompts": "a file, not a folder", "agent/skills": "a file too"})
		set, diagnostics := w.load(nil)
		check(t, "commands", w.list(set), nil)
		check(t, "diagnostics", diagnostics, []string{
			"agent/prompts: cannot be read, so its templates are left out: not a directory.",
			"agent/skills: cannot be read, so its skills are left out: not a directory.",
		})
		return
	}
	w := newWorld(t, map[string]string{"agent/skills/s/SKILL.md": skill("s"), "agent/prompts/p.md": "x", "work/AGENTS.md": "rules", "work/CLAUDE.md": "other"})
	for _, name := range []string{"agent/skills/s/SKILL.md", "agent/prompts/p.md", "work/AGENTS.md"} {
		if err := os.Chmod(w.path(name), 0); err != nil {
			t.Fatal(err)
		}
	}
	set, diagnostics := w.load(nil)
	check(t, "commands", w.list(set), nil)
	check(t, "diagnostics", diagnostics, []string{
		"agent/prompts/p.md: cannot be read: permission denied; the template is left out.",
		"agent/skills/s/SKILL.md: cannot be read, so the skill is left out: permission denied.",
		"work/AGENTS.md: cannot be read, so it is left out: permission denied.",
	})
}

func TestSkillsInThePrompt(t *testing.T) {
	w := newWorld(t, map[string]string{
		"agent/skills/a/SKILL.md": "---\nname: a\ndescription: Quotes \" & <tags> 's\n---\nbody",
		"agent/skills/h/SKILL.md": "---\nname: h\ndescription: Hidden.\ndisable-model-invocation: true\n---\nbody",
	})
	set, _ := w.load(nil)
	list := "<available_skills>\n  <skill>\n    <name>a</name>\n    <description>Quotes &quot; &amp; &lt;tags&gt; &apos;s</description>\n    <location>" + w.path("agent/skills/a/SKILL.md") +
		"</location>\n  </skill>\n</available_skills>"
	for _, c := range []struct {
		tools  []string
		listed bool
		with   string
	}{
		{[]string{"read", "bash"}, true, "with the read tool"},
		{[]string{"read"}, true, "with the read tool"},
		{[]string{"bash"}, true, "with the bash tool"},
		{[]string{"grep", "edit"}, false, ""},
		{nil, false, ""},
	} {
		var specs []tool.Spec
		for _, name := range c.tools {
			specs = append(specs, tool.Spec{Name: name})
		}
		prompt := set.SystemPrompt(specs)
		if strings.Contains(prompt, list) != c.listed || !strings.Contains(prompt, c.with) || strings.Contains(prompt, "Hidden") {
			t.Errorf("%v:\n%s", c.tools, prompt)
		}
	}
	only, _ := w.load(func(o *resource.Options) {
		o.NoSkills = true
		o.Skills = []resource.Place{{Text: w.path("agent/skills/h")}}
	})
	if prompt := only.SystemPrompt([]tool.Spec{{Name: "read"}}); strings.Contains(prompt, "available_skills") {
		t.Errorf("an empty list is shown:\n%s", prompt)
	}
}

func FuzzSkill(f *testing.F) {
	for _, seed := range []string{skill("x"), "---\nname: a\"b\ndescription: </description>\n---\n</skill>", "---\ndescription: |\n  x\n---\n", "no", "---\nname: 5\ndescription: true\ndisable-model-invocation: yes\n---"} {
		f.Add([]byte(seed), " args")
	}
	w := newWorld(f, map[string]string{"agent/skills/s/SKILL.md": ""})
	f.Fuzz(func(t *testing.T, content []byte, rest string) {
		w.t = t
		w.write("agent/skills/s/SKILL.md", string(content))
		set, diagnostics := resource.Load(t.Context(), w.options())
		skills := set.Commands()
		if len(skills) == 0 && len(diagnostics) == 0 {
			t.Fatal("a skill vanished without a word")
		}
		prompt := set.SystemPrompt([]tool.Spec{{Name: "read"}})
		for _, s := range skills {
			if s.Name == "skill:" || s.Description == "" {
				t.Fatalf("%+v", s)
			}
			text, ok := set.Expand("/" + s.Name + " " + rest)
			if called := !strings.ContainsFunc(s.Name, unicode.IsSpace); ok != called || ok && !strings.HasPrefix(text, "<skill name=\"") {
				t.Fatalf("%q expands to %q, %v", s.Name, text, ok)
			}
		}
		// One that is hidden is a command all the same.
		if shown := strings.Count(prompt, "<skill>"); shown > len(skills) || strings.Count(prompt, "</description>") != shown {
			t.Fatalf("%d skills in\n%s", len(skills), prompt)
		}
	})
}
