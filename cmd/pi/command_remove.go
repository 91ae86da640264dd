package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/packages"
)

// removeCommand is pi remove.
func removeCommand(std streams) *cobra.Command {
	var local bool
	c := &cobra.Command{
		Use:     "remove <source>",
		Aliases: []string{"uninstall"},
		Short:   "Remove a package from the settings",
		Args:    usage(cobra.ExactArgs(1), "`pi list` has the sources"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			p, err := openPackaging(std)
			if err != nil {
				return err
			}
			err = p.change(local, func(m *packages.Manager) error { return m.Remove(arguments[0]) })
			if errors.Is(err, packages.ErrNotListed) && !local {
				return fmt.Errorf("%w; with -l it is removed from the project's", err)
			}
			if err == nil {
				fmt.Fprintf(std.out, "Removed %s\n", arguments[0])
			}
			return err
		},
	}
	return localFlag(c, &local, "remove it from the project's .pi/settings.json")
}
