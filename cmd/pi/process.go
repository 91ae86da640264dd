package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/rpcmode"
)

// process is one run of the program: what it was asked for, and what it read
// to do it.
type process struct {
	std     streams
	options *options
	flags   *pflag.FlagSet
	dialect rpcmode.Dialect

	paths     config.Paths
	trust     config.Decision
	loaded    config.Loaded
	catalogue *config.Catalogue
	models    *models
	// diagnostics are the sentences of get_state about what was not loaded.
	diagnostics []string
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
	settings := config.SettingsOptions{Paths: p.paths, Env: os.Getenv, Flags: p.settingFlags()}
	p.loaded = config.LoadSettings(settings)
	p.trust = config.NewTrust(p.paths).Decide(cwd,
		config.TrustFlags{Approve: p.options.approve, NoApprove: p.options.noApprove}, p.loaded.Settings.DefaultProjectTrust)
	if p.trust.Trusted && p.trust.Needed {
		settings.Trusted = true
		p.loaded = config.LoadSettings(settings)
	}
	if p.trust.Needed && !p.trust.Trusted {
		p.note("this project's own %s not loaded. %s", are(p.trust.Found), p.trust.Reason)
	}
	var warnings []config.Warning
	p.catalogue, warnings = config.OpenCatalogue(config.CatalogueOptions{
		ModelsFile: p.paths.ModelsFile(), Auth: config.NewAuth(p.paths.AuthFile()), Env: os.Getenv,
	})
	for _, w := range append(p.loaded.Warnings, warnings...) {
		p.note("%s", w)
	}
	p.models = newModels(p.catalogue, provider.Options{IdleTimeout: p.loaded.Settings.StreamIdleTimeout})
	return nil
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
	return flags
}

// note tells the person who started the process, and later the client, what
// was not loaded.
func (p *process) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.diagnostics = append(p.diagnostics, text)
	warn(p.std.err, "%s", text)
}

func are(parts []string) string {
	if len(parts) == 0 {
		return "files are"
	}
	for i, part := range parts {
		parts[i] = strconv.Quote(part)
	}
	return "files (" + strings.Join(parts, ", ") + ") are"
}
