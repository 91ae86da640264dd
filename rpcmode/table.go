package rpcmode

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// origin says which reference documents a command.
type origin string

const (
	both     origin = "both"
	piOnly   origin = "pi"
	xcshOnly origin = "xcsh"
	added    origin = "added" // neither: it is ours
)

// row is one command: the table of rows drives validation, dispatch, the
// schemas and the reference page.
type row struct {
	name    string
	aliases []string
	doc     string
	origin  origin
	// patience is how long the command waits behind another that takes its
	// time: urgent, soon, or 0 for as long as it takes.
	patience time.Duration
	// begins is what the command sets going, if it can be kept from it: a
	// command that overtakes it and stops that has it withdrawn, and
	// withdrawn is what it then answers.
	begins    beginning
	stops     beginning
	withdrawn func(*reply)
	handler
}

// beginning is something that a command sets going.
type beginning string

const (
	aRun  beginning = "run"
	aBash beginning = "bash"
)

// handler carries out a command and knows the types of its fields and of its
// answer.
type handler struct {
	fields reflect.Type // a struct of package wire
	data   reflect.Type // of the answer; wire.None: it has no data
	run    func(ctx context.Context, s *server, members map[string]json.RawMessage, r *reply)
}

// answers makes a handler of a function that is over when it returns.
func answers[P, D any](f func(ctx context.Context, s *server, p P) (D, error)) handler {
	return handles[P, D](func(ctx context.Context, s *server, p P, r *reply) {
		data, err := f(ctx, s, p)
		r.finish(data, err)
	})
}

// waits makes a handler of a function that lets a command take effect and
// returns a wait for its outcome, which others need not wait for.
func waits[P, D any](f func(ctx context.Context, s *server, p P) (wait func() (D, error))) handler {
	return handles[P, D](func(ctx context.Context, s *server, p P, r *reply) {
		wait := f(ctx, s, p)
		s.own.Go(func() {
			data, err := wait()
			r.finish(data, err)
		})
	})
}

// handles makes a handler of a function that sees to the answer itself.
func handles[P, D any](f func(ctx context.Context, s *server, p P, r *reply)) handler {
	return handler{
		fields: reflect.TypeFor[P](), data: reflect.TypeFor[D](),
		run: func(ctx context.Context, s *server, members map[string]json.RawMessage, r *reply) {
			var p P
			if err := decodeFields(members, &p); err != nil {
				r.fail(err)
				return
			}
			f(ctx, s, p, r)
		},
	}
}

// table is all commands, in the order of the reference page.
var table []row

// byName finds a command by its name or an alias.
var byName map[string]*row

// The table is put together here because commands that describe the protocol
// read it.
func init() {
	table = slices.Concat(promptRows, queueRows, stateRows, modelRows, thinkingRows, compactRows, retryRows,
		bashRows, sessionRows, treeRows, commandRows, todoRows, hostToolRows, extensionRows, protocolRows)
	byName = map[string]*row{}
	for i := range table {
		for _, name := range append([]string{table[i].name}, table[i].aliases...) {
			if byName[name] != nil {
				panic("rpcmode: two commands are named " + name)
			}
			byName[name] = &table[i]
		}
		fieldsOf(table[i].fields)
	}
}

func unknownCommand(name string) error { return fmt.Errorf("Unknown command: %s", name) } //nolint:staticcheck // clients know these words

// none is what commands without data return.
var none wire.None
