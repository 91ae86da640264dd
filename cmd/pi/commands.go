package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-54e836f5/pi/core/config"
)

// subcommands are what the program does beside answering prompts, each in a
// file of its own.
var subcommands = []func(streams) *cobra.Command{
	trustCommand, authCommand, configCommand,
	installCommand, removeCommand, updateCommand, listCommand,
	sessionsCommand, exportCommand,
}

// addSubcommands adds them where the arguments call one, or ask for help. A
// subcommand is called by the first argument alone: everywhere else the same
// word is a prompt, and after -- in the first place too.
func addSubcommands(root *cobra.Command, std streams, arguments []string) (called bool) {
	if len(arguments) == 0 {
		return false
	}
	var commands []*cobra.Command
	for _, make := range subcommands {
		c := make(std)
		commands = append(commands, c)
		called = called || c.Name() == arguments[0] || c.HasAlias(arguments[0])
	}
	if called || arguments[0] == "--help" || arguments[0] == "-h" {
		root.AddCommand(commands...)
		root.SetHelpCommand(&cobra.Command{Hidden: true}) // help is a prompt like others
	}
	return called
}

// usage refuses another number of arguments than a command takes, and says how
// it is called and where what it takes is found.
func usage(count cobra.PositionalArgs, found string) cobra.PositionalArgs {
	return func(c *cobra.Command, arguments []string) error {
		if count(c, arguments) == nil {
			return nil
		}
		return fmt.Errorf("write `%s`: %s", strings.TrimSuffix(c.UseLine(), " [flags]"), found)
	}
}

// folders finds the folders of the user, with that of the process or another
// one as the project.
func folders(project string) (config.Paths, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return config.Paths{}, fmt.Errorf("find the working folder: %w", err)
	}
	if project != "" {
		cwd = absolute(cwd, []string{project})[0]
	}
	return config.FindPaths(nil, cwd)
}

// existingFolder gives the folder that an argument names, or the working
// folder without one.
func existingFolder(arguments []string) (string, error) {
	dir := "."
	if len(arguments) > 0 {
		dir = arguments[0]
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is no folder", dir)
	}
	return dir, nil
}

// canonicalFolder gives a folder the name that decisions are saved under.
func canonicalFolder(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// flagsOf lists the flags that were given, of those named.
func flagsOf(c *cobra.Command, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !given(c.Flags(), name) })
}

// oneOf refuses flags that cannot be meant together.
func oneOf(c *cobra.Command, names ...string) error {
	if got := flagsOf(c, slices.Clone(names)...); len(got) > 1 {
		return fmt.Errorf("--%s and --%s contradict each other: give one of them", got[0], got[1])
	}
	return nil
}
