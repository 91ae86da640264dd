package walk_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/tool/internal/walk"
)

// plant makes files; a name that ends in / is a folder.
func plant(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		folder := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			folder = path
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if folder != path {
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func tree(t *testing.T, root, base string) string {
	t.Helper()
	var names []string
	unread, err := walk.Tree(t.Context(), root, base, func(e walk.Entry) (goOn, enter bool) {
		name := e.Rel
		if e.Type.IsDir() {
			name += "/"
		}
		if e.Path != filepath.Join(root, e.Rel) {
			t.Errorf("entry %+v", e)
		}
		names = append(names, name)
		return true, true
	})
	if err != nil || unread != nil {
		t.Errorf("unread %v, %v", unread, err)
	}
	return strings.Join(names, " ")
}

func TestTree(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		root  string // below the folder planted
		want  string
	}{
		{"order and hidden names", map[string]string{"b": "", "a/z": "", "a.x": "", ".h/x": "", "B": ""}, "",
			".h/ .h/x B a/ a/z a.x b"},
		{"no repository", map[string]string{".gitignore": "x\n", "x": "", "y": ""}, "",
			".gitignore y"},
		{"git itself", map[string]string{".git/HEAD": "", ".git/info/exclude": "/mine\n", "mine": "", "sub/mine": "", "worktree/.git": "gitdir: x"}, "",
			"sub/ sub/mine worktree/"},
		{"nested files", map[string]string{".gitignore": "*.log\n/top\n", "a.log": "", "top": "", "s/top": "", "s/b.log": "", "s/.gitignore": "!b.log\nc\n", "s/c": "", "c": ""}, "",
			".gitignore c s/ s/.gitignore s/b.log s/top"},
		{"nothing comes back below an ignored folder", map[string]string{".gitignore": "build/\n!build/keep\n", "build/keep": "", "src/build": ""}, "",
			".gitignore src/ src/build"},
		{"all but one", map[string]string{".gitignore": "out/*\n!out/keep\n", "out/keep": "", "out/x": ""}, "",
			".gitignore out/ out/keep"},
		{".ignore goes before .gitignore", map[string]string{".ignore": "!a.log\nb\n", "s/.gitignore": "*.log\n!b\n", "s/a.log": "", "s/b": ""}, "",
			".ignore s/ s/.gitignore s/a.log"},
		{"comments, blanks, escapes", map[string]string{".gitignore": "# x\n\\#y\n\\!z\nblank \nkept\\ \n  \n\r\ncr\r\n", "# x": "", "#y": "", "!z": "", "blank": "", "kept ": "", "kept": "", "cr": ""}, "",
			"# x .gitignore kept"},
		{"braces are no choice", map[string]string{".gitignore": "{a,b}*\n", "a": "", "{a,b}c": ""}, "",
			".gitignore a"},
		{"stars", map[string]string{".gitignore": "a/**\n**/deep\nx/**/y\n", "a/b/c": "", "p/q/deep": "", "x/y": "", "x/1/2/y": "", "x/z": ""}, "",
			".gitignore a/ p/ p/q/ x/ x/1/ x/1/2/ x/z"},
		{"broken patterns", map[string]string{".gitignore": "[\n!\n/\nb\n", "[": "", "a": "", "b": ""}, "",
			".gitignore [ a"},
		{"byte order mark", map[string]string{".gitignore": "\ufeffa\n", "a": "", "b": ""}, "",
			".gitignore b"},
		{"rules from above the root", map[string]string{".git/HEAD": "", ".gitignore": "*.log\n/s/no\n", "s/a.log": "", "s/b": "", "s/no": ""}, "s",
			"b"},
		{"from above without a repository", map[string]string{".gitignore": "*.log\n", "s/a.log": "", "s/b": ""}, "s",
			"b"},
		{"an ignored folder that was named", map[string]string{".git/HEAD": "", ".gitignore": "node_modules\n*.log\n", "node_modules/m/a": "", "node_modules/b.log": ""}, "node_modules",
			"m/ m/a"},
		{"a repository in a repository", map[string]string{".git/HEAD": "", ".gitignore": "a\n", ".ignore": "b\n", "in/.git/HEAD": "", "in/a": "", "in/b": ""}, "",
			".gitignore .ignore in/ in/a"},
		{"the same, named", map[string]string{".git/HEAD": "", ".gitignore": "a\n", "in/.git/HEAD": "", "in/a": ""}, "in",
			"a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := t.TempDir()
			plant(t, base, c.files)
			if got := tree(t, filepath.Join(base, c.root), base); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// What lies above the folder that work is done in, and in no repository, is
// nobody's business.
func TestTreeStopsAtItsBase(t *testing.T) {
	above := t.TempDir()
	plant(t, above, map[string]string{".gitignore": "*\n", "work/a": "", "work/sub/b": "", "other/c": ""})
	if got := tree(t, filepath.Join(above, "work", "sub"), filepath.Join(above, "work")); got != "b" {
		t.Errorf("below the base: %q", got)
	}
	if got := tree(t, filepath.Join(above, "other"), filepath.Join(above, "work")); got != "c" {
		t.Errorf("beside the base: %q", got)
	}
}

func TestTreeDoesNotFollowLinks(t *testing.T) {
	root := t.TempDir()
	plant(t, root, map[string]string{"a/b": ""})
	for name, to := range map[string]string{"a/loop": "..", "link": "a", "dangling": "none"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := tree(t, root, root), "a/ a/b a/loop dangling link"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTreeStops(t *testing.T) {
	root := t.TempDir()
	plant(t, root, map[string]string{"a/b": "", "a/c": "", "d": ""})
	var seen []string
	if _, err := walk.Tree(t.Context(), root, root, func(e walk.Entry) (goOn, enter bool) {
		seen = append(seen, e.Rel)
		return e.Rel != "a/b", true
	}); err != nil || !slices.Equal(seen, []string{"a", "a/b"}) {
		t.Errorf("saw %v, %v", seen, err)
	}
	seen = nil
	if _, err := walk.Tree(t.Context(), root, root, func(e walk.Entry) (goOn, enter bool) {
		seen = append(seen, e.Rel)
		return true, false
	}); err != nil || !slices.Equal(seen, []string{"a", "d"}) {
		t.Errorf("saw %v, %v", seen, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := walk.Tree(ctx, root, root, func(walk.Entry) (goOn, enter bool) {
		t.Error("visited though it was cancelled")
		return true, true
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestTreeNamesWhatItCouldNotRead(t *testing.T) {
	root := filepath.Join(t.TempDir(), "gone")
	unread, err := walk.Tree(t.Context(), root, root, func(walk.Entry) (goOn, enter bool) { return true, true })
	if err != nil || !slices.Equal(unread, []string{root}) {
		t.Errorf("unread %v, %v", unread, err)
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"*.ts", "a.ts .hid/x.ts src/deep/c.ts A.TS", "a.tsx a.ts/x src"},
		{"*.TS", "a.TS", "a.ts"},
		{"*", "a a/b .x", ""},
		{"", "a a/b .x", ""},
		{"src", "src a/src SRC", "src/a"},
		{"src/", "src/ a/src/", "src a"},
		{"src/*.ts", "src/a.ts b/src/a.ts", "src/b/a.ts a.ts xsrc/a.ts"},
		{"./src/*.ts", "src/a.ts", "b/src/a.ts"},
		{"/src/*.ts", "src/a.ts", "b/src/a.ts"},
		{"./a", "a", "b/a"},
		{"src/**", "src/a src/a/b x/src/a", "src a"},
		{"src/**/*.ts", "src/a.ts src/b/c/a.ts", "a.ts"},
		{"**/*.ts", "a.ts src/a.ts", "a.js"},
		{"*.{js,md}", "a.js b/c.md", "a.ts"},
		{"[!a]?", "bc x/bc", "ac b"},
		{"src//a", "src/a", ""},
		{"../x", "", "x a/x"},
	} {
		g, err := walk.Find(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		for want, paths := range map[bool]string{true: c.yes, false: c.no} {
			for _, path := range strings.Fields(paths) {
				rel, folder := strings.CutSuffix(path, "/")
				if got := g.Match(rel, folder); got != want {
					t.Errorf("%q matches %s: %v, want %v", c.pattern, path, got, want)
				}
			}
		}
	}
}

func TestFilter(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"", "a b/c", ""},
		{"*.ts", "a.ts b/c.ts", "a.js A.TS"},
		{"src/*.js", "src/a.js", "a.js b/src/a.js src/b/a.js"},
		{"./src/*.js", "src/a.js", "b/src/a.js"},
		{"/a.js", "a.js", "b/a.js"},
		{"src", "src src/a b/src/c", "a xsrc"},
		{"src/", "src/a b/src/c", "src a"},
		{"src/**", "src/a src/b/c", "src b/src/c"},
		{"**/src/**", "src/a b/src/c", "a"},
		{"!*.js", "a.ts", "a.js b/c.js"},
		{"!vendor", "a b/c", "vendor vendor/a b/vendor/c"},
		{"!src/*.js", "a.js b/src/a.js", "src/a.js"},
		{"*.{ts,tsx}", "a.ts b.tsx", "c.js"},
	} {
		f, err := walk.NewFilter(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		for want, paths := range map[bool]string{true: c.yes, false: c.no} {
			for _, path := range strings.Fields(paths) {
				if got := f.Picks(path); got != want {
					t.Errorf("%q picks %s: %v, want %v", c.pattern, path, got, want)
				}
			}
		}
	}
	if f, _ := walk.NewFilter("!vendor"); f.Enters("a/vendor") || !f.Enters("src") {
		t.Error("a folder that is left out is entered, or another is not")
	}
	if f, _ := walk.NewFilter("*.js"); !f.Enters("src") {
		t.Error("a folder is not entered because it is no file that is picked")
	}
}

func TestBadGlobs(t *testing.T) {
	for _, pattern := range []string{"[", "{a", "a/[b", `a\`} {
		if _, err := walk.Find(pattern); err == nil || !strings.Contains(err.Error(), "is not a glob") {
			t.Errorf("find %q: %v", pattern, err)
		}
		if _, err := walk.NewFilter(pattern); err == nil || !strings.Contains(err.Error(), "is not a glob") {
			t.Errorf("filter %q: %v", pattern, err)
		}
	}
}

func TestTooManyBraces(t *testing.T) {
	if _, err := walk.Find(strings.Repeat("{,a}", 11)); err == nil || !strings.Contains(err.Error(), "more than 10") {
		t.Errorf("got %v", err)
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("src/**/*.{ts,js}", "src/a/b.ts")
	f.Add("![!a]/", "b/c")
	f.Add(`\{*\}`, "{}")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := walk.Find(pattern)
		if err != nil {
			return
		}
		if g.Match(path, false) && !g.Match(path, true) {
			t.Fatalf("%q matches %q as a file, but not as a folder", pattern, path)
		}
		filter, err := walk.NewFilter(pattern)
		if err != nil || strings.HasPrefix(pattern, "!") || path == "" {
			return
		}
		opposite, err := walk.NewFilter("!" + pattern)
		if err != nil || pattern != "" && opposite.Picks(path) == filter.Picks(path) {
			t.Fatalf("%q and its opposite both pick %q, or both do not; %v", pattern, path, err)
		}
	})
}
