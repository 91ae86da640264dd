package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed-54e836f5/pi/core/config"
)

// authCommand is pi auth: the keys of model services.
func authCommand(std streams) *cobra.Command {
	c := &cobra.Command{Use: "auth", Short: "Store, list and remove the keys of model services"}
	run := func(f func(keys, []string) error) func(*cobra.Command, []string) error {
		return func(_ *cobra.Command, arguments []string) error {
			k, err := openKeys(std)
			if err != nil {
				return err
			}
			return f(k, arguments)
		}
	}
	c.AddCommand(&cobra.Command{
		Use:   "set <provider>",
		Short: "Store a key, read from standard input or asked for",
		Long: `Store a key in auth.json, which only you can read. It is read from standard input, or asked for without being shown:

  pi auth set anthropic
  pi auth set anthropic <key.txt

A text that begins with ! is a command that prints the key, such as !pass show anthropic; $NAME in it stands for a variable of the environment.`,
		Args: providerArgument,
		RunE: run(keys.set),
	}, &cobra.Command{
		Use:   "list",
		Short: "List the providers that have a key, and where it comes from",
		Args:  cobra.NoArgs,
		RunE:  run(keys.list),
	}, &cobra.Command{
		Use:   "remove <provider>",
		Short: "Remove a stored key",
		Args:  providerArgument,
		RunE:  run(keys.remove),
	})
	return c
}

// providerArgument wants one argument. It does not repeat others: one may be a
// key.
func providerArgument(_ *cobra.Command, arguments []string) error {
	switch len(arguments) {
	case 0:
		return errors.New("name the provider, such as anthropic: `pi --list-models` and models.json have the names")
	case 1:
		return nil
	}
	return errors.New("name the provider alone: a key is read from standard input, because arguments are seen by others and kept by shells")
}

type keys struct {
	std       streams
	paths     config.Paths
	auth      *config.Auth
	catalogue *config.Catalogue
}

func openKeys(std streams) (keys, error) {
	paths, err := folders("")
	if err != nil {
		return keys{}, err
	}
	k := keys{std: std, paths: paths, auth: config.NewAuth(paths.AuthFile())}
	var warnings []config.Warning
	k.catalogue, warnings = config.OpenCatalogue(config.CatalogueOptions{ModelsFile: paths.ModelsFile(), Auth: k.auth, Env: os.Getenv})
	for _, w := range warnings {
		warn(std.err, "%s", w)
	}
	return k, nil
}

func (k keys) set(arguments []string) error {
	provider := k.named(arguments[0])
	if !slices.Contains(k.catalogue.Providers(), provider) {
		warn(k.std.err, "no provider is called %q: the key is stored for when models.json or an extension has one", provider)
	}
	key, err := k.read(provider)
	if err != nil {
		return err
	}
	if err := k.auth.Set(provider, key); err != nil {
		return err
	}
	fmt.Fprintf(k.std.out, "The key of %s is stored in %s.\n", provider, k.paths.AuthFile())
	return nil
}

// named gives a provider's name as it is written.
func (k keys) named(name string) string {
	for _, id := range k.catalogue.Providers() {
		if strings.EqualFold(id, name) {
			return id
		}
	}
	return name
}

// read asks for the key where a person sits, without showing it, and reads
// standard input elsewhere.
func (k keys) read(provider string) (string, error) {
	var data []byte
	var err error
	if terminal := int(k.std.in.Fd()); term.IsTerminal(terminal) {
		fmt.Fprintf(k.std.err, "Key of %s (it is not shown): ", provider)
		data, err = term.ReadPassword(terminal)
		fmt.Fprintln(k.std.err)
	} else {
		data, err = io.ReadAll(io.LimitReader(k.std.in, 1<<20))
	}
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	key := strings.TrimSpace(string(data))
	switch {
	case key == "":
		return "", errors.New("no key was given on standard input: nothing is stored")
	case strings.ContainsAny(key, "\r\n"):
		return "", errors.New("what was given on standard input has several lines: give the key alone")
	}
	return key, nil
}

func (k keys) list([]string) error {
	stored, err := k.auth.List()
	if err != nil {
		return err
	}
	what := map[string]string{}
	names := k.catalogue.Providers()
	for _, c := range stored {
		what[c.Provider] = c.Describe()
		if !slices.Contains(names, c.Provider) {
			names = append(names, c.Provider)
		}
	}
	table := tabwriter.NewWriter(k.std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROVIDER\tKEY FROM\tUSABLE\tWHAT")
	rows := 0
	for _, name := range names {
		source := k.catalogue.KeySource(name)
		if source == "" && what[name] == "" {
			continue
		}
		about := ""
		if source == "auth.json" || source == "" {
			source, about = "auth.json", what[name]
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", name, source, yesNo(k.catalogue.HasCredentials(name)), about)
		rows++
	}
	if rows == 0 {
		fmt.Fprintln(k.std.err, "No provider has a key. Store one with `pi auth set <provider>`, or set a variable such as ANTHROPIC_API_KEY.")
		return nil
	}
	return table.Flush()
}

func (k keys) remove(arguments []string) error {
	provider := k.named(arguments[0])
	removed, err := k.auth.Remove(provider)
	if err != nil {
		return err
	}
	if !removed {
		return fmt.Errorf("%s has no key for %s", k.paths.AuthFile(), provider)
	}
	fmt.Fprintf(k.std.out, "The key of %s is removed.\n", provider)
	if source := k.catalogue.KeySource(provider); source != "" {
		fmt.Fprintf(k.std.out, "%s still gives one.\n", source)
	}
	return nil
}
