package extensions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/extensions"
)

// sdkModule makes a Go folder that uses the sdk of this repository.
func sdkModule(t testing.TB, source string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/seed-54e836f5/pi"
	_, requires, _ := strings.Cut(string(mod), "\n")
	dir := filepath.Join(t.TempDir(), "greeter")
	write(t, filepath.Join(dir, "go.mod"), "module example.com/greeter\n"+requires+"\nrequire "+module+" v0.0.0\nreplace "+module+" => "+root+"\n", 0o644)
	write(t, filepath.Join(dir, "go.sum"), string(sum), 0o644)
	write(t, filepath.Join(dir, "main.go"), source, 0o644)
	return dir
}

const greeter = `package main

import "github.com/seed-54e836f5/pi/sdk"

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Info("greeter", "1")
		x.Command(sdk.Command{Name: "greet", Run: func(ctx *sdk.CommandContext, args string) error {
			return ctx.UI.Notify("Hello " + args, sdk.Info)
		}})
	})
}
`

// TestGoSourceIsBuiltAndCached edits the source of an extension and reloads.
func TestGoSourceIsBuiltAndCached(t *testing.T) {
	dir := sdkModule(t, greeter)
	k := startKit(t, dir)
	k.command("/greet you")
	k.person.waitNotice(t, "Hello you")

	write(t, filepath.Join(dir, "main.go"), strings.Replace(greeter, "Hello ", "Howdy ", 1), 0o644)
	if err := k.host.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.command("/greet you")
	k.person.waitNotice(t, "Howdy you")

	write(t, filepath.Join(dir, "main.go"), greeter+"oops\n", 0o644)
	if err := k.host.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.wantError("does not build", "main.go:13")
	k.command("/greet you")
	k.person.waitNotice(t, "Howdy you")

	// What was built before needs no compiler.
	write(t, filepath.Join(dir, "main.go"), strings.Replace(greeter, "Hello ", "Howdy ", 1), 0o644)
	t.Setenv("PATH", "/nowhere")
	if err := k.host.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.command("/greet me")
	k.person.waitNotice(t, "Howdy me")
}

func TestOneExtensionByTwoNamesIsLoadedOnce(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(fixture("hello"), link); err != nil {
		t.Fatal(err)
	}
	k := startKit(t, fixture("hello"), link)
	if infos := k.host.Infos(); len(infos) != 1 {
		t.Errorf("there are %+v", infos)
	}
}

func TestPathsWithSpaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder with spaces", "my hello")
	copyFile(t, fixture("hello"), path)
	k := startKit(t, path)
	if info := k.info(); info.State != extensions.Running {
		t.Errorf("it is %+v", info)
	}
}

func TestDisabledLeavesThoseThatAreNamed(t *testing.T) {
	k := newKit(t, func(o *extensions.Options) {
		copyFile(t, fixture("actor"), filepath.Join(o.AgentDir, "extensions", "actor"))
		o.Places = func() []extensions.Place {
			return []extensions.Place{{Path: fixture("actor"), Source: "settings", Scope: "user"}}
		}
		o.Paths, o.Disabled = []string{fixture("hello")}, true
	})
	k.start()
	if info := k.info(); info.Name != "hello" || info.Scope != "temporary" {
		t.Errorf("it is %+v", info)
	}
}

func TestAnExecutableThatRunsCanBeReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hello")
	copyFile(t, fixture("hello"), path)
	k := startKit(t, path)
	copyFile(t, fixture("actor"), path+".new")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if err := k.host.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info := k.info(); info.Name != "actor" {
		t.Errorf("after the reload it is %+v", info)
	}
}

func TestFlags(t *testing.T) {
	k := newKit(t, func(o *extensions.Options) {
		o.Paths = []string{fixture("actor")}
		o.Flags = map[string]string{"actor-flag": "set", "other": "x"}
	})
	k.start()
	k.command("/flag")
	k.person.waitNotice(t, "flag=set")
	if info := k.info(); len(info.Flags) != 1 || info.Flags[0] != "actor-flag" {
		t.Errorf("it is %+v", info)
	}
}

func TestTheBusReachesOtherExtensions(t *testing.T) {
	named := func(name string) string {
		return folder(t, name, map[string]any{"name": name, "command": []string{fixture("actor")}, "env": []string{"NAME=" + name}})
	}
	k := startKit(t, named("one"), named("two"))
	k.command("/publish:2 hello")
	k.person.waitNotice(t, "one got hello from two")
	k.person.waitNotice(t, "two got hello from two")
}

func TestRapidWriteAndStart(t *testing.T) {
	var paths []string
	for range 20 {
		path := filepath.Join(t.TempDir(), "hello")
		copyFile(t, fixture("hello"), path)
		paths = append(paths, path)
	}
	started := time.Now()
	k := startKit(t, paths...)
	for _, info := range k.host.Infos() {
		if info.State != extensions.Running {
			t.Errorf("%+v", info)
		}
	}
	t.Logf("20 extensions were up after %s", time.Since(started))
}

// TestWorkspacesAreForOnesOwnExtensions puts a go.work above an extension, which
// takes a package of the extension's from elsewhere: what a project has somebody
// trusted without.
func TestWorkspacesAreForOnesOwnExtensions(t *testing.T) {
	for scope, want := range map[string]string{"user": "theirs", "project": "ours"} {
		t.Run(scope, func(t *testing.T) {
			dir := sdkModule(t, strings.Replace(strings.Replace(greeter, "Hello ", "\"+word.Word+\" ", 1), "import ", "import \"example.org/word\"\n\nimport ", 1))
			for folder, word := range map[string]string{"ours": "ours", "theirs": "theirs"} {
				write(t, filepath.Join(dir, folder, "word.go"), "package word\n\nconst Word = \""+word+"\"\n", 0o644)
				write(t, filepath.Join(dir, folder, "go.mod"), "module example.org/word\n\ngo 1.26\n", 0o644)
			}
			mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "go.mod"), string(mod)+"\nrequire example.org/word v0.0.0\nreplace example.org/word => ./ours\n", 0o644)
			_, version, _ := strings.Cut(string(mod), "\ngo ")
			version, _, _ = strings.Cut(version, "\n")
			write(t, filepath.Join(dir, "go.work"), "go "+version+"\n\nuse .\n\nreplace example.org/word => ./theirs\n", 0o644)
			k := newKit(t, func(o *extensions.Options) {
				o.Places = func() []extensions.Place { return []extensions.Place{{Path: dir, Source: "settings", Scope: scope}} }
			})
			k.start()
			k.command("/greet you")
			k.person.waitNotice(t, want+" you")
		})
	}
}
