package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var modelRows = []row{
	{name: "set_model", origin: both, handler: answers(setModel),
		doc: "Changes the model of this session, from the next model call on."},
	{name: "cycle_model", origin: both, handler: answers(cycleModel),
		doc: "Changes to the next model; null when there is no other."},
	{name: "get_available_models", origin: both, handler: answers(getAvailableModels),
		doc: "Lists the models with credentials."},
}

func setModel(ctx context.Context, s *server, p wire.SetModel) (message.Model, error) {
	return s.session.SetModel(ctx, p.Provider, p.ModelID)
}

func cycleModel(ctx context.Context, s *server, _ wire.Empty) (*wire.Cycled, error) {
	cycled := s.session.CycleModel(ctx)
	if cycled == nil {
		return nil, nil
	}
	data := wire.Cycled(*cycled)
	return &data, nil
}

func getAvailableModels(_ context.Context, s *server, _ wire.Empty) (wire.Models, error) {
	return wire.Models{Models: notNil(s.session.AvailableModels())}, nil
}
