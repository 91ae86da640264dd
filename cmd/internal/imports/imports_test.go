package imports

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed-54e836f5/pi/"

// borders may not be crossed, not even through other packages.
var borders = []struct {
	from  string
	never []string
	why   string
}{
	{"core/...", []string{"rpcmode/...", "extensions/...", "proto/...", "sdk/...", "cmd/..."}, "the core knows neither its clients nor its extensions"},
	{"rpcmode/...", []string{"extensions/...", "proto/...", "sdk/...", "cmd/..."}, "the wire knows nothing of plugins"},
	{"rpcmode/client/...", []string{"core/session", "core/agent", "core/store"}, "a client does not link the agent"},
	{"extensions/...", []string{"rpcmode/...", "sdk/...", "cmd/..."}, "plugins know nothing of the wire"},
	{"sdk/...", []string{"core/session", "core/agent", "core/store", "core/config", "extensions/...", "rpcmode/...", "cmd/..."}, "an author links the contract, not the agent"},
	{"proto/...", []string{"core/session", "core/agent", "extensions/...", "sdk/...", "rpcmode/...", "cmd/..."}, "both sides import it"},
	{"core/store", []string{"core/session", "core/agent", "core/config", "core/provider"}, "files know nothing of runs"},
	{"core/provider/*", []string{"core/session", "core/agent", "core/store"}, "an adapter knows its vendor and the conversation"},
	{"core/tool/...", []string{"core/session", "core/agent", "core/store", "core/provider/..."}, "a tool knows its work"},
	{"core/config", []string{"core/session", "core/agent", "core/provider", "core/resource"}, "settings know nothing of who reads them"},
	{"core/resource", []string{"core/session", "core/agent", "core/config"}, "what is loaded is given to it"},
	{"core/packages", []string{"core/session", "core/agent", "core/resource"}, "packages know nothing of who loads them"},
	{"cmd/pi", []string{"sdk/...", "cmd/internal/..."}, "an extension is another process, and tests are no product"},
	{"cmd/internal/replay/...", []string{"core/...", "rpcmode/...", "extensions/...", "sdk/..."}, "an agent is a command to it"},
	{"cmd/internal/modelserver", []string{"core/...", "rpcmode/...", "extensions/...", "sdk/..."}, "the agent meets it as it meets a vendor"},
	{"examples/clients/...", []string{"core/session", "extensions/...", "sdk/...", "cmd/..."}, "a client speaks the wire"},
}

// narrow packages may import the standard library, what their row lists, and
// nothing else; tests may import more.
var narrow = []struct {
	packages string
	only     []string
}{
	{"core/message", nil},
	{"core/event", []string{"core/message"}},
	{"core/hook", []string{"core/event", "core/message"}},
	{"core/ui", nil},
	{"core/limit", nil},
	{"core/readfile", nil},
	{"core/todo", nil},
	{"core/rule", []string{"core/event", "github.com/bmatcuk/doublestar/..."}},
	{"core/proc", []string{"core/limit", "golang.org/x/..."}},
	{"core/store", []string{"core/message", "github.com/gofrs/flock", "github.com/google/uuid"}},
	{"core/compact", []string{"core/message", "core/store", "core/provider"}},
	{"core/agent", []string{"core/event", "core/message", "core/provider", "core/tool"}},
	{"core/provider", []string{"core/message"}},
	{"core/tool", []string{"core/message", "github.com/google/jsonschema-go/..."}},
	{"rpcmode/jsonl", nil},
	{"rpcmode/wire", []string{"core/message", "core/todo"}},
	{"examples/extensions/...", []string{"sdk", "sdk/sdktest"}},
	{"cmd/internal/modelserver", nil},
	{"cmd/internal/replay", []string{"cmd/internal/modelserver", "github.com/evanphx/json-patch/..."}},
}

// homes are the only packages that may import a library.
var homes = []struct {
	library string
	in      []string
}{
	{"github.com/anthropics/anthropic-sdk-go/...", []string{"core/provider/anthropic"}},
	{"github.com/openai/openai-go/...", []string{"core/provider/openai"}},
	{"charm.land/catwalk/...", []string{"core/config/..."}},
	{"github.com/hashicorp/go-plugin/...", []string{"extensions/...", "sdk/..."}},
	{"google.golang.org/grpc/...", []string{"extensions/...", "proto/...", "sdk/..."}},
	{"google.golang.org/protobuf/...", []string{"extensions/...", "proto/...", "sdk/..."}},
	{"github.com/spf13/cobra/...", []string{"cmd/..."}},
	{"github.com/yuin/goldmark/...", []string{"core/export"}},
	{"github.com/alecthomas/chroma/...", []string{"core/export/..."}},
	{"github.com/go-git/...", []string{"core/tool/...", "core/resource"}},
	{"github.com/aymanbagabas/go-udiff/...", []string{"core/tool/...", "core/export"}},
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string
	Deps       []string
	GoFiles    []string
}

// repository holds the packages of this module, by path below it, and which
// import paths belong to the standard library.
type repository struct {
	packages map[string]listed
	standard map[string]bool
}

func list(t *testing.T) repository {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Imports,Deps,GoFiles", module+"...")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	repo := repository{packages: map[string]listed{}, standard: map[string]bool{"C": true}}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return repo
		} else if err != nil {
			t.Fatal(err)
		}
		repo.standard[p.ImportPath] = p.Standard
		if below, ok := strings.CutPrefix(p.ImportPath, module); ok {
			repo.packages[below] = p
		}
	}
}

// fits reports whether a package, by its path below the module or as it is
// imported, is what a pattern means: a path; a path and /... for all at and
// below it; or a path and /* for those one level below it.
func fits(pattern, name string) bool {
	name = strings.TrimPrefix(name, module)
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == base || strings.HasPrefix(name, base+"/")
	}
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		rest, below := strings.CutPrefix(name, base+"/")
		return below && !strings.Contains(rest, "/")
	}
	return name == pattern
}

func fitsAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, name) })
}

func TestBorders(t *testing.T) {
	repo := list(t)
	for _, rule := range borders {
		for name, p := range repo.packages {
			if !fits(rule.from, name) {
				continue
			}
			for _, dep := range p.Deps {
				// A package may sit inside the border that it must not cross.
				if fitsAny(rule.never, dep) && !fits(rule.from, dep) {
					t.Errorf("%s depends on %s%s: %s", name, strings.TrimPrefix(dep, module), through(repo, p, dep), rule.why)
				}
			}
		}
	}
}

// through names the import that leads from a package to one it depends on.
func through(repo repository, p listed, dep string) string {
	if slices.Contains(p.Imports, dep) {
		return ""
	}
	for _, direct := range p.Imports {
		if slices.Contains(repo.packages[strings.TrimPrefix(direct, module)].Deps, dep) {
			return ", through " + strings.TrimPrefix(direct, module)
		}
	}
	return ", through another module"
}

func TestNarrowPackages(t *testing.T) {
	repo := list(t)
	for _, rule := range narrow {
		for name, p := range repo.packages {
			if !fits(rule.packages, name) {
				continue
			}
			for _, imported := range p.Imports {
				if !repo.standard[imported] && !fitsAny(rule.only, imported) && !fits(rule.packages, imported) {
					t.Errorf("%s imports %s; it may import the standard library and %v", name, imported, rule.only)
				}
			}
		}
	}
}

func TestLibrariesHaveHomes(t *testing.T) {
	repo := list(t)
	for _, rule := range homes {
		for name, p := range repo.packages {
			for _, imported := range p.Imports {
				if fits(rule.library, imported) && !fitsAny(rule.in, name) {
					t.Errorf("%s imports %s; only %v may", name, imported, rule.in)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsForAndWhatItImports(t *testing.T) {
	for name, p := range list(t).packages {
		if len(p.GoFiles) == 0 || name == "proto/extensionv1" { // generated: no place for a comment of ours
			continue
		}
		switch doc := comment(t, p); {
		case doc == "":
			t.Errorf("%s has no package comment", name)
		case !strings.Contains(doc, " import") && !fits("examples/...", name): // an author imports the sdk, what else
			t.Errorf("the comment of %s does not say what it imports, or must not", name)
		}
	}
}

// TestTheArchitectureNamesEveryPackage looks for what a newcomer would: each
// package, or the one that it lies in, stands in the table of the page.
func TestTheArchitectureNamesEveryPackage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range list(t).packages {
		if strings.Contains("/"+name+"/", "/internal/") || fitsAny([]string{"cmd/bench", "cmd/modelserver", "examples/..."}, name) {
			continue // what the product is not made of
		}
		parts := strings.Split(name, "/")
		place := parts[0]
		if len(parts) > 1 && (place == "core" || place == "cmd") {
			place += "/" + parts[1]
		}
		if !strings.Contains(string(page), "`"+place+"`") {
			t.Errorf("docs/architecture.md does not name %s", place)
		}
	}
}

// comment gives the whole package comment as one line; go list has its first
// sentence only.
func comment(t *testing.T, p listed) string {
	t.Helper()
	var doc strings.Builder
	for _, file := range p.GoFiles {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		doc.WriteString(parsed.Doc.Text())
	}
	return strings.Join(strings.Fields(doc.String()), " ")
}

func TestFits(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"core/agent", "core/agent", true},
		{"core/agent", "core/agentx", false},
		{"core/...", "core", true},
		{"core/...", "core/tool/read", true},
		{"core/...", "corex", false},
		{"core/provider/*", "core/provider/openai", true},
		{"core/provider/*", "core/provider", false},
		{"core/provider/*", "core/provider/openai/x", false},
		{"sdk/...", module + "sdk", true},
		{"google.golang.org/grpc/...", "google.golang.org/grpc/codes", true},
	} {
		if got := fits(test.pattern, test.name); got != test.want {
			t.Errorf("fits(%q, %q) = %v", test.pattern, test.name, got)
		}
	}
}
