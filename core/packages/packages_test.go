package packages_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/packages"
)

// place is a user with a project.
type place struct {
	t     *testing.T
	paths config.Paths
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	p := place{t, config.Paths{AgentDir: filepath.Join(dir, "agent"), Home: filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "work")}}
	for _, d := range []string{p.paths.AgentDir, p.paths.Home, p.paths.Cwd} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p place) manager(scope config.Scope) *packages.Manager {
	return &packages.Manager{Paths: p.paths, Scope: scope}
}

// find gives the packages of user and project as the next start finds them.
func (p place) find() []packages.Installed {
	loaded := config.LoadSettings(config.SettingsOptions{Paths: p.paths, Trusted: true})
	if len(loaded.Warnings) > 0 {
		p.t.Fatal(loaded.Warnings)
	}
	return packages.Find(p.paths, loaded.Settings.Packages)
}

// one is the only package there is.
func (p place) one() (packages.Resources, packages.Installed) {
	p.t.Helper()
	list := p.find()
	if len(list) != 1 {
		p.t.Fatalf("there are %d packages: %+v", len(list), list)
	}
	return list[0].Resources()
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(content, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// pack fills a folder as a package has it.
func pack(t testing.TB, dir string) string {
	t.Helper()
	write(t, filepath.Join(dir, "prompts", "review.md"), "Review $1")
	write(t, filepath.Join(dir, "prompts", "old.md"), "Old")
	write(t, filepath.Join(dir, "skills", "deploy", "SKILL.md"), "---\nname: deploy\ndescription: d\n---\nbody")
	write(t, filepath.Join(dir, "extensions", "guard"), "#!/bin/sh\n")
	write(t, filepath.Join(dir, "extensions", "theirs.ts"), "export default 1")
	write(t, filepath.Join(dir, "extensions", "notes.txt"), "no program")
	return dir
}

// git runs git in a folder.
func git(t testing.TB, dir string, arguments ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"}, arguments...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes a repository with a package; its first commit is tagged v1.
func repository(t testing.TB) (dir, commit string) {
	t.Helper()
	dir = pack(t, t.TempDir())
	git(t, dir, "init", "--quiet")
	return dir, commitAll(t, dir, "v1")
}

func commitAll(t testing.TB, dir, tag string) string {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "--quiet", "-m", tag)
	git(t, dir, "tag", tag)
	return git(t, dir, "rev-parse", "HEAD")
}

func names(dir string, paths []string) string {
	var list []string
	for _, path := range paths {
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err.Error()
		}
		list = append(list, filepath.ToSlash(relative))
	}
	return strings.Join(list, " ")
}

func TestAFolderIsUsedWhereItIs(t *testing.T) {
	for _, scope := range []config.Scope{config.ScopeUser, config.ScopeProject} {
		p := newPlace(t)
		dir := pack(t, filepath.Join(p.paths.Cwd, "packs", "house"))
		m := p.manager(scope)
		installed, err := m.Install(t.Context(), "packs/house")
		if err != nil || installed.State != packages.Ready || installed.Pin.Commit != "" || installed.Dir != dir {
			t.Fatalf("%s: %+v, %v", scope, installed, err)
		}
		if want := map[config.Scope]string{config.ScopeUser: dir, config.ScopeProject: "../packs/house"}[scope]; installed.Entry.Source != want {
			t.Errorf("%s: the settings have %q", scope, installed.Entry.Source)
		}
		r, now := p.one()
		if got := names(dir, r.Prompts) + "|" + names(dir, r.Skills) + "|" + names(dir, r.Extensions); now.Problem != "" ||
			got != "prompts/old.md prompts/review.md|skills/deploy|extensions/guard" {
			t.Errorf("%s: it gives %s, %s", scope, got, now.Problem)
		}

		// Prompts may be edited; extensions run only as they were pinned.
		write(t, filepath.Join(dir, "prompts", "review.md"), "Review better")
		r, now = p.one()
		if len(r.Prompts) != 2 || len(r.Extensions) != 0 || now.State != packages.Changed || !strings.Contains(now.Problem, "pi update "+installed.Entry.Source) {
			t.Errorf("%s: changed, it gives %+v, %s", scope, r, now.Problem)
		}
		updates, err := m.Update(t.Context(), "./packs/house")
		if err != nil || len(updates) != 1 || updates[0].Was.SHA256 == updates[0].Pin.SHA256 {
			t.Fatalf("%s: %+v, %v", scope, updates, err)
		}
		if r, now = p.one(); len(r.Extensions) != 1 || now.Problem != "" {
			t.Errorf("%s: updated, it gives %+v, %s", scope, r, now.Problem)
		}
		if err := m.Remove("packs/house"); err != nil {
			t.Fatal(err)
		}
		if list := p.find(); len(list) != 0 {
			t.Errorf("%s: after removal there is %+v", scope, list)
		}
		if _, err := os.Stat(filepath.Join(dir, "prompts")); err != nil {
			t.Errorf("%s: the folder itself was touched: %v", scope, err)
		}
	}
}

func TestARepositoryIsPinnedToACommit(t *testing.T) {
	p := newPlace(t)
	dir, first := repository(t)
	source := "git:" + dir
	m := p.manager(config.ScopeProject)
	installed, err := m.Install(t.Context(), source)
	if err != nil || installed.State != packages.Ready || installed.Pin.Commit != first || len(installed.Pin.SHA256) != 64 {
		t.Fatalf("%+v, %v", installed, err)
	}
	if _, err := os.Stat(filepath.Join(installed.Dir, ".git")); err == nil {
		t.Error("the copy has git's own files")
	}
	lock := read(t, filepath.Join(p.paths.ProjectDir(), packages.LockName))

	// What is committed later is not there before an update.
	write(t, filepath.Join(dir, "prompts", "new.md"), "New")
	second := commitAll(t, dir, "v2")
	if r, _ := p.one(); strings.Contains(names(installed.Dir, r.Prompts), "new.md") {
		t.Error("a later commit is used")
	}
	updates, err := m.Update(t.Context(), "")
	if err != nil || len(updates) != 1 || updates[0].Was.Commit != first || updates[0].Pin.Commit != second {
		t.Fatalf("%+v, %v", updates, err)
	}
	if r, now := p.one(); !strings.Contains(names(now.Dir, r.Prompts), "new.md") || len(r.Extensions) != 1 {
		t.Errorf("updated, it gives %+v", r)
	}
	if _, err := os.Stat(installed.Dir); err == nil {
		t.Error("the copy that nobody needs is still there")
	}

	// Another machine has the lock file of the checkout and no copy.
	other := newPlace(t)
	for _, name := range []string{"settings.json", packages.LockName} {
		write(t, filepath.Join(other.paths.ProjectDir(), name), read(t, filepath.Join(p.paths.ProjectDir(), name)))
	}
	write(t, filepath.Join(other.paths.ProjectDir(), packages.LockName), lock)
	if r, now := other.one(); now.State != packages.Missing || !strings.Contains(now.Problem, "pi install") || len(r.Prompts) > 0 {
		t.Errorf("without a copy it is %+v", now)
	}
	brought, err := other.manager(config.ScopeProject).Restore(t.Context())
	if err != nil || len(brought) != 1 || brought[0].Pin != installed.Pin {
		t.Fatalf("%+v, %v", brought, err)
	}
	if got := read(t, filepath.Join(other.paths.ProjectDir(), packages.LockName)); got != lock {
		t.Errorf("the lock became %s", got)
	}
	if brought, err := other.manager(config.ScopeProject).Restore(t.Context()); err != nil || len(brought) != 0 {
		t.Errorf("again: %+v, %v", brought, err)
	}
}

func TestRefs(t *testing.T) {
	dir, first := repository(t)
	git(t, dir, "branch", "stable")
	write(t, filepath.Join(dir, "prompts", "new.md"), "New")
	second := commitAll(t, dir, "v2")
	for ref, want := range map[string]string{
		"": second, "@main": second, "@stable": first, "@v1": first, "@" + first: first, "@" + first[:12]: first,
	} {
		p := newPlace(t)
		installed, err := p.manager(config.ScopeUser).Install(t.Context(), "git:"+dir+ref)
		if err != nil || installed.Pin.Commit != want {
			t.Errorf("%q gives %s, %v; want %s", ref, installed.Pin.Commit, err, want)
		}
		if updates, err := p.manager(config.ScopeUser).Update(t.Context(), ""); err != nil || updates[0].Pin.Commit != want {
			t.Errorf("%q: the update gives %+v, %v", ref, updates, err)
		}
	}
	if _, err := newPlace(t).manager(config.ScopeUser).Install(t.Context(), "git:"+dir+"@nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a ref that is not there gives %v", err)
	}
}

func TestABareRepositoryAndAnAddress(t *testing.T) {
	dir, first := repository(t)
	bare := filepath.Join(t.TempDir(), "pack.git")
	git(t, t.TempDir(), "clone", "--quiet", "--bare", dir, bare)
	for _, source := range []string{bare, "git:" + bare, "file://" + bare, "git:file://" + bare + "@v1"} {
		installed, err := newPlace(t).manager(config.ScopeUser).Install(t.Context(), source)
		if err != nil || installed.Pin.Commit != first {
			t.Errorf("%s gives %+v, %v", source, installed, err)
		}
	}
}

// TestAPackageIsThereOnce installs another ref of a repository, keeps what was
// filtered, and has user and project name the same one.
func TestAPackageIsThereOnce(t *testing.T) {
	p := newPlace(t)
	dir, first := repository(t)
	write(t, filepath.Join(dir, "prompts", "new.md"), "New")
	commitAll(t, dir, "v2")
	user := p.manager(config.ScopeUser)
	if _, err := user.Install(t.Context(), "git:"+dir); err != nil {
		t.Fatal(err)
	}
	write(t, p.paths.SettingsFile(), strings.Replace(read(t, p.paths.SettingsFile()), `"git:`+dir+`"`, `{"source": "git:`+dir+`", "skills": []}`, 1))
	installed, err := user.Install(t.Context(), "git:"+dir+"@v1")
	if err != nil || installed.Pin.Commit != first {
		t.Fatalf("%+v, %v", installed, err)
	}
	if r, now := p.one(); len(r.Skills) != 0 || now.Pin.Commit != first {
		t.Errorf("it is %+v and gives %+v", now, r)
	}
	if lock := read(t, filepath.Join(p.paths.AgentDir, packages.LockName)); strings.Count(lock, "commit") != 1 {
		t.Errorf("the lock has %s", lock)
	}
	if _, err := p.manager(config.ScopeProject).Install(t.Context(), "git:"+dir+"@v2"); err != nil {
		t.Fatal(err)
	}
	if _, now := p.one(); now.Entry.Scope != config.ScopeProject {
		t.Errorf("it is %+v", now)
	}

	// The copies stay as long as one of the two needs them.
	if err := user.Remove("git:" + dir); err != nil {
		t.Fatal(err)
	}
	if _, now := p.one(); now.State != packages.Ready {
		t.Errorf("it is %+v", now)
	}
	if err := p.manager(config.ScopeProject).Remove("git:" + dir); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(p.paths.AgentDir, "packages", "*")); err != nil || len(left) != 1 {
		t.Errorf("left is %q, %v", left, err)
	}
}

func TestFilters(t *testing.T) {
	for filter, want := range map[string]string{
		``: "prompts/old.md prompts/review.md|skills/deploy|extensions/guard",
		`, "prompts": [], "skills": [], "extensions": []`:                                           "||",
		`, "prompts": ["prompts/review.md"], "skills": ["skills/deploy/SKILL.md"]`:                  "prompts/review.md|skills/deploy|extensions/guard",
		`, "prompts": ["!prompts/old.md"], "extensions": ["!guard"]`:                                "prompts/review.md|skills/deploy|",
		`, "prompts": ["prompts/*.md", "-prompts/review.md"]`:                                       "prompts/old.md|skills/deploy|extensions/guard",
		`, "prompts": ["!**", "+prompts/old.md"], "skills": ["other"]`:                              "prompts/old.md||extensions/guard",
		`, "prompts": ["prompts"], "skills": ["dep*"], "extensions": ["../../*", "/etc", "theirs"]`: "prompts/old.md prompts/review.md|skills/deploy|",
	} {
		p := newPlace(t)
		dir := pack(t, filepath.Join(p.paths.Cwd, "pack"))
		if _, err := p.manager(config.ScopeUser).Install(t.Context(), "pack"); err != nil {
			t.Fatal(err)
		}
		write(t, p.paths.SettingsFile(), `{"packages": [{"source": "`+dir+`"`+filter+`}]}`)
		r, now := p.one()
		if got := names(dir, r.Prompts) + "|" + names(dir, r.Skills) + "|" + names(dir, r.Extensions); got != want || now.Problem != "" {
			t.Errorf("%s gives %s, want %s; %s", filter, got, want, now.Problem)
		}
	}
}

// TestManifestsOfTheReferenceAgents reads the places that package.json names.
func TestManifestsOfTheReferenceAgents(t *testing.T) {
	for manifest, want := range map[string]string{
		`{"name": "x"}`: "prompts/old.md prompts/review.md|skills/deploy|extensions/guard",
		`{"pi": {"prompts": ["./resources/*.md", "!./resources/no.md"], "skills": ["resources/skills"]}}`: "resources/yes.md|resources/skills/tidy|",
		`{"pi": {"prompts": ["../../**", "/etc/*"]}}`:                                                     "||",
	} {
		p := newPlace(t)
		dir := pack(t, filepath.Join(p.paths.Cwd, "pack"))
		write(t, filepath.Join(dir, "resources", "yes.md"), "x")
		write(t, filepath.Join(dir, "resources", "no.md"), "x")
		write(t, filepath.Join(dir, "resources", "skills", "tidy", "SKILL.md"), "x")
		write(t, filepath.Join(dir, "package.json"), manifest)
		if _, err := p.manager(config.ScopeUser).Install(t.Context(), "pack"); err != nil {
			t.Fatal(err)
		}
		r, now := p.one()
		if got := names(dir, r.Prompts) + "|" + names(dir, r.Skills) + "|" + names(dir, r.Extensions); got != want || now.Problem != "" {
			t.Errorf("%s gives %s, want %s; %s", manifest, got, want, now.Problem)
		}
	}
	p := newPlace(t)
	dir := pack(t, filepath.Join(p.paths.Cwd, "pack"))
	write(t, filepath.Join(dir, "package.json"), "{oops")
	if _, err := p.manager(config.ScopeUser).Install(t.Context(), "pack"); err != nil {
		t.Fatal(err)
	}
	if r, now := p.one(); now.State != packages.Broken || !strings.Contains(now.Problem, "package.json") || len(r.Prompts) > 0 {
		t.Errorf("it is %+v and gives %+v", now, r)
	}
}

// TestWhatIsNotPinned covers settings that were written by hand.
func TestWhatIsNotPinned(t *testing.T) {
	p := newPlace(t)
	pack(t, filepath.Join(p.paths.Cwd, "pack"))
	repo, first := repository(t)
	write(t, p.paths.ProjectSettingsFile(), `{"packages": ["../pack", "git:`+repo+`", "npm:@example/tools", "../gone"]}`)
	var states []packages.State
	for _, each := range p.find() {
		r, now := each.Resources()
		states = append(states, now.State)
		if len(r.Extensions) > 0 || now.Problem == "" || !strings.Contains(now.Problem, now.Entry.Source) {
			t.Errorf("%s gives %+v, %q", now.Entry.Source, r, now.Problem)
		}
		if now.State == packages.Unknown && len(r.Prompts) != 2 {
			t.Errorf("%s gives %+v", now.Entry.Source, r)
		}
	}
	if want := []packages.State{packages.Unknown, packages.Missing, packages.Broken, packages.Missing}; !reflect.DeepEqual(states, want) {
		t.Errorf("they are %q", states)
	}
	brought, err := p.manager(config.ScopeProject).Restore(t.Context())
	if len(brought) != 2 || brought[1].Pin.Commit != first || !strings.Contains(err.Error(), "npm") || !strings.Contains(err.Error(), "gone") {
		t.Errorf("%+v, %v", brought, err)
	}
}

// TestAnotherContentIsRefused has the repository say something else for the
// commit than the lock, as one that was tampered with would.
func TestAnotherContentIsRefused(t *testing.T) {
	p := newPlace(t)
	dir, _ := repository(t)
	m := p.manager(config.ScopeProject)
	if _, err := m.Install(t.Context(), "git:"+dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.paths.ProjectDir(), packages.LockName)
	_, now := p.one()
	wrong := strings.Repeat("0", 64)
	write(t, file, strings.Replace(read(t, file), now.Pin.SHA256, wrong, 1))
	_, err := m.Restore(t.Context())
	var mismatch *packages.MismatchError
	if !errors.As(err, &mismatch) || mismatch.Want != wrong || mismatch.Found != now.Pin.SHA256 || !strings.Contains(err.Error(), "pi update") {
		t.Errorf("%v", err)
	}
	if _, now := p.one(); now.State != packages.Missing {
		t.Errorf("it is %+v", now)
	}
	if left, err := filepath.Glob(filepath.Join(p.paths.AgentDir, "packages", ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left is %q, %v", left, err)
	}
}

func TestADamagedCopyIsReplaced(t *testing.T) {
	p := newPlace(t)
	dir, _ := repository(t)
	m := p.manager(config.ScopeUser)
	installed, err := m.Install(t.Context(), "git:"+dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(installed.Dir, "prompts", "review.md"), "tampered")
	if _, err := m.Update(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(installed.Dir, "prompts", "review.md")); got != "Review $1" {
		t.Errorf("the copy has %q", got)
	}
}

func TestWhatCannotBeInstalled(t *testing.T) {
	p := newPlace(t)
	leads := pack(t, filepath.Join(p.paths.Cwd, "leads"))
	if err := os.Symlink("/etc/passwd", filepath.Join(leads, "prompts", "users.md")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.paths.Cwd, "file"), "x")
	for source, want := range map[string]string{
		"":                              "empty",
		"npm:@example/tools":            "npm",
		"gone":                          "gone",
		"file":                          "is no folder",
		"leads":                         "leads out of the package",
		"git:" + p.paths.Cwd + "/leads": "git fetch",
		"git:pack":                      "names no git repository",
		"git:-pack":                     "names no git repository",
		"git:ext::sh -c touch% /tmp/x":  "names no git repository",
		"git:--upload-pack=touch x":     "names no git repository",
		"git:" + p.paths.Cwd + "@-x":    "names no git repository",
	} {
		_, err := p.manager(config.ScopeUser).Install(t.Context(), source)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", source, err, want)
		}
	}
	if list := p.find(); len(list) > 0 {
		t.Errorf("there is %+v", list)
	}
	if _, err := os.Stat(filepath.Join(p.paths.AgentDir, packages.LockName)); err == nil {
		t.Error("there is a lock file")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	repo, _ := repository(t)
	if _, err := p.manager(config.ScopeUser).Install(ctx, "git:"+repo); !errors.Is(err, context.Canceled) {
		t.Errorf("given up, it says %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := p.manager(config.ScopeUser).Install(t.Context(), "git:"+repo); !errors.Is(err, packages.ErrNoGit) {
		t.Errorf("without git it says %v", err)
	}
}

// TestFilesThatCannotBeReadStay damages settings and lock file.
func TestFilesThatCannotBeReadStay(t *testing.T) {
	for _, name := range []string{"settings.json", packages.LockName} {
		for _, broken := range []string{`{"packages": `, `{"packages": 5}`, `{"packages": {"x": {"sha256": "short"}}}`, `[]`} {
			if name == "settings.json" && strings.Contains(broken, "short") {
				broken = `{"packages": [{}]}`
			}
			p := newPlace(t)
			pack(t, filepath.Join(p.paths.Cwd, "pack"))
			file := filepath.Join(p.paths.ProjectDir(), name)
			write(t, file, broken)
			m := p.manager(config.ScopeProject)
			_, install := m.Install(t.Context(), "pack")
			_, update := m.Update(t.Context(), "")
			_, restore := m.Restore(t.Context())
			for what, err := range map[string]error{"install": install, "update": update, "restore": restore, "remove": m.Remove("pack")} {
				if err == nil || !strings.Contains(err.Error(), name) && !errors.Is(err, packages.ErrNotListed) {
					t.Errorf("%s with %s in %s says %v", what, broken, name, err)
				}
			}
			if got := read(t, file); got != broken {
				t.Errorf("%s became %s", name, got)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]packages.Source{
		"pack":                              {Folder: "/base/pack"},
		"../pack":                           {Folder: "/pack"},
		"~/pack":                            {Folder: "/home/u/pack"},
		"/pack":                             {Folder: "/pack"},
		"git:github.com/acme/pack":          {URL: "https://github.com/acme/pack"},
		"git:github.com/acme/pack@v1":       {URL: "https://github.com/acme/pack", Ref: "v1"},
		"git:git@github.com:acme/pack":      {URL: "git@github.com:acme/pack"},
		"git:git@github.com:acme/pack@v1":   {URL: "git@github.com:acme/pack", Ref: "v1"},
		"https://example.com/a/b.git":       {URL: "https://example.com/a/b.git"},
		"https://u@example.com/a/b@feature": {URL: "https://u@example.com/a/b", Ref: "feature"},
		"ssh://git@example.com/a/b":         {URL: "ssh://git@example.com/a/b"},
		"git://example.com/a/b":             {URL: "git://example.com/a/b"},
		"git:https://example.com/a/b@v2":    {URL: "https://example.com/a/b", Ref: "v2"},
		"git:./pack@v1":                     {URL: "/base/pack", Ref: "v1"},
		"git:/srv/pack":                     {URL: "/srv/pack"},
		"git:~/pack":                        {URL: "/home/u/pack"},
	} {
		want.Text = text
		got, err := packages.Parse(text, "/base", "/home/u")
		if err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	same := []string{
		"git:github.com/acme/pack", "git:github.com/acme/pack@v1", "https://github.com/Acme/pack.git", "git:git@github.com:acme/pack",
		"ssh://git@github.com/acme/pack", "https://user@github.com/acme/pack",
	}
	for _, text := range same {
		s, err := packages.Parse(text, "/base", "")
		if err != nil || s.Identity() != "git:github.com/acme/pack" {
			t.Errorf("%s is %s, %v", text, s.Identity(), err)
		}
	}
}

func TestChecksum(t *testing.T) {
	sum := func(dir string) string {
		t.Helper()
		got, err := packages.Checksum(dir)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	one, two := pack(t, t.TempDir()), pack(t, t.TempDir())
	was := sum(one)
	if was != sum(two) {
		t.Error("two folders with one content differ")
	}
	if err := os.Chmod(filepath.Join(one, "extensions", "guard"), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(one, ".git", "HEAD"), "x")
	write(t, filepath.Join(one, "node_modules", "x", "index.js"), "x")
	if was != sum(one) {
		t.Error("modes, or what is no content, count")
	}
	for name, change := range map[string]func(dir string) error{
		"content": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "prompts", "old.md"), []byte("X"), 0o644)
		},
		"name": func(dir string) error {
			return os.Rename(filepath.Join(dir, "prompts", "old.md"), filepath.Join(dir, "prompts", "older.md"))
		},
		"more": func(dir string) error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o644) },
		"less": func(dir string) error { return os.Remove(filepath.Join(dir, "prompts", "old.md")) },
		"link": func(dir string) error { return os.Symlink("prompts/old.md", filepath.Join(dir, "link.md")) },
	} {
		dir := pack(t, t.TempDir())
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if was == sum(dir) {
			t.Errorf("a change of %s does not count", name)
		}
	}
}
