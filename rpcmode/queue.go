package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var queueRows = []row{
	{name: "clear_queue", origin: piOnly, handler: answers(clearQueue),
		doc: "Takes everything out of both queues and gives the texts back."},
	{name: "set_steering_mode", origin: both, handler: answers(setSteeringMode),
		doc: "Says how many steering messages a turn takes, in this session."},
	{name: "set_follow_up_mode", origin: both, handler: answers(setFollowUpMode),
		doc: "Says how many follow-ups are delivered at a time, in this session."},
	{name: "set_interrupt_mode", origin: xcshOnly, handler: answers(setInterruptMode),
		doc: "Says whether steering cuts off a batch of tool calls, in this session."},
}

func clearQueue(_ context.Context, s *server, _ wire.Empty) (wire.Queue, error) {
	steering, followUp := s.session.ClearQueue()
	return wire.Queue{Steering: notNil(steering), FollowUp: notNil(followUp)}, nil
}

func setSteeringMode(_ context.Context, s *server, p wire.SetQueueMode) (wire.None, error) {
	s.session.SetSteeringMode(session.QueueMode(p.Mode))
	return none, nil
}

func setFollowUpMode(_ context.Context, s *server, p wire.SetQueueMode) (wire.None, error) {
	s.session.SetFollowUpMode(session.QueueMode(p.Mode))
	return none, nil
}

func setInterruptMode(_ context.Context, s *server, p wire.SetInterruptMode) (wire.None, error) {
	s.session.SetInterruptMode(session.InterruptMode(p.Mode))
	return none, nil
}

// notNil makes sure that a list is written as one.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
