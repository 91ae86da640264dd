// Command bench measures agents side by side, the way a client meets them: it
// spawns them, writes commands to their stdin, and reads their stdout. The
// model is the scripted server of cmd/internal/modelserver.
//
//	go build -o bin/pi ./cmd/pi
//	go run ./cmd/bench -pi bin/pi
//	go run ./cmd/bench -pi bin/pi -reference 'node /path/to/cli.js'
//
// With -extension it also measures a start with that extension (an executable,
// for pi only). The extension that sees the deltas of an answer is this program
// itself. It prints a table in Markdown: the median of each measure, and
// with a reference the median of the ratios of the runs, which were taken in
// turns so that a busy machine is busy for both.
//
// It imports the model server, the writer of session files and, for that
// extension, sdk and proto, and nothing else of this module: an agent is a
// command to it. It needs Linux, whose /proc says what processes use.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	if isWatcher() {
		sdk.Main(watch)
	}
	var o options
	flag.StringVar(&o.pi, "pi", "", "the command of pi, parted by blanks")
	flag.StringVar(&o.reference, "reference", "", "the command of an agent to compare with")
	flag.StringVar(&o.extension, "extension", "", "an extension to start pi with")
	flag.IntVar(&o.rounds, "rounds", 11, "runs of each measure")
	flag.IntVar(&o.deltas, "deltas", 20000, "deltas of the long answer")
	flag.Int64Var(&o.session, "session", 32<<20, "bytes of the large session")
	flag.StringVar(&o.only, "only", "", "measure only what has this in its name")
	flag.BoolVar(&o.verbose, "v", false, "print every run")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	pi, reference, extension string
	rounds, deltas           int
	session                  int64
	only                     string
	verbose                  bool
}

func run(o options) error {
	if o.pi == "" {
		return errors.New("-pi is missing")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	site, err := newSite(o)
	if err != nil {
		return err
	}
	defer site.close()
	var rows []row
	for _, m := range measures {
		if !strings.Contains(m.name, o.only) || m.extension && o.extension == "" {
			continue
		}
		r, err := site.take(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		rows = append(rows, r...)
	}
	printTable(os.Stdout, rows, o.reference != "")
	return nil
}
