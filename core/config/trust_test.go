package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/config"
)

// trustPlace is a home with an agent folder and a project in it.
func trustPlace(t *testing.T) (paths config.Paths, trust *config.Trust) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	paths = config.Paths{Home: dir, AgentDir: filepath.Join(dir, ".pi", "agent"), Cwd: filepath.Join(dir, "src", "project")}
	for _, folder := range []string{paths.AgentDir, filepath.Join(paths.Cwd, ".git")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return paths, config.NewTrust(paths)
}

func TestDecide(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name      string
		saved     *bool
		flags     config.TrustFlags
		setting   string
		trusted   bool
		undecided bool
		reason    string
	}{
		{"nobody decided", nil, config.TrustFlags{}, "ask", false, true, "pi trust"},
		{"setting missing", nil, config.TrustFlags{}, "", false, true, "--approve"},
		{"always", nil, config.TrustFlags{}, "always", true, false, "defaultProjectTrust"},
		{"never", nil, config.TrustFlags{}, "never", false, false, "defaultProjectTrust"},
		{"approve", nil, config.TrustFlags{Approve: true}, "never", true, false, "--approve"},
		{"no-approve", &yes, config.TrustFlags{NoApprove: true}, "always", false, false, "--no-approve"},
		{"both flags", &yes, config.TrustFlags{Approve: true, NoApprove: true}, "always", false, false, "--no-approve"},
		{"saved yes", &yes, config.TrustFlags{}, "never", true, false, "is trusted"},
		{"saved no", &no, config.TrustFlags{}, "always", false, false, "declined"},
		{"approve over saved no", &no, config.TrustFlags{Approve: true}, "ask", true, false, "--approve"},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths, trust := trustPlace(t)
			write(t, filepath.Join(paths.Cwd, ".pi", "extensions", "x"), "code")
			if c.saved != nil {
				if err := trust.Save(paths.Cwd, *c.saved); err != nil {
					t.Fatal(err)
				}
			}
			d := trust.Decide(paths.Cwd, c.flags, c.setting)
			if d.Trusted != c.trusted || d.Undecided != c.undecided || !d.Needed || !strings.Contains(d.Reason, c.reason) {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestWhatNeedsTrust(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  []string
	}{
		{nil, nil},
		{[]string{"AGENTS.md", "CLAUDE.md", ".pi/other.txt"}, nil},
		{[]string{".pi/settings.json"}, []string{".pi/settings.json"}},
		{[]string{".pi/prompts/a.md", ".pi/SYSTEM.md"}, []string{".pi/prompts", ".pi/SYSTEM.md"}},
		{[]string{".pi/agent/prompts/a.md"}, []string{".pi/agent/prompts"}},
		{[]string{".agents/skills/a/SKILL.md"}, []string{".agents/skills"}},
		{[]string{"sub/.agents/skills/a/SKILL.md"}, nil},
	} {
		paths, trust := trustPlace(t)
		for _, file := range c.files {
			write(t, filepath.Join(paths.Cwd, file), "x")
		}
		d := trust.Decide(paths.Cwd, config.TrustFlags{}, "ask")
		if !slices.Equal(d.Found, c.want) || d.Needed != (c.want != nil) {
			t.Errorf("%v: found %v", c.files, d.Found)
		}
		// In a folder of the repository, what stands above counts too.
		sub := filepath.Join(paths.Cwd, "sub")
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		above := slices.Contains(c.want, ".agents/skills")
		if d := trust.Decide(sub, config.TrustFlags{}, "ask"); above != slices.Contains(d.Found, filepath.Join("..", ".agents", "skills")) {
			t.Errorf("%v: found from below %v", c.files, d.Found)
		}
	}
}

// The user's own folders are no project's, also for an agent that is started
// in the home folder or below it outside any repository.
func TestTheUsersOwnFoldersNeedNoTrust(t *testing.T) {
	paths, trust := trustPlace(t)
	write(t, filepath.Join(paths.AgentDir, "extensions", "mine"), "x")
	write(t, filepath.Join(paths.AgentDir, "prompts", "mine.md"), "x")
	write(t, filepath.Join(paths.Home, ".agents", "skills", "mine", "SKILL.md"), "x")
	loose := filepath.Join(paths.Home, "loose")
	if err := os.MkdirAll(loose, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{paths.Home, loose} {
		if d := trust.Decide(dir, config.TrustFlags{}, "ask"); d.Needed {
			t.Errorf("%s: found %v", dir, d.Found)
		}
	}
}

func TestTrustIsInherited(t *testing.T) {
	paths, trust := trustPlace(t)
	parent := filepath.Dir(paths.Cwd)
	child := filepath.Join(paths.Cwd, "deep", "er")
	write(t, filepath.Join(child, ".pi", "settings.json"), "{}")
	check := func(want bool) {
		t.Helper()
		if d := trust.Decide(child, config.TrustFlags{}, "ask"); d.Trusted != want {
			t.Errorf("%+v", d)
		}
	}
	check(false)
	for _, step := range []struct {
		dir  string
		save bool
		want bool
	}{{parent, true, true}, {paths.Cwd, false, false}, {child, true, true}} {
		if err := trust.Save(step.dir, step.save); err != nil {
			t.Fatal(err)
		}
		check(step.want)
	}
	// A name that only begins alike is no child.
	if d := trust.Decide(parent+"-evil", config.TrustFlags{}, "ask"); d.Trusted {
		t.Errorf("%+v", d)
	}
	// What is below a trusted folder may change.
	if _, err := trust.Revoke(child); err != nil {
		t.Fatal(err)
	}
	if err := trust.Save(paths.Cwd, true); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(child, ".pi", "settings.json"), `{"shellPath": "x"}`)
	check(true)
}

func TestAChangeAsksAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		asks   bool
	}{
		{"nothing", func(*testing.T, string) {}, false},
		{"prompt edited", func(t *testing.T, dir string) { write(t, at(dir, ".pi/prompts/a.md"), "new") }, false},
		{"skill added", func(t *testing.T, dir string) { write(t, at(dir, ".agents/skills/s/SKILL.md"), "new") }, false},
		{"source edited", func(t *testing.T, dir string) { write(t, at(dir, "main.go"), "new") }, false},
		{"extension edited", func(t *testing.T, dir string) { write(t, at(dir, ".pi/extensions/x/main.go"), "evil") }, true},
		{"extension added", func(t *testing.T, dir string) { write(t, at(dir, ".pi/extensions/y"), "evil") }, true},
		{"extension of the other place", func(t *testing.T, dir string) { write(t, at(dir, ".pi/agent/extensions/y"), "evil") }, true},
		{"extension removed", func(t *testing.T, dir string) { remove(t, at(dir, ".pi/extensions/x/main.go")) }, true},
		{"extension renamed", func(t *testing.T, dir string) {
			if err := os.Rename(at(dir, ".pi/extensions/x/main.go"), at(dir, ".pi/extensions/x/other.go")); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"made executable", func(t *testing.T, dir string) {
			if err := os.Chmod(at(dir, ".pi/extensions/x/main.go"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"link turned", func(t *testing.T, dir string) {
			link := at(dir, ".pi/extensions/link")
			remove(t, link)
			if err := os.Symlink("/bin/false", link); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"what a link in the project leads to", func(t *testing.T, dir string) { write(t, at(dir, "scripts/linked/run"), "evil") }, true},
		{"settings edited", func(t *testing.T, dir string) {
			write(t, at(dir, ".pi/settings.json"), `{"shellPath": "./evil"}`)
		}, true},
		{"extension that the settings name", func(t *testing.T, dir string) { write(t, at(dir, "tools/ext/main.go"), "evil") }, true},
		{"lock file of packages", func(t *testing.T, dir string) { write(t, at(dir, ".pi/packages.lock.json"), "{}") }, true},
		{"history of a submodule", func(t *testing.T, dir string) { write(t, at(dir, ".pi/extensions/x/.git/HEAD"), "ref") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths, trust := trustPlace(t)
			write(t, at(paths.Cwd, ".pi/extensions/x/main.go"), "good")
			write(t, at(paths.Cwd, ".pi/prompts/a.md"), "old")
			write(t, at(paths.Cwd, "tools/ext/main.go"), "good")
			write(t, at(paths.Cwd, ".pi/settings.json"), `{"extensions": ["../tools/e*", "/abs", "~/x", "["]}`)
			write(t, at(paths.Cwd, "scripts/linked/run"), "good")
			for link, target := range map[string]string{
				".pi/extensions/link": "/bin/true", ".pi/extensions/linked": "../../scripts/linked",
				".pi/extensions/nowhere": "none", "scripts/linked/loop": "../linked",
			} {
				if err := os.Symlink(target, at(paths.Cwd, link)); err != nil {
					t.Fatal(err)
				}
			}
			if err := trust.Save(paths.Cwd, true); err != nil {
				t.Fatal(err)
			}
			c.change(t, paths.Cwd)
			d := trust.Decide(paths.Cwd, config.TrustFlags{}, "always")
			if d.Trusted == c.asks || d.Undecided != c.asks || c.asks && !strings.Contains(d.Reason, "have changed") {
				t.Errorf("%+v", d)
			}
			if err := trust.Save(paths.Cwd, true); err != nil {
				t.Fatal(err)
			}
			if d := trust.Decide(paths.Cwd, config.TrustFlags{}, "ask"); !d.Trusted {
				t.Errorf("trusted again: %+v", d)
			}
		})
	}
}

// What a Go extension imports from the repository is part of it.
func TestAChangeOfAnImportedPackageAsksAgain(t *testing.T) {
	for changed, asks := range map[string]bool{
		"lib/lib.go": true, "lib/asm.s": true, "lib/new.go": true, "deep/deep.go": true, "go.mod": true,
		"vendor/example.org/v/v.go": true, "replaced/sub/r.go": true, "block/b.go": true,
		"lib/lib_test.go": false, "lib/README.md": false, "other/other.go": false, "main.go": false, "replaced/r.go": false,
	} {
		t.Run(changed, func(t *testing.T) {
			paths, trust := trustPlace(t)
			for name, content := range map[string]string{
				"go.mod":                    "module example.org/app // ours\nreplace example.org/r v1.0.0 => ./replaced\nreplace (\n\t\"example.org/b\" => ./block\n)\n",
				".pi/extensions/x/main.go":  `package main; import (_ "example.org/app/lib"; _ "example.org/v"; _ "example.org/r/sub"; _ "example.org/b"; _ "fmt"; _ "example.org/app/none")`,
				"lib/lib.go":                `package lib; import _ "example.org/app/deep"`,
				"deep/deep.go":              `package deep; import _ "example.org/app/lib"`,
				"vendor/example.org/v/v.go": "package v",
				"replaced/sub/r.go":         "package r",
				"replaced/r.go":             "package r",
				"block/b.go":                "package b",
				"lib/asm.s":                 "",
				"other/other.go":            "package other",
				"main.go":                   "package main",
			} {
				write(t, at(paths.Cwd, name), content)
			}
			if err := trust.Save(paths.Cwd, true); err != nil {
				t.Fatal(err)
			}
			if d := trust.Decide(paths.Cwd, config.TrustFlags{}, "ask"); !d.Trusted {
				t.Fatalf("unchanged: %+v", d)
			}
			write(t, at(paths.Cwd, changed), "package evil")
			if d := trust.Decide(paths.Cwd, config.TrustFlags{}, "ask"); d.Trusted == asks || d.Undecided != asks {
				t.Errorf("%+v", d)
			}
		})
	}
}

// What is built into an extension may lie anywhere.
func TestAChangeOfWhatIsBuiltInAsksAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string // below the folder of the project, and beside it
		changed string
		asks    bool
	}{
		{"a module replaced for the module that replaces it", map[string]string{
			".pi/extensions/x/main.go": `package main; import _ "example.org/a"`,
			".pi/extensions/x/go.mod":  "module x\nreplace example.org/a => ../../../a\nreplace example.org/b => ../../../b",
			"a/a.go":                   `package a; import _ "example.org/b"`, "a/go.mod": "module example.org/a",
			"b/b.go": "package b", "b/go.mod": "module example.org/b",
		}, "b/b.go", true},
		{"an absolute path", map[string]string{
			".pi/extensions/x/main.go": `package main; import _ "example.org/a"`,
			".pi/extensions/x/go.mod":  "module x\nreplace example.org/a => DIR/a",
			"a/a.go":                   "package a",
		}, "a/a.go", true},
		{"a module outside of the project", map[string]string{
			".pi/extensions/x/main.go": `package main; import _ "example.org/a/sub"`,
			".pi/extensions/x/go.mod":  "module x\nreplace example.org/a => ../../../../beside",
			"../beside/sub/a.go":       "package a",
		}, "../beside/sub/a.go", true},
		{"a module outside, but none of its packages", map[string]string{
			".pi/extensions/x/main.go": `package main; import _ "example.org/a/sub"`,
			".pi/extensions/x/go.mod":  "module x\nreplace example.org/a => ../../../../beside",
			"../beside/other/a.go":     "package a",
		}, "../beside/other/a.go", false},
		{"a go.mod above the project", map[string]string{
			".pi/extensions/x/main.go": `package main; import _ "above/project/lib"`,
			"../go.mod":                "module above", "lib/lib.go": "package lib",
		}, "lib/lib.go", true},
		{"an embedded file", map[string]string{
			".pi/extensions/x/main.go": `package main; import _ "app/lib"`, "go.mod": "module app",
			"lib/lib.go": "package lib\n\nimport _ \"embed\"\n\n//go:embed data\nvar data string", "lib/data/rules.txt": "rule",
		}, "lib/data/rules.txt", true},
		{"C code anywhere", map[string]string{
			".pi/extensions/x/main.go": "package main\n\n// #include \"../../../c/c.h\"\nimport \"C\"",
			"c/c.h":                    "int f();",
		}, "c/c.h", true},
		{"assembler that includes something", map[string]string{
			".pi/extensions/x/main.go": `package main; import _ "app/lib"`, "go.mod": "module app",
			"lib/lib.go": "package lib", "lib/asm.s": "#include \"../c/c.h\"", "c/c.h": "",
		}, "c/c.h", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths, trust := trustPlace(t)
			dir := filepath.Join(paths.Cwd, "project")
			for name, content := range c.files {
				write(t, at(dir, name), strings.ReplaceAll(content, "DIR", filepath.ToSlash(dir)))
			}
			if err := trust.Save(dir, true); err != nil {
				t.Fatal(err)
			}
			if d := trust.Decide(dir, config.TrustFlags{}, "ask"); !d.Trusted {
				t.Fatalf("unchanged: %+v", d)
			}
			write(t, at(dir, c.changed), "package evil")
			if d := trust.Decide(dir, config.TrustFlags{}, "ask"); d.Trusted == c.asks || d.Undecided != c.asks {
				t.Errorf("%+v", d)
			}
		})
	}
}

// at gives a file of a folder; its name is written with slashes.
func at(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// The reference agents share the agent folder and refuse to start when
// trust.json has anything but true, false and null in it.
func TestTrustFileIsTheReferences(t *testing.T) {
	paths, trust := trustPlace(t)
	write(t, paths.TrustFile(), fmt.Sprintf("{\n  %q: true,\n  \"/gone\": null\n}\n", paths.Cwd))
	write(t, filepath.Join(paths.Cwd, ".pi", "extensions", "x"), "code")
	if d := trust.Decide(paths.Cwd, config.TrustFlags{}, "ask"); !d.Trusted {
		t.Errorf("a decision of the reference: %+v", d)
	}
	if d := trust.Decide("/gone", config.TrustFlags{}, "ask"); !d.Undecided {
		t.Errorf("null: %+v", d)
	}
	if err := trust.Save("/other", false); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, paths.TrustFile()), fmt.Sprintf("{\n  %q: true,\n  \"/gone\": null,\n  \"/other\": false\n}\n", paths.Cwd); got != want {
		t.Errorf("the file is %s", got)
	}
}

func TestTrustListAndRevoke(t *testing.T) {
	paths, trust := trustPlace(t)
	link := filepath.Join(paths.Home, "link")
	if err := os.Symlink(paths.Cwd, link); err != nil {
		t.Fatal(err)
	}
	if list, err := trust.List(); err != nil || list != nil {
		t.Errorf("at first: %v, %v", list, err)
	}
	if err := trust.Save(link, true); err != nil { // saved for what it links to
		t.Fatal(err)
	}
	if err := trust.Save("/a", false); err != nil {
		t.Fatal(err)
	}
	list, err := trust.List()
	if err != nil || len(list) != 2 || list[0] != (config.TrustEntry{Dir: "/a"}) || list[1].Dir != paths.Cwd || !list[1].Trusted || !strings.HasPrefix(list[1].Digest, "sha256:") {
		t.Errorf("%+v, %v", list, err)
	}
	if done, err := trust.Revoke(filepath.Dir(paths.Cwd)); done || err != nil {
		t.Errorf("revoked what was not saved: %v, %v", done, err)
	}
	if done, err := trust.Revoke(paths.Cwd); !done || err != nil {
		t.Errorf("revoke: %v, %v", done, err)
	}
	if d := trust.Decide(paths.Cwd, config.TrustFlags{}, "ask"); !d.Undecided {
		t.Errorf("after revoke: %+v", d)
	}
	if strings.Contains(read(t, filepath.Join(paths.AgentDir, "trust-digests.json")), paths.Cwd) {
		t.Error("the digest was left behind")
	}
}

func TestBrokenTrustFile(t *testing.T) {
	for _, content := range []string{"{broken", `["/"]`, `{"/": "yes"}`} {
		paths, trust := trustPlace(t)
		write(t, filepath.Join(paths.Cwd, ".pi", "extensions", "x"), "code")
		write(t, paths.TrustFile(), content)
		d := trust.Decide(paths.Cwd, config.TrustFlags{}, "always")
		if d.Trusted || !d.Undecided || !strings.Contains(d.Reason, paths.TrustFile()) {
			t.Errorf("%s: %+v", content, d)
		}
		if d := trust.Decide(paths.Cwd, config.TrustFlags{Approve: true}, "ask"); !d.Trusted {
			t.Errorf("%s: --approve: %+v", content, d)
		}
		_, listErr := trust.List()
		_, revokeErr := trust.Revoke(paths.Cwd)
		for what, err := range map[string]error{"list": listErr, "revoke": revokeErr, "save": trust.Save(paths.Cwd, true)} {
			if !errors.Is(err, config.ErrUnreadable) {
				t.Errorf("%s: %s: %v", content, what, err)
			}
		}
		if got := read(t, paths.TrustFile()); got != content {
			t.Errorf("the file was changed to %q", got)
		}
	}
}
