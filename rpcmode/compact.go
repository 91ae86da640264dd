package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var compactRows = []row{
	{name: "compact", origin: both, handler: waits(compact),
		doc: "Summarises the conversation so far. A run that is on is aborted first."},
	{name: "set_auto_compaction", origin: both, handler: answers(setAutoCompaction),
		doc: "Says whether the conversation is summarised when the context window fills up, in this session."},
}

func compact(ctx context.Context, s *server, p wire.Compact) func() (wire.Compaction, error) {
	wait := s.session.Compact(ctx, p.CustomInstructions)
	return func() (wire.Compaction, error) {
		result, err := wait()
		if err != nil {
			return wire.Compaction{}, err
		}
		return wire.Compaction(*result), nil
	}
}

func setAutoCompaction(_ context.Context, s *server, p wire.Switch) (wire.None, error) {
	s.session.SetAutoCompaction(p.Enabled)
	return none, nil
}
