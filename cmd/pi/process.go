package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/proc"
	"github.com/seed-54e836f5/pi/rpcmode"
)

// process is one run of the program: what it was asked for, and what it read
// to do it.
type process struct {
	// background keeps what commands of the bash tool leave running.
	background proc.Background

	std     streams
	options *options
	flags   *pflag.FlagSet
	dialect rpcmode.Dialect
	// describing shows flags among the settings that they stand before.
	describing bool

	// started is the date that models are told, so that the system prompt
	// stays the same as long as the process runs.
	started   time.Time
	paths     config.Paths
	projects  *projects
	project   project // that of the folder which the session begins in
	catalogue *config.Catalogue
	models    *models
	notes     notes
}

// readConfiguration reads settings, trust and models. Nothing that it cannot
// read stops the start, except a folder for them that cannot be named.
func (p *process) readConfiguration() error {
	cwd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working folder: %w", err)
	}
	if p.paths, err = config.FindPaths(nil, cwd); err != nil {
		return err
	}
	p.started, p.notes.to = time.Now(), p.std.err
	flags := config.TrustFlags{Approve: p.options.approve, NoApprove: p.options.noApprove}
	p.projects = newProjects(p.paths, flags, p.settingFlags())
	p.project = p.projects.look(cwd)
	var warnings []config.Warning
	p.catalogue, warnings = config.OpenCatalogue(config.CatalogueOptions{
		ModelsFile: p.paths.ModelsFile(), Auth: config.NewAuth(p.paths.AuthFile()), Env: os.Getenv,
	})
	for _, w := range warnings {
		p.notes.add(w.String())
	}
	return nil
}

// settings are those of the folder that the session begins in.
func (p *process) settings() config.Settings { return p.project.loaded.Settings }

// beginIn makes a folder the one that the session begins in: a session that
// the flags name brings its own.
func (p *process) beginIn(cwd string) {
	if cwd == p.project.cwd {
		return
	}
	p.projects.approve(cwd)
	p.project = p.projects.look(cwd)
}

// settingFlags are the flags that stand for settings, so that `pi config` and
// the session see one precedence.
func (p *process) settingFlags() map[string]string {
	flags := map[string]string{}
	if len(p.options.models) > 0 {
		flags["enabledModels"] = strings.Join(p.options.models, ",")
	}
	if p.options.sessionDir != "" {
		flags["sessionDir"] = p.options.sessionDir
	}
	if signed(p.options.tools) > 0 {
		flags["defaultTools"] = strings.Join(p.options.tools, ",")
	}
	if p.describing {
		for key, value := range map[string]string{
			"defaultProvider": p.options.provider, "defaultModel": p.options.model,
			"defaultThinkingLevel": p.options.thinking, "defaultTools": strings.Join(p.options.tools, ","),
		} {
			if value != "" {
				flags[key] = value
			}
		}
	}
	return flags
}
