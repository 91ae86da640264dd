package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-54e836f5/pi/rpcmode"
)

// run carries the command line out and gives the exit code.
func run(ctx context.Context, std streams, argv []string) int {
	var o options
	code := 0
	command := newCommand(&o, func(c *cobra.Command) error {
		var err error
		code, err = start(c.Context(), std, &o, c.Flags(), argv[0])
		return err
	})
	arguments := argv[1:]
	if !addSubcommands(command, std, arguments) {
		arguments = o.setUnknown(command.Flags(), expandShorthands(command.Flags(), arguments))
	}
	command.SetArgs(arguments)
	command.SetOut(std.out)
	command.SetErr(std.err)
	if err := command.ExecuteContext(ctx); err != nil {
		if !seenEnough(std, err) {
			fmt.Fprintf(std.err, "Error: %v\n", err)
		}
		return 1
	}
	return code
}

// seenEnough says whether an error is only that nobody reads the output any
// more, such as head, which has its lines.
func seenEnough(std streams, err error) bool {
	var failed *fs.PathError
	return errors.As(err, &failed) && failed.Path == std.out.Name() && errors.Is(failed, syscall.EPIPE)
}

// start does what the flags ask for.
func start(ctx context.Context, std streams, o *options, flags *pflag.FlagSet, name string) (int, error) {
	dialect, err := chooseDialect(o.dialect, name)
	if err != nil {
		return 0, err
	}
	p := &process{std: std, options: o, flags: flags, dialect: dialect}
	if err := p.readConfiguration(); err != nil {
		return 0, err
	}
	if o.search != "" {
		return 0, p.listModels()
	}
	switch o.mode {
	case "rpc":
		return p.serve(ctx)
	case "json":
		return p.streamJSON(ctx)
	case "", "text":
	default:
		warn(std.err, "unknown mode %q: the modes are text, json and rpc; the answer is printed as text", o.mode)
	}
	return p.printAnswer(ctx)
}

// chooseDialect finds the rpc dialect: by flag, by environment, or by the
// name that the program was called by.
func chooseDialect(flag, name string) (rpcmode.Dialect, error) {
	if flag != "" {
		return rpcmode.ParseDialect(flag)
	}
	if set := os.Getenv("PI_RPC_DIALECT"); set != "" {
		dialect, err := rpcmode.ParseDialect(set)
		if err != nil {
			return "", fmt.Errorf("PI_RPC_DIALECT: %w", err)
		}
		return dialect, nil
	}
	if strings.TrimSuffix(filepath.Base(name), ".exe") == string(rpcmode.XCSH) {
		return rpcmode.XCSH, nil
	}
	return rpcmode.Pi, nil
}
