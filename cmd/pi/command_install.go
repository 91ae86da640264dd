package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/packages"
)

// installCommand is pi install.
func installCommand(std streams) *cobra.Command {
	var local bool
	c := &cobra.Command{
		Use:   "install [source]",
		Short: "Install a package, or all that the settings and lock files name",
		Long: `Install a package of prompts, skills, rules and extensions, list it in the settings, and pin it in packages.lock.json beside them: a repository to a commit, and both it and a folder to the SHA-256 of the content.

  pi install ./tools/pi-pack                      a folder, used where it is
  pi install git:github.com/acme/pi-pack@v2       a repository, through your own git
  pi install git:/srv/git/pi-pack                 a repository in a folder
  pi install ssh://git@example.com/acme/pi-pack   a repository by its address

Without a source, what settings and lock files name is brought to this machine, exactly as it is pinned.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			p, err := openPackaging(std)
			if err != nil {
				return err
			}
			if len(arguments) == 0 {
				return p.restore(c.Context(), local)
			}
			return p.change(local, func(m *packages.Manager) error {
				installed, err := m.Install(c.Context(), arguments[0])
				if err == nil {
					p.tell("Installed", installed)
					if local && filepath.IsAbs(strings.TrimPrefix(installed.Entry.Source, "git:")) {
						warn(std.err, "%s is a path of this machine: for the other members name it relative to the project, or by its address", installed.Entry.Source)
					}
				}
				return err
			})
		},
	}
	return localFlag(c, &local, "list it in the project's .pi/settings.json, for everybody who works on it")
}

// restore brings the packages of the user and of the project, or of the
// project alone.
func (p packaging) restore(ctx context.Context, onlyProject bool) error {
	count := 0
	bring := func(local bool) error {
		brought, err := p.manager(local).Restore(ctx)
		for _, installed := range brought {
			p.tell("Installed", installed)
		}
		count += len(brought)
		return err
	}
	if !onlyProject {
		if err := bring(false); err != nil {
			return err
		}
	}
	entries, err := p.manager(true).Entries()
	switch {
	case err != nil:
		return err
	case len(entries) > 0 && !p.projectTrusted():
		return fmt.Errorf("the project's %d packages are not installed, because it is not trusted: look at its settings, then run `pi trust`", len(entries))
	case len(entries) > 0:
		err = p.change(true, func(*packages.Manager) error { return bring(true) })
	}
	if err == nil && count == 0 {
		fmt.Fprintln(p.std.out, "Everything is installed.")
	}
	return err
}
