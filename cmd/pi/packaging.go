package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/packages"
)

// packaging is what the commands about packages share.
type packaging struct {
	std   streams
	paths config.Paths
	trust *config.Trust
}

func openPackaging(std streams) (packaging, error) {
	paths, err := folders("")
	return packaging{std, paths, config.NewTrust(paths)}, err
}

// localFlag is -l, which chooses the project's settings.
func localFlag(c *cobra.Command, local *bool, usage string) *cobra.Command {
	c.Flags().BoolVarP(local, "local", "l", false, usage)
	return c
}

func (p packaging) manager(local bool) *packages.Manager {
	if local {
		return &packages.Manager{Paths: p.paths, Scope: config.ScopeProject}
	}
	return &packages.Manager{Paths: p.paths, Scope: config.ScopeUser}
}

// projectTrusted says whether the project may be used as it stands. A project
// that nothing needs trust for has no packages either.
func (p packaging) projectTrusted() bool {
	loaded := config.LoadSettings(config.SettingsOptions{Paths: p.paths})
	return p.trust.Decide(p.paths.Cwd, config.TrustFlags{}, loaded.Settings.DefaultProjectTrust).Trusted
}

// change carries out what changes settings and lock file of a scope. Where the
// project was trusted as it stood, the decision covers the change: whoever
// makes it knows of it.
func (p packaging) change(local bool, change func(*packages.Manager) error) error {
	covered := local && p.projectTrusted() && p.decided()
	err := change(p.manager(local))
	if covered {
		if saved := p.trust.Save(p.paths.Cwd, true); err == nil {
			err = saved
		}
	} else if local && err == nil && !p.projectTrusted() {
		fmt.Fprintf(p.std.err, "This project is not trusted yet: run `pi trust` to have its packages loaded.\n")
	}
	return err
}

// decided says whether there is a decision about exactly the project.
func (p packaging) decided() bool {
	entries, err := p.trust.List()
	dir := canonicalFolder(p.paths.Cwd)
	return err == nil && slices.ContainsFunc(entries, func(e config.TrustEntry) bool { return e.Dir == dir && e.Trusted })
}

// tell shows a package that was installed or updated.
func (p packaging) tell(what string, installed packages.Installed) {
	fmt.Fprintf(p.std.out, "%s %s at %s\n", what, installed.Entry.Source, pinned(installed.Pin))
	offers, err := installed.Offers()
	switch {
	case err != nil:
		warn(p.std.err, "%v", err)
	case len(offers) == 0:
		warn(p.std.err, "it has no prompts, skills, rules or extensions where pi looks for them: in folders of these names. An extension by itself needs no package: copy it to ~/.pi/agent/extensions")
	default:
		fmt.Fprintf(p.std.out, "It has %s\n", strings.Join(offers, ", "))
	}
}

func pinned(pin packages.Pin) string {
	short := func(hex string) string { return hex[:min(12, len(hex))] }
	switch {
	case pin.Commit != "":
		return "commit " + short(pin.Commit)
	case pin.SHA256 != "":
		return "sha256 " + short(pin.SHA256)
	}
	return "-"
}
