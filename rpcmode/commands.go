package rpcmode

import (
	"cmp"
	"context"
	"time"

	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var commandRows = []row{
	{name: "get_commands", origin: piOnly, handler: answers(getCommands),
		doc: "Lists what a prompt can call with a slash: extension commands, prompt templates, skills."},
	{name: "complete_command", origin: added, handler: waits(completeCommand),
		doc: "Asks an extension what the arguments of its command may be. Answered when it knows, within two seconds; what comes behind does not wait for that."},
}

// extensionPatience is how long a list of commands waits for extensions that
// are still starting: usually they are up long before, and a client that asks
// but once should see their commands; one that is slow must not hold it up.
const extensionPatience = time.Second

func getCommands(ctx context.Context, s *server, _ wire.Empty) (wire.Commands, error) {
	s.awaitExtensions(ctx)
	data := wire.Commands{Commands: []wire.Command{}}
	for _, c := range s.session.Commands() {
		data.Commands = append(data.Commands, wireCommand(c))
	}
	return data, nil
}

func wireCommand(c session.Command) wire.Command {
	return wire.Command{
		Name: c.Name, Description: c.Description, Source: c.Source, Location: c.Location, Path: c.Path,
		SourceInfo: wire.SourceInfo(c.SourceInfo),
	}
}

func (s *server) awaitExtensions(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, extensionPatience)
	defer cancel()
	s.session.AwaitExtensions(ctx)
}

func completeCommand(ctx context.Context, s *server, p wire.CompleteCommand) func() (wire.Completions, error) {
	return func() (wire.Completions, error) {
		s.awaitExtensions(ctx)
		list, err := s.session.CompleteArguments(ctx, p.Name, p.Prefix)
		data := wire.Completions{Completions: []wire.Completion{}}
		for _, c := range list {
			data.Completions = append(data.Completions, wire.Completion{
				Value: c.Value, Label: cmp.Or(c.Label, c.Value), Description: c.Description,
			})
		}
		return data, err
	}
}
