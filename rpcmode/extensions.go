package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var extensionRows = []row{
	{name: "get_extensions", origin: added, patience: soon, handler: waits(getExtensions),
		doc: "Tells of every extension: its process, what it registered, how it is doing."},
	{name: "reload", origin: added, handler: waits(reload),
		doc: "Brings settings, extensions, templates, skills, rules and context files to what is on disk. Waits until the session is idle."},
}

// Extensions tells of the extensions that run beside the session.
type Extensions interface {
	// Describe may be called from any goroutine, and does not wait for an
	// extension to answer.
	Describe() []wire.Extension
}

func getExtensions(_ context.Context, s *server, _ wire.Empty) func() (wire.Extensions, error) {
	return func() (wire.Extensions, error) {
		data := wire.Extensions{Extensions: []wire.Extension{}}
		if s.options.Extensions != nil {
			data.Extensions = append(data.Extensions, s.options.Extensions.Describe()...)
		}
		return data, nil
	}
}

func reload(ctx context.Context, s *server, _ wire.Empty) func() (wire.None, error) {
	wait := s.session.Reload(ctx)
	return func() (wire.None, error) { return none, wait() }
}
