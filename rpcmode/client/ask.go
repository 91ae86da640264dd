package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// Ask sends a prompt to an idle agent, waits until everything that it began
// has settled, and gives the last answer: nil when the prompt was a command
// that the model had no part in. An answer that failed is an error too, with
// the model service's reason. When ctx ends, so does the wait; Abort ends the
// run.
func (c *Client) Ask(ctx context.Context, text string) (*message.Assistant, error) {
	sub := c.Subscribe()
	defer sub.Close()
	stop := context.AfterFunc(ctx, sub.Close)
	defer stop()
	if err := c.Prompt(ctx, wire.Prompt{Message: text}); err != nil {
		return nil, err
	}
	// A prompt that a command or a hook took settles nothing. The agent says
	// that it is streaming from the acceptance of a prompt until just before
	// it settles; if it does not say so, and no run has begun, none will.
	state, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	if !state.IsStreaming && !sub.holds(event.KindAgentStart) {
		sub.finish()
		return lastAnswer(ctx, c, sub, true)
	}
	return lastAnswer(ctx, c, sub, false)
}

// lastAnswer gives the answer that the events end with. over says that no
// agent_settled belongs to them.
func lastAnswer(ctx context.Context, c *Client, sub *Subscription, over bool) (last *message.Assistant, err error) {
	settled := over
	for e := range sub.Events() {
		switch e := e.(type) {
		case *event.MessageEnd:
			if answer, ok := e.Message.(*message.Assistant); ok {
				last = answer
			}
		case *LateFailure:
			return nil, &CommandError{Command: e.Command, Message: e.Message}
		case *event.AgentSettled:
			settled = true
			sub.finish()
		}
	}
	switch {
	case ctx.Err() != nil:
		return last, fmt.Errorf("wait for the answer: %w", ctx.Err())
	case !settled && c.Err() != nil:
		return last, c.Err()
	case last != nil && (last.StopReason == message.StopError || last.StopReason == message.StopAborted):
		return last, errors.New(last.ErrorMessage)
	}
	return last, nil
}
