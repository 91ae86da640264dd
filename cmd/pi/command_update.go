package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/packages"
)

// updateCommand is pi update.
func updateCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use:   "update [source]",
		Short: "Update one package, or all, to what is newest",
		Long: `Update packages and pin them anew: a repository to the newest commit of its branch or tag, a folder to its content as it is now.

The project's packages are updated too, if it is trusted.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			p, err := openPackaging(std)
			if err != nil {
				return err
			}
			source := ""
			if len(arguments) > 0 {
				source = arguments[0]
			}
			return p.update(c.Context(), source)
		},
	}
}

func (p packaging) update(ctx context.Context, source string) error {
	found := false
	in := func(m *packages.Manager) error {
		updates, err := m.Update(ctx, source)
		for _, u := range updates {
			p.tellUpdate(u)
		}
		found = found || len(updates) > 0
		return err
	}
	user := in(p.manager(false))
	if source != "" && errors.Is(user, packages.ErrNotListed) {
		user = nil
	}
	var project error
	entries, err := p.manager(true).Entries()
	switch {
	case err != nil:
		project = err
	case len(entries) > 0 && !p.projectTrusted():
		warn(p.std.err, "the project's %d packages are not updated, because it is not trusted", len(entries))
	case len(entries) > 0:
		project = p.change(true, in)
	}
	if source != "" && errors.Is(project, packages.ErrNotListed) && found {
		project = nil
	}
	switch err := errors.Join(user, project); {
	case err != nil:
		return err
	case !found && source != "":
		return fmt.Errorf("%s: %w: see `pi list`", source, packages.ErrNotListed)
	case !found:
		fmt.Fprintln(p.std.out, "There are no packages.")
	}
	return nil
}

func (p packaging) tellUpdate(u packages.Update) {
	if u.Was == u.Pin {
		fmt.Fprintf(p.std.out, "%s is up to date at %s\n", u.Entry.Source, pinned(u.Pin))
		return
	}
	if u.Was != (packages.Pin{}) {
		fmt.Fprintf(p.std.out, "%s was at %s\n", u.Entry.Source, pinned(u.Was))
	}
	p.tell("Updated", u.Installed)
}
