package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/export"
)

// exportCommand is pi export.
func exportCommand(std streams) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "export <session> [file]",
		Short: "Write a session as a page of HTML that needs nothing else",
		Long:  `Write a session, named by a path or the beginning of an id, as a page of HTML that needs nothing else. Without a name for it, it is called pi-session-<session file>.html in the working folder.`,
		Args:  usage(cobra.RangeArgs(1, 2), sessionsFound),
		RunE: func(c *cobra.Command, arguments []string) error {
			p := &process{std: std, options: o, flags: c.Flags()}
			if err := p.readConfiguration(); err != nil {
				return err
			}
			log, err := p.readSession(arguments[0])
			if err != nil {
				return err
			}
			file := ""
			if len(arguments) > 1 {
				file = arguments[1]
			}
			path, err := writePage(export.Page{Log: log}, p.paths.Cwd, file)
			if err != nil {
				return err
			}
			fmt.Fprintln(std.out, filepath.ToSlash(path))
			return nil
		},
	}
	c.Flags().StringVar(&o.sessionDir, "session-dir", "", "folder of the session files")
	return c
}
