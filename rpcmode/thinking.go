package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var thinkingRows = []row{
	{name: "set_thinking_level", origin: both, handler: answers(setThinkingLevel),
		doc: "Changes how much the model thinks, in this session, clamped to what it can."},
	{name: "cycle_thinking_level", origin: both, handler: answers(cycleThinkingLevel),
		doc: "Changes to the model's next level; null when it has only one."},
	{name: "get_available_thinking_levels", origin: piOnly, handler: answers(getAvailableThinkingLevels),
		doc: "Lists the levels of the current model."},
}

func setThinkingLevel(ctx context.Context, s *server, p wire.SetThinkingLevel) (wire.None, error) {
	s.session.SetThinkingLevel(ctx, p.Level)
	return none, nil
}

func cycleThinkingLevel(ctx context.Context, s *server, _ wire.Empty) (*wire.Level, error) {
	level, ok := s.session.CycleThinkingLevel(ctx)
	if !ok {
		return nil, nil
	}
	return &wire.Level{Level: level}, nil
}

func getAvailableThinkingLevels(_ context.Context, s *server, _ wire.Empty) (wire.Levels, error) {
	return wire.Levels{Levels: s.session.ThinkingLevels()}, nil
}
