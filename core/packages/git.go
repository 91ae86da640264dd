package packages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// git runs the user's git, with the user's settings and credentials.
type git struct{ dir string }

// ErrNoGit says that packages of repositories need a git command.
var ErrNoGit = errors.New("there is no git command: install git to use packages of git repositories")

// checkOut fetches one commit of a repository into an empty folder and gives
// its id. ref is a branch, tag or commit; empty: the default branch.
func (g git) checkOut(ctx context.Context, url, ref string) (commit string, err error) {
	if _, err := exec.LookPath("git"); err != nil {
		return "", ErrNoGit
	}
	if _, err := g.run(ctx, "init", "--quiet"); err != nil {
		return "", err
	}
	wanted := ref
	if wanted == "" {
		wanted = "HEAD"
	}
	at := "FETCH_HEAD"
	if _, err := g.run(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--", url, wanted); err != nil {
		// Some servers give a commit only to those who fetch what leads there.
		if ref == "" || ctx.Err() != nil {
			return "", err
		}
		if at, err = g.fetchAll(ctx, url, ref, err); err != nil {
			return "", err
		}
	}
	if _, err := g.run(ctx, "checkout", "--quiet", "--detach", at); err != nil {
		return "", err
	}
	out, err := g.run(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	return strings.TrimSpace(out), err
}

// fetchAll fetches all branches and tags and gives the commit of a ref. first
// is why the short way did not go.
func (g git) fetchAll(ctx context.Context, url, ref string, first error) (string, error) {
	if _, err := g.run(ctx, "fetch", "--quiet", "--tags", "--", url, "+refs/heads/*:refs/remotes/origin/*"); err != nil {
		return "", err
	}
	for _, name := range []string{ref, "origin/" + ref} {
		if out, err := g.run(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}"); err == nil {
			return strings.TrimSpace(out), nil
		}
	}
	return "", fmt.Errorf("the repository has no %s: %w", ref, first)
}

// settings keep what is checked out the same on every system, and keep hooks
// of a template from running.
var settings = []string{"core.autocrlf=false", "core.eol=lf", "core.hooksPath=" + os.DevNull, "advice.detachedHead=false", "gc.auto=0"}

func (g git) run(ctx context.Context, arguments ...string) (string, error) {
	var all []string
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, arguments...)...)
	cmd.Dir, cmd.Env = g.dir, environment()
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("git %s: %w: %s", arguments[0], err, strings.TrimSpace(failure.String()))
	}
	return out.String(), nil
}

// repositoryVariables would point git at another repository, as they do in a
// hook.
var repositoryVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
}

func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(repositoryVariables, name)
	})
	return append(env, "GIT_TERMINAL_PROMPT=0")
}
