package resource_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/resource"
	"github.com/seed-54e836f5/pi/core/tool"
)

// world is a home with an agent folder and a working folder, filled with
// files: agent/… and work/… and home/… and others beside them.
type world struct {
	t    testing.TB
	root string
}

func newWorld(t testing.TB, files map[string]string) world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{t, root}
	for _, dir := range []string{"agent", "home", "work/.git"} {
		if err := os.MkdirAll(w.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		w.write(name, content)
	}
	return w
}

func (w world) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

func (w world) write(name, content string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) link(name, target string) {
	w.t.Helper()
	if err := os.Symlink(w.path(target), w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) options() resource.Options {
	return resource.Options{AgentDir: w.path("agent"), Home: w.path("home"), Cwd: w.path("work")}
}

// relative takes the world's folder out of a text.
func (w world) relative(text string) string { return strings.ReplaceAll(text, w.root+"/", "") }

// load loads with everything that may be wanted to differ from the usual.
func (w world) load(change func(*resource.Options)) (*resource.Set, []string) {
	options := w.options()
	if change != nil {
		change(&options)
	}
	set, diagnostics := resource.Load(context.Background(), options)
	var texts []string
	for _, d := range diagnostics {
		texts = append(texts, w.relative(d.String()))
	}
	return set, texts
}

func trusted(o *resource.Options) { o.Trusted = true }

// list writes commands as name@path.
func (w world) list(set *resource.Set) []string {
	var list []string
	for _, c := range set.Commands() {
		list = append(list, c.Name+"@"+w.relative(c.Path))
	}
	return list
}

func check(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  %s\nwant:\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func skill(name string) string {
	return "---\nname: " + name + "\ndescription: About " + name + ".\n---\nBody of " + name + ".\n"
}

func TestCommands(t *testing.T) {
	w := newWorld(t, map[string]string{
		"agent/prompts/review.md":       "---\ndescription: Review a thing\nargument-hint: \"<what>\"\n---\nreview of $1\n",
		"agent/prompts/plain.md":        "plain template first line\nsecond line\n",
		"agent/prompts/sub/deep.md":     "deep\n",
		"agent/prompts/empty.md":        "---\ndescription: nothing inside\n---\n",
		"agent/prompts/notes.txt":       "no template",
		"agent/prompts/long.md":         "\n\n  " + strings.Repeat("long ", 20) + "\nsecond",
		"agent/skills/greet/SKILL.md":   "---\nname: greet\ndescription: Greets people.\n---\n# Greet\n\nsay hello\n",
		"agent/skills/hidden/SKILL.md":  "---\nname: hidden\ndescription: Hidden skill.\ndisable-model-invocation: true\n---\nhidden body\n",
		"agent/skills/nodesc/SKILL.md":  "---\nname: nodesc\n---\nno\n",
		"agent/skills/single.md":        "---\nname: single\ndescription: One file.\n---\nsingle body\n",
		"agent/skills/README.md":        "About these skills.\n",
		"agent/skills/group/x/SKILL.md": skill("x"),
	})
	set, diagnostics := w.load(nil)
	check(t, "commands", w.list(set), []string{
		"empty@agent/prompts/empty.md", "long@agent/prompts/long.md", "plain@agent/prompts/plain.md", "review@agent/prompts/review.md",
		"skill:greet@agent/skills/greet/SKILL.md", "skill:x@agent/skills/group/x/SKILL.md", "skill:hidden@agent/skills/hidden/SKILL.md", "skill:single@agent/skills/single.md",
	})
	check(t, "diagnostics", diagnostics, []string{"agent/skills/nodesc/SKILL.md: the description is missing; the skill is left out."})
	byName := map[string]resource.Command{}
	for _, c := range set.Commands() {
		byName[c.Name] = c
		want := resource.Info{Path: c.Path, Source: "auto", Scope: "user", Origin: "top-level", BaseDir: w.path("agent")}
		if c.Info != want || c.Location != "user" {
			t.Errorf("%s: %+v, location %s", c.Name, c.Info, c.Location)
		}
	}
	for name, want := range map[string]string{
		"review": "Review a thing", "plain": "plain template first line", "empty": "nothing inside",
		"long": "long long long long long long long long long long long long ...", "skill:greet": "Greets people.",
	} {
		if got := byName[name].Description; got != want {
			t.Errorf("the description of %s is %q, want %q", name, got, want)
		}
	}
	if byName["plain"].Source != "prompt" || byName["skill:greet"].Source != "skill" {
		t.Errorf("sources: %+v", byName)
	}
}

func TestExpand(t *testing.T) {
	w := newWorld(t, map[string]string{
		"agent/prompts/review.md":      "---\ndescription: Review a thing\n---\nreview of $1 and $2 all=$@ def=${3:-none}\n",
		"agent/prompts/plain.md":       "first line\nsecond line\n",
		"agent/prompts/empty.md":       "---\ndescription: nothing inside\n---\n",
		"agent/prompts/skill.md":       "a template that is called skill",
		"agent/skills/greet/SKILL.md":  "---\nname: greet\ndescription: Greets.\n---\n\n# Greet\n\nsay $1 hello\n\n",
		"agent/skills/hidden/SKILL.md": "---\nname: hidden\ndescription: H.\ndisable-model-invocation: true\n---\nhidden body\n",
		"agent/skills/single.md":       "---\nname: single\ndescription: One file.\n---\nsingle body\n",
	})
	greet := "<skill name=\"greet\" location=\"agent/skills/greet/SKILL.md\">\nReferences are relative to agent/skills/greet.\n\n# Greet\n\nsay $1 hello\n</skill>"
	set, _ := w.load(nil)
	for text, want := range map[string]string{
		"/review one two three":       "review of one and two all=one two three def=three",
		"/review":                     "review of  and  all= def=none",
		"/review multi\nline arg":     "review of multi and line all=multi line arg def=arg",
		"/review\nx":                  "review of x and  all=x def=none",
		"/review\tx":                  "review of x and  all=x def=none",
		"/review $2 x":                "review of $2 and x all=$2 x def=none",
		"/plain extra args":           "first line\nsecond line\n",
		"/empty":                      "",
		"/skill x":                    "a template that is called skill",
		"/skill:greet":                greet,
		"/skill:greet to Bob and Ann": greet + "\n\nto Bob and Ann",
		"/skill:greet\nto Bob":        greet + "\n\nto Bob",
		"/skill:greet   a  b  ":       greet + "\n\na  b",
		"/skill:greet \n ":            greet,
		"/skill:hidden x":             "<skill name=\"hidden\" location=\"agent/skills/hidden/SKILL.md\">\nReferences are relative to agent/skills/hidden.\n\nhidden body\n</skill>\n\nx",
		"/skill:single":               "<skill name=\"single\" location=\"agent/skills/single.md\">\nReferences are relative to agent/skills.\n\nsingle body\n</skill>",
	} {
		got, ok := set.Expand(text)
		if !ok || w.relative(got) != want {
			t.Errorf("%q gives %v and\n%s\nwant\n%s", text, ok, w.relative(got), want)
		}
	}
	for _, text := range []string{"", "/", "//review", " /review x", "/reviews", "/Review", "review", "/skill:", "/skill:nope arg", "/skill:greetings", "say /review", "/sub/review"} {
		if got, ok := set.Expand(text); ok || got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestSkillIsReadWhenItIsUsed(t *testing.T) {
	w := newWorld(t, map[string]string{"agent/skills/s/SKILL.md": skill("s")})
	set, _ := w.load(nil)
	w.write("agent/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\nbetter\n")
	if got, ok := set.Expand("/skill:s"); !ok || !strings.Contains(got, "\n\nbetter\n</skill>") {
		t.Errorf("got %q", got)
	}
	if err := os.Remove(w.path("agent/skills/s/SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if got, ok := set.Expand("/skill:s x"); ok || got != "/skill:s x" {
		t.Errorf("a skill that is gone gives %q", got)
	}
}

func TestProjectNeedsTrust(t *testing.T) {
	w := newWorld(t, map[string]string{
		"work/.pi/prompts/pp.md":           "project template\n",
		"work/.pi/agent/prompts/seed.md":   "seed template\n",
		"work/.pi/skills/ps/SKILL.md":      skill("ps"),
		"work/.agents/skills/as/SKILL.md":  skill("as"),
		"work/.agents/skills/loose.md":     skill("loose"),
		".agents/skills/outside/SKILL.md":  skill("outside"), // above the repository
		"home/.agents/skills/own/SKILL.md": skill("own"),
		"work/AGENTS.md":                   "project rules\n",
		"work/.pi/SYSTEM.md":               "project system\n",
		"work/.pi/APPEND_SYSTEM.md":        "project append\n",
		"agent/SYSTEM.md":                  "user system\n",
	})
	named := func(o *resource.Options) {
		o.Skills = []resource.Place{{Text: "more", BaseDir: w.path("work/.pi"), Scope: resource.Project}}
	}
	w.write("work/.pi/more/named/SKILL.md", skill("named"))
	set, diagnostics := w.load(named)
	check(t, "untrusted", w.list(set), []string{"skill:own@home/.agents/skills/own/SKILL.md"})
	prompt := set.SystemPrompt(nil)
	if strings.Contains(prompt, "project system") || strings.Contains(prompt, "project append") || !strings.HasPrefix(prompt, "user system") || !strings.Contains(prompt, "project rules") {
		t.Errorf("the untrusted prompt is\n%s", prompt)
	}
	set, _ = w.load(func(o *resource.Options) { named(o); o.Trusted = true })
	check(t, "trusted", w.list(set), []string{
		"pp@work/.pi/prompts/pp.md", "seed@work/.pi/agent/prompts/seed.md",
		"skill:named@work/.pi/more/named/SKILL.md", "skill:ps@work/.pi/skills/ps/SKILL.md", "skill:as@work/.agents/skills/as/SKILL.md", "skill:own@home/.agents/skills/own/SKILL.md",
	})
	prompt = set.SystemPrompt(nil)
	if !strings.HasPrefix(prompt, "project system") || strings.Contains(prompt, "user system") || !strings.Contains(prompt, "project append") {
		t.Errorf("the trusted prompt is\n%s", prompt)
	}
	check(t, "diagnostics", diagnostics, nil)
	for _, c := range set.Commands() {
		want := map[string]string{"pp": "work/.pi", "seed": "work/.pi/agent", "skill:ps": "work/.pi", "skill:as": "work/.agents", "skill:own": "home/.agents", "skill:named": ""}[c.Name]
		if got := w.relative(c.Info.BaseDir); got != want {
			t.Errorf("%s: base %q, want %q", c.Name, got, want)
		}
	}
	if c := set.Commands()[0]; c.Location != "project" || c.Info.Scope != "project" {
		t.Errorf("%+v", c)
	}
}

// Without a repository the folders above count up to the root, but the user's
// own skills are not the project's, and the agent folder in the home is not a
// project's .pi/agent.
func TestStartedInTheHomeFolder(t *testing.T) {
	w := newWorld(t, map[string]string{
		"home/.agents/skills/own/SKILL.md":     skill("own"),
		"home/.pi/agent/prompts/mine.md":       "mine",
		"home/loose/.agents/skills/l/SKILL.md": skill("l"),
	})
	for _, cwd := range []string{"home", "home/loose/deep"} {
		set, diagnostics := w.load(func(o *resource.Options) {
			o.Cwd, o.AgentDir, o.Trusted = w.path(cwd), w.path("home/.pi/agent"), true
		})
		want := []string{"mine@home/.pi/agent/prompts/mine.md", "skill:own@home/.agents/skills/own/SKILL.md"}
		if cwd != "home" {
			want = slices.Insert(want, 1, "skill:l@home/loose/.agents/skills/l/SKILL.md")
		}
		check(t, cwd, w.list(set), want)
		check(t, "diagnostics", diagnostics, nil)
		for _, c := range set.Commands() {
			if c.Name != "skill:l" && c.Location != "user" {
				t.Errorf("%+v", c)
			}
		}
	}
}

func TestNamedPlaces(t *testing.T) {
	w := newWorld(t, map[string]string{
		"agent/prompts/a.md":      "auto",
		"cli/p.md":                "prompt by flag",
		"cli/skills/one/SKILL.md": skill("one"),
		"cli/skills/two.md":       skill("two"),
		"shared/q.md":             "prompt of the settings",
		"shared/r.md":             "another",
		"shared/deep/s.md":        "deep",
		"home/team/x/SKILL.md":    skill("x"),
		"pack/prompts/pk.md":      "prompt of a package",
		"work/rel/SKILL.md":       skill("rel"),
		"work/spaces in it/t.md":  "t",
	})
	set, diagnostics := w.load(func(o *resource.Options) {
		o.Prompts = []resource.Place{
			{Text: "../shared", BaseDir: w.path("agent"), Scope: resource.User},
			{Text: "../shared/**/*.md", BaseDir: w.path("agent"), Scope: resource.User},
			{Text: w.path("pack/prompts"), BaseDir: w.path("pack"), Scope: resource.User, Source: "git:example", Origin: resource.OriginPackage},
			{Text: w.path("cli/p.md")},
			{Text: "spaces in it/t.md"},
			{Text: w.path("gone.md")},
		}
		o.Skills = []resource.Place{
			{Text: "~/team", BaseDir: w.path("agent"), Scope: resource.User},
			{Text: w.path("cli/skills")},
			{Text: "rel", Source: "extension:tools"},
		}
	})
	check(t, "commands", w.list(set), []string{
		"q@shared/q.md", "r@shared/r.md", "s@shared/deep/s.md", "a@agent/prompts/a.md", "pk@pack/prompts/pk.md", "p@cli/p.md", "t@work/spaces in it/t.md",
		"skill:x@home/team/x/SKILL.md", "skill:one@cli/skills/one/SKILL.md", "skill:two@cli/skills/two.md", "skill:rel@work/rel/SKILL.md",
	})
	check(t, "diagnostics", diagnostics, []string{"gone.md: was named, but cannot be used: no such file or directory."})
	infos := map[string]resource.Info{}
	for _, c := range set.Commands() {
		info := c.Info
		info.Path, info.BaseDir = "", w.relative(info.BaseDir)
		infos[c.Name] = info
	}
	for name, want := range map[string]resource.Info{
		"q":         {Source: "local", Scope: "user", Origin: "top-level"},
		"pk":        {Source: "git:example", Scope: "user", Origin: "package", BaseDir: "pack"},
		"p":         {Source: "local", Scope: "temporary", Origin: "top-level", BaseDir: "cli"},
		"skill:one": {Source: "local", Scope: "temporary", Origin: "top-level", BaseDir: "cli/skills/one"},
		"skill:rel": {Source: "extension:tools", Scope: "temporary", Origin: "top-level", BaseDir: "work/rel"},
	} {
		if infos[name] != want {
			t.Errorf("%s: %+v, want %+v", name, infos[name], want)
		}
	}
}

func TestPlacesThatTakeAway(t *testing.T) {
	files := map[string]string{
		"agent/prompts/a.md": "a", "agent/prompts/b.md": "b", "agent/prompts/draft-c.md": "c",
		"home/.agents/skills/old/s4/SKILL.md": skill("s4"), "home/.agents/skills/new/SKILL.md": skill("s5"),
		"agent/skills/s1/SKILL.md": skill("s1"), "agent/skills/old/s2/SKILL.md": skill("s2"), "agent/skills/old/s3/SKILL.md": skill("s3"),
	}
	for _, c := range []struct {
		name            string
		prompts, skills []string
		want            string
	}{
		{"nothing", nil, nil, "a b draft-c s2 s3 s1 s5 s4"},
		{"exactly one", []string{"-prompts/b.md"}, []string{"-skills/s1"}, "a draft-c s2 s3 s5 s4"},
		{"the file of a skill", nil, []string{"-skills/s1/SKILL.md"}, "a b draft-c s2 s3 s5 s4"},
		{"a glob", []string{"!**/draft-*.md"}, []string{"!skills/old/**"}, "a b s1 s5 s4"},
		{"a glob of the name", []string{"!draft-*"}, []string{"!old"}, "a b s1 s5"},
		{"all but one", []string{"!prompts/*", "+prompts/a.md"}, []string{"!skills/**", "+skills/old/s3", "!../home/**"}, "a s3"},
		{"out beats in", []string{"+prompts/a.md", "-prompts/a.md"}, nil, "b draft-c s2 s3 s1 s5 s4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, files)
			places := func(texts []string) (list []resource.Place) {
				for _, text := range texts {
					list = append(list, resource.Place{Text: text, BaseDir: w.path("agent"), Scope: resource.User})
				}
				return list
			}
			set, diagnostics := w.load(func(o *resource.Options) { o.Prompts, o.Skills = places(c.prompts), places(c.skills) })
			var got []string
			for _, command := range set.Commands() {
				got = append(got, strings.TrimPrefix(command.Name, "skill:"))
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
			check(t, "diagnostics", diagnostics, nil)
		})
	}
}

func TestSwitches(t *testing.T) {
	w := newWorld(t, map[string]string{
		"agent/prompts/a.md": "a", "agent/skills/s/SKILL.md": skill("s"), "work/AGENTS.md": "rules",
		"cli/p.md": "p", "cli/k/SKILL.md": skill("k"),
	})
	set, _ := w.load(func(o *resource.Options) {
		o.NoPrompts, o.NoSkills, o.NoContextFiles = true, true, true
		o.Prompts = []resource.Place{{Text: w.path("cli/p.md")}}
		o.Skills = []resource.Place{{Text: w.path("cli/k")}}
	})
	check(t, "only what was named", w.list(set), []string{"p@cli/p.md", "skill:k@cli/k/SKILL.md"})
	if len(set.ContextFiles()) != 0 {
		t.Errorf("context: %+v", set.ContextFiles())
	}
	set, _ = w.load(func(o *resource.Options) { o.NoSkillCommands = true })
	check(t, "no skill commands", w.list(set), []string{"a@agent/prompts/a.md"})
	if got, ok := set.Expand("/skill:s"); ok {
		t.Errorf("expanded to %q", got)
	}
	if !strings.Contains(set.SystemPrompt([]tool.Spec{{Name: "read"}}), "<name>s</name>") {
		t.Error("the model is not told of the skill")
	}
}

func TestClashes(t *testing.T) {
	w := newWorld(t, map[string]string{
		"work/.pi/prompts/same.md":    "project",
		"agent/prompts/same.md":       "user",
		"agent/prompts/flagged.md":    "user",
		"cli/flagged.md":              "flag",
		"work/.pi/skills/a/SKILL.md":  skill("twin"),
		"agent/skills/b/SKILL.md":     skill("twin"),
		"agent/skills/c/SKILL.md":     skill("named"),
		"cli/d/SKILL.md":              skill("named"),
		"agent/prompts/with blank.md": "cannot be called",
		"agent/prompts/broken.md":     "---\na: [\n---\nx",
	})
	set, diagnostics := w.load(func(o *resource.Options) {
		o.Trusted = true
		o.Prompts = []resource.Place{{Text: w.path("cli/flagged.md")}}
		o.Skills = []resource.Place{{Text: w.path("cli/d")}}
	})
	check(t, "commands", w.list(set), []string{
		"same@work/.pi/prompts/same.md", "flagged@cli/flagged.md", "skill:twin@work/.pi/skills/a/SKILL.md", "skill:named@cli/d/SKILL.md",
	})
	for i, want := range []string{
		"agent/prompts/broken.md: the frontmatter is not YAML: ",
		"agent/prompts/same.md: the template /same of work/.pi/prompts/same.md has the same name and is used.",
		`agent/prompts/with blank.md: a command's name cannot have a blank, so "with blank" cannot be called; the template is left out.`,
		"agent/prompts/flagged.md: the template /flagged of cli/flagged.md has the same name and is used.",
		"agent/skills/b/SKILL.md: the skill twin of work/.pi/skills/a/SKILL.md has the same name and is used.",
		"agent/skills/c/SKILL.md: the skill named of cli/d/SKILL.md has the same name and is used.",
	} {
		if i >= len(diagnostics) || !strings.HasPrefix(diagnostics[i], want) {
			t.Fatalf("diagnostics:\n%s\nwant at %d %s", strings.Join(diagnostics, "\n"), i, want)
		}
	}
}

func TestSystemPromptFiles(t *testing.T) {
	w := newWorld(t, map[string]string{
		"agent/SYSTEM.md": "user system\n", "agent/APPEND_SYSTEM.md": "user append\n", "work/.pi/APPEND_SYSTEM.md": "project append\n",
		"prompt.md": "from a file\nsecond line\n", "work/AGENTS.md": "the rules",
	})
	prompt := func(change func(*resource.Options)) string {
		set, _ := w.load(change)
		return strings.ReplaceAll(set.SystemPrompt([]tool.Spec{{Name: "read", Snippet: "reads"}}), "\n", "|")
	}
	tail := "|| <project_context>"
	for name, c := range map[string]struct {
		change func(*resource.Options)
		want   string
	}{
		"files":            {nil, "user system||user append" + tail},
		"project append":   {trusted, "user system||project append" + tail},
		"flag":             {func(o *resource.Options) { o.SystemPrompt = "by flag" }, "by flag||user append" + tail},
		"file by flag":     {func(o *resource.Options) { o.SystemPrompt = w.path("prompt.md") }, "from a file|second line||user append" + tail},
		"relative file":    {func(o *resource.Options) { o.SystemPrompt = "../prompt.md" }, "from a file|second line||user append" + tail},
		"appended too":     {func(o *resource.Options) { o.AppendSystemPrompt = []string{"one", w.path("prompt.md")} }, "user system||user append||one||from a file|second line" + tail},
		"a folder is text": {func(o *resource.Options) { o.SystemPrompt = w.path("agent") }, w.path("agent") + "||user append" + tail},
	} {
		if got := prompt(c.change); !strings.HasPrefix(got, strings.ReplaceAll(c.want, "|| <", "||<")) || strings.Contains(got, "reads") || !strings.Contains(got, "the rules") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestDateIsThatOfTheLoad(t *testing.T) {
	w := newWorld(t, nil)
	set, _ := w.load(func(o *resource.Options) { o.Now = time.Date(2026, 3, 9, 23, 59, 59, 0, time.UTC) })
	if got := set.SystemPrompt(nil); !strings.HasSuffix(got, "\n\nToday's date: 2026-03-09\nCurrent working directory: "+w.path("work")) {
		t.Errorf("the prompt ends with %q", got[max(0, len(got)-120):])
	}
}

// Nothing that is there must be opened or listed more often than needed: the
// usual case is that there is nothing.
func BenchmarkLoadNothing(b *testing.B) {
	w := newWorld(b, nil)
	options := w.options()
	options.Trusted = true
	for b.Loop() {
		resource.Load(context.Background(), options)
	}
}

func BenchmarkLoadTwentySkills(b *testing.B) {
	w := newWorld(b, map[string]string{"work/AGENTS.md": "rules"})
	for _, n := range strings.Split("abcdefghijklmnopqrst", "") {
		w.write("agent/skills/"+n+"/SKILL.md", skill(n))
		w.write("agent/prompts/"+n+".md", "---\ndescription: x\n---\nbody $1")
	}
	options := w.options()
	for b.Loop() {
		if set, _ := resource.Load(context.Background(), options); len(set.Commands()) != 40 {
			b.Fatal("not all are there")
		}
	}
}
