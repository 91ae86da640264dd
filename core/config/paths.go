package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Env looks a variable of the environment up and gives "" for one that is not
// set, as os.Getenv does. It may be called from any goroutine.
type Env func(name string) string

// Paths says where things are. All are absolute.
type Paths struct {
	AgentDir string // the user's folder: PI_CODING_AGENT_DIR, or ~/.pi/agent
	Home     string
	Cwd      string
}

// FindPaths works the folders out from the environment (nil: the process's).
// None of them needs to exist.
func FindPaths(env Env, cwd string) (Paths, error) {
	if env == nil {
		env = os.Getenv
	}
	cwd, err := filepath.Abs(cwd)
	if err != nil {
		return Paths{}, fmt.Errorf("find the working folder: %w", err)
	}
	home := homeDir(env)
	dir := AgentDir(env)
	if dir == "" {
		return Paths{}, errors.New("no home folder is known: set HOME or PI_CODING_AGENT_DIR")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return Paths{}, fmt.Errorf("find the agent folder: %w", err)
	}
	return Paths{AgentDir: dir, Home: home, Cwd: cwd}, nil
}

// AgentDir gives the user's folder: PI_CODING_AGENT_DIR (where a leading ~ is
// the home folder), or ~/.pi/agent. It gives "" when no home folder is known
// either.
func AgentDir(env Env) string {
	home := homeDir(env)
	if dir := env("PI_CODING_AGENT_DIR"); dir != "" {
		return expandHome(dir, home)
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".pi", "agent")
}

// SettingsFile is the user's settings.
func (p Paths) SettingsFile() string { return filepath.Join(p.AgentDir, "settings.json") }

// ModelsFile is the user's own providers and models.
func (p Paths) ModelsFile() string { return filepath.Join(p.AgentDir, "models.json") }

// AuthFile holds the user's credentials.
func (p Paths) AuthFile() string { return filepath.Join(p.AgentDir, "auth.json") }

// TrustFile holds the decisions about project folders.
func (p Paths) TrustFile() string { return filepath.Join(p.AgentDir, "trust.json") }

// ProjectDir is the project's folder of settings and resources.
func (p Paths) ProjectDir() string { return filepath.Join(p.Cwd, ".pi") }

// ProjectSettingsFile is the project's settings; they count only when the
// project is trusted.
func (p Paths) ProjectSettingsFile() string { return filepath.Join(p.ProjectDir(), "settings.json") }

func homeDir(env Env) string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := env(name); dir != "" {
			return dir
		}
	}
	return ""
}

func expandHome(path, home string) string {
	if home == "" {
		return path
	}
	if path == "~" {
		return home
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}
