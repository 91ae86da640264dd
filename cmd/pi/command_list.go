package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/packages"
)

// listCommand is pi list.
func listCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the packages of the user and of the project",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := openPackaging(std)
			if err != nil {
				return err
			}
			return p.list()
		},
	}
}

func (p packaging) list() error {
	var entries []config.PackageEntry
	for _, local := range []bool{false, true} {
		more, err := p.manager(local).Entries()
		if err != nil {
			return err
		}
		entries = append(entries, more...)
	}
	if len(entries) == 0 {
		fmt.Fprintln(p.std.err, "There are no packages. Install one with `pi install <source>`.")
		return nil
	}
	trusted := p.projectTrusted()
	table := tabwriter.NewWriter(p.std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SCOPE\tSOURCE\tPINNED TO\tSTATE")
	var problems []string
	for _, installed := range packages.Find(p.paths, entries) {
		_, now := installed.Resources()
		state := string(now.State)
		if now.Entry.Scope == config.ScopeProject && !trusted {
			state += ", not trusted"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", now.Entry.Scope, now.Entry.Source, pinned(now.Pin), state)
		if now.Problem != "" {
			problems = append(problems, now.Problem)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, problem := range problems {
		warn(p.std.err, "%s", problem)
	}
	return nil
}
