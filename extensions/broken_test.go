package extensions_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/extensions"
)

// folder makes an extension of a manifest.
func folder(t testing.TB, name string, manifest map[string]any) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	mkdir(t, dir)
	encoded, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, extensions.ManifestName), string(encoded), 0o644)
	return dir
}

func write(t testing.TB, path, text string, mode os.FileMode) string {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// otherArchitecture makes a copy of a program whose header says that it is for
// another processor.
func otherArchitecture(t testing.TB) string {
	t.Helper()
	program, err := os.ReadFile(fixture("broken"))
	if err != nil {
		t.Fatal(err)
	}
	const machine, s390 = 18, 22 // of the ELF header
	program[machine], program[machine+1] = s390, 0
	return write(t, filepath.Join(t.TempDir(), "foreign"), string(program), 0o755)
}

func TestEveryBrokenProgramGetsItsSentence(t *testing.T) {
	broken := func(way string) func(t *testing.T) string {
		return func(t *testing.T) string {
			return folder(t, "ext", map[string]any{"command": []string{fixture("broken"), way}})
		}
	}
	silent := func(way string) func(t *testing.T) string {
		return func(t *testing.T) string {
			return folder(t, "ext", map[string]any{"command": []string{fixture("broken"), way}, "deadlines": map[string]string{"start": "300ms"}})
		}
	}
	actor := func(env ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			return folder(t, "ext", map[string]any{"command": []string{fixture("actor")}, "env": env})
		}
	}
	for name, test := range map[string]struct {
		make func(t *testing.T) string
		want []string
	}{
		"exits":           {broken("exit"), []string{"exited with code 3", "the configuration is missing"}},
		"exits silently":  {broken("exit-silently"), []string{"exited with code 0", "it printed nothing", "sdk.Main"}},
		"prints":          {broken("print-and-exit"), []string{"exited with code 0", `"usage: broken [flags]", which is no handshake`}},
		"panics":          {broken("panic"), []string{"panicked before it answered", "no luck today"}},
		"panics in init":  {actor("EARLY_PANIC=1"), []string{"panicked before it answered", "no luck in init"}},
		"never answers":   {silent("never-answer"), []string{"did not answer within 300ms", "before the handshake"}},
		"never ends":      {silent("never-answer-nor-end"), []string{"did not answer within 300ms", "before the handshake"}},
		"closes stdout":   {broken("close-stdout"), []string{"closed its standard output without an answer"}},
		"older":           {broken("older"), []string{"built for an older pi", "build it with the sdk"}},
		"newer":           {broken("newer"), []string{"built for a newer pi", "update pi"}},
		"no gRPC":         {broken("netrpc"), []string{"does not speak gRPC"}},
		"nobody listens":  {broken("nobody-listens"), []string{"no such file"}},
		"floods":          {broken("flood"), []string{"exited with code 4"}},
		"register panics": {actor("REGISTER_PANIC=1"), []string{"the registration panicked: no luck in register"}},
		"register dies":   {actor("REGISTER_DIE=1"), []string{"exited with code 9", "dying in register", "phase register"}},
		"other processor": {func(t *testing.T) string { return otherArchitecture(t) }, []string{"is no program for this system", "built for another"}},
		"not executable": {func(t *testing.T) string {
			return write(t, filepath.Join(t.TempDir(), "notes.txt"), "hello", 0o644)
		}, []string{"may not be executed", "chmod +x"}},
		"command not executable": {func(t *testing.T) string {
			dir := folder(t, "ext", map[string]any{"command": []string{"./run"}})
			write(t, filepath.Join(dir, "run"), "hello", 0o644)
			return dir
		}, []string{"may not be executed", "chmod +x"}},
		"no interpreter": {func(t *testing.T) string {
			return write(t, filepath.Join(t.TempDir(), "script"), "#!/no/such/python\n", 0o755)
		}, []string{"needs the interpreter /no/such/python"}},
		"no format": {func(t *testing.T) string {
			return write(t, filepath.Join(t.TempDir(), "script"), "print('hello')\n", 0o755)
		}, []string{"is no program for this system", "names its interpreter"}},
		"missing": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "gone") }, []string{"no such file"}},
		"missing command": {func(t *testing.T) string {
			return folder(t, "ext", map[string]any{"command": []string{"no-such-command-here"}})
		}, []string{"neither in the folder nor installed"}},
		"TypeScript": {func(t *testing.T) string {
			return write(t, filepath.Join(t.TempDir(), "x.ts"), "export default 1", 0o644)
		}, []string{"TypeScript or JavaScript", "@earendil-works/pi-coding-agent"}},
		"TypeScript folder": {func(t *testing.T) string {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "index.ts"), "export default 1", 0o644)
			return dir
		}, []string{"TypeScript or JavaScript"}},
		"empty folder":   {func(t *testing.T) string { return t.TempDir() }, []string{"neither an extension.json nor a Go main package"}},
		"bad manifest":   {func(t *testing.T) string { return folder(t, "ext", map[string]any{"comand": "x"}) }, []string{"extension.json", `unknown field "comand"`}},
		"bad capability": {func(t *testing.T) string { return folder(t, "ext", map[string]any{"capabilities": []string{"fly"}}) }, []string{`"fly"`, "session.read"}},
		"bad deadline": {func(t *testing.T) string {
			return folder(t, "ext", map[string]any{"deadlines": map[string]string{"lunch": "1s"}})
		}, []string{`"lunch"`}},
		"bad duration": {func(t *testing.T) string {
			return folder(t, "ext", map[string]any{"deadlines": map[string]any{"start": 5}})
		}, []string{`"90s"`}},
		"does not compile": {func(t *testing.T) string { return goFolder(t, "package main\n\nfunc main() { undefined() }\n") }, []string{"does not build", "undefined: undefined", "main.go:3"}},
		"no module": {func(t *testing.T) string {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "main.go"), "package main\n\nimport _ \"github.com/seed-54e836f5/pi/sdk\"\n\nfunc main() {}\n", 0o644)
			return dir
		}, []string{"does not build", "go mod init extension && go get ."}},
		"no module in a repository": {func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), ".pi", "extensions", "mine")
			write(t, filepath.Join(dir, "../../../.git/config"), "", 0o644)
			write(t, filepath.Join(dir, "main.go"), "package main\n\nfunc main() {}\n", 0o644)
			return dir
		}, []string{"does not build", "go mod init extension && go get ."}},
		"a requirement is missing": {func(t *testing.T) string {
			return goFolder(t, "package main\n\nimport _ \"example.com/other\"\n\nfunc main() {}\n")
		}, []string{"does not build", "run: go get ."}},
		"a replacement of another machine": {func(t *testing.T) string {
			dir := goFolder(t, "package main\n\nimport _ \"example.com/other\"\n\nfunc main() {}\n")
			write(t, filepath.Join(dir, "go.mod"), "module extension\n\ngo 1.26\n\nrequire example.com/other v1.0.0\n\nreplace example.com/other => "+filepath.ToSlash(filepath.Join(dir, "gone"))+"\n", 0o644)
			return dir
		}, []string{"does not build", "not on this machine", "change that line"}},
		"no main": {func(t *testing.T) string { return goFolder(t, "package other\n") }, []string{"package other", "package main"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := startKit(t, test.make(t))
			e := k.wantError(test.want...)
			if e.Event != "process" || e.ExtensionPath == "" {
				t.Errorf("the error names %q, %q", e.ExtensionPath, e.Event)
			}
			if strings.Contains(e.Error, "recompile") {
				t.Errorf("the error has go-plugin's advice: %s", e.Error)
			}
			if info := k.info(); info.State != extensions.Failed || info.LastError != e.Error {
				t.Errorf("it is described as %+v", info)
			}
		})
	}
}

func goFolder(t testing.TB, source string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/ext\n\ngo 1.26\n", 0o644)
	write(t, filepath.Join(dir, "main.go"), source, 0o644)
	return dir
}

func TestABrokenExtensionDoesNotStopTheOthers(t *testing.T) {
	k := newKit(t, func(o *extensions.Options) {
		o.Paths = []string{
			folder(t, "silent", map[string]any{"command": []string{fixture("broken"), "never-answer"}, "deadlines": map[string]string{"start": "2s"}}),
			fixture("hello"),
		}
	})
	started := time.Now()
	k.host.Start(k.session)
	k.events.wait(t, func(e event.Event) bool { _, ok := e.(*event.ExtensionError); return ok }, "the error")
	waited := time.Since(started)
	for _, info := range k.host.Infos() {
		if info.Name == "hello" && info.State != extensions.Running {
			t.Errorf("hello is %s after %s", info.State, waited)
		}
	}
	wait(t, k.host.Ready(), "the extensions")
}

func TestNoiseBeforeTheHandshakeIsTolerated(t *testing.T) {
	k := startKit(t, folder(t, "ext", map[string]any{"command": []string{fixture("actor")}, "env": []string{"EARLY=debug: I am alive"}}))
	if info := k.info(); info.State != extensions.Running {
		t.Fatalf("it is %+v", info)
	}
	if log := k.log.String(); !strings.Contains(log, "debug: I am alive") {
		t.Errorf("the noise is not in the log:\n%s", log)
	}
}
