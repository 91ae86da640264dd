package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/config"
)

// trustCommand is pi trust: what of whose projects is loaded.
func trustCommand(std streams) *cobra.Command {
	var list, revoke, decline bool
	c := &cobra.Command{
		Use:   "trust [folder]",
		Short: "Allow a project's own settings, extensions, skills and prompts",
		Long: `Allow the settings, extensions, skills and prompts that a project has checked in, for the folder and all below it.

A change of its extensions, its settings or the locks of its packages asks again. For one run there is --approve.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := oneOf(c, "list", "revoke", "decline"); err != nil {
				return err
			}
			paths, err := folders("")
			if err != nil {
				return err
			}
			t := trusting{std, config.NewTrust(paths)}
			if list {
				return t.list()
			}
			if revoke {
				return t.revoke(arguments)
			}
			return t.save(arguments, !decline)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list the saved decisions")
	c.Flags().BoolVar(&revoke, "revoke", false, "take the decision about the folder back")
	c.Flags().BoolVar(&decline, "decline", false, "never load what the project has checked in")
	return c
}

type trusting struct {
	std   streams
	trust *config.Trust
}

func (t trusting) save(arguments []string, trusted bool) error {
	dir, err := existingFolder(arguments)
	if err != nil {
		return err
	}
	if err := t.trust.Save(dir, trusted); err != nil {
		return err
	}
	found := t.trust.Decide(dir, config.TrustFlags{NoApprove: true}, "").Found
	switch {
	case !trusted:
		fmt.Fprintf(t.std.out, "Declined: %s\n", dir)
	case len(found) == 0:
		fmt.Fprintf(t.std.out, "Trusted: %s\nIt has nothing yet that trust is needed for.\n", dir)
	default:
		fmt.Fprintf(t.std.out, "Trusted: %s\nFrom now on pi loads its %s.\n", dir, strings.Join(found, ", "))
	}
	return nil
}

// revoke may be about a folder that is gone.
func (t trusting) revoke(arguments []string) error {
	dir := "."
	if len(arguments) > 0 {
		dir = arguments[0]
	}
	was, err := t.trust.Revoke(dir)
	if err != nil {
		return err
	}
	if !was {
		return fmt.Errorf("there is no decision about exactly this folder: see `pi trust --list`")
	}
	fmt.Fprintln(t.std.out, "The decision is taken back.")
	return nil
}

func (t trusting) list() error {
	entries, err := t.trust.List()
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		fmt.Fprintln(t.std.err, "No decision is saved.")
		return nil
	}
	table := tabwriter.NewWriter(t.std.out, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(table, "%s\t%s\n", t.describe(e), e.Dir)
	}
	return table.Flush()
}

func (t trusting) describe(e config.TrustEntry) string {
	switch d := t.trust.Decide(e.Dir, config.TrustFlags{}, ""); {
	case !e.Trusted:
		return "declined"
	case d.Undecided:
		return "changed since"
	default:
		return "trusted"
	}
}
