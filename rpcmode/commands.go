package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var commandRows = []row{
	{name: "get_commands", origin: piOnly, handler: answers(getCommands),
		doc: "Lists what a prompt can call with a slash: extension commands, prompt templates, skills."},
}

func getCommands(_ context.Context, s *server, _ wire.Empty) (wire.Commands, error) {
	data := wire.Commands{Commands: []wire.Command{}}
	for _, c := range s.session.Commands() {
		data.Commands = append(data.Commands, wire.Command{
			Name: c.Name, Description: c.Description, Source: c.Source, Location: c.Location, Path: c.Path,
			SourceInfo: wire.SourceInfo(c.SourceInfo),
		})
	}
	return data, nil
}
