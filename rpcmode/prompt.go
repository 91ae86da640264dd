package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var promptRows = []row{
	{name: "prompt", origin: both, handler: handles[wire.Prompt, wire.Accepted](prompt), begins: aRun, withdrawn: withdrawPrompt,
		doc: "Sends a text to the model, or runs a slash command. Answered when it is accepted, queued or handled; what comes of it are events."},
	{name: "steer", origin: both, handler: handles[wire.Text, wire.Accepted](steer),
		doc: "Queues a message that is delivered after the current turn's tool calls, before the next model call."},
	{name: "follow_up", origin: both, handler: handles[wire.Text, wire.Accepted](followUp),
		doc: "Queues a message that is delivered when no tool calls and no steering remain."},
	{name: "abort", origin: both, patience: urgent, stops: aRun, handler: waits(abort),
		doc: "Stops the run, its dialogs and tools, a wait before a retry and a compaction. Answered when the session is idle."},
	{name: "abort_and_prompt", origin: xcshOnly, handler: handles[wire.Text, wire.Accepted](abortAndPrompt), begins: aRun, withdrawn: withdrawPrompt,
		doc: "Aborts, and sends the prompt when the session is idle."},
}

func withdrawPrompt(r *reply) { r.fail(session.ErrWithdrawn) }

func prompt(_ context.Context, s *server, p wire.Prompt, r *reply) {
	s.session.Prompt(session.Prompt{
		Text: p.Message, Images: images(p.Images), Behavior: session.Behavior(p.StreamingBehavior), Source: "rpc",
	}, s.acceptance(p.Message, r))
}

func steer(_ context.Context, s *server, p wire.Text, r *reply) {
	s.session.Steer(textPrompt(p), answerAccepted(r))
}

func followUp(_ context.Context, s *server, p wire.Text, r *reply) {
	s.session.FollowUp(textPrompt(p), answerAccepted(r))
}

func abort(_ context.Context, s *server, _ wire.Empty) func() (wire.None, error) {
	idle := s.session.Abort()
	return func() (wire.None, error) {
		<-idle
		return none, nil
	}
}

// abortAndPrompt holds up what comes behind it until the prompt is in: that
// was sent for the new run, not for the one that ends.
func abortAndPrompt(_ context.Context, s *server, p wire.Text, r *reply) {
	acceptance := s.acceptance(p.Message, r)
	<-s.session.Abort()
	s.session.Prompt(textPrompt(p), acceptance)
}

// acceptance answers a prompt once it was accepted. Clients of the xcsh
// dialect are answered at once, and again if it then fails. Until the session
// has decided on it, get_state says that a run is on: whoever asks behind a
// prompt wants to see its effect.
func (s *server) acceptance(text string, r *reply) session.Accepted {
	var run int64
	if s.session.BeginsRun(text) {
		run = 1
	}
	s.deciding.Add(run)
	if s.dialect == XCSH {
		r.succeed(none)
	}
	return func(d session.Disposition, err error) {
		s.deciding.Add(-run)
		if err != nil || s.dialect != XCSH {
			r.finish(accepted(d), err)
		}
	}
}

func answerAccepted(r *reply) session.Accepted {
	return func(d session.Disposition, err error) { r.finish(accepted(d), err) }
}

func accepted(d session.Disposition) wire.Accepted { return wire.Accepted{Disposition: string(d)} }

func textPrompt(p wire.Text) session.Prompt {
	return session.Prompt{Text: p.Message, Images: images(p.Images), Source: "rpc"}
}

func images(in []wire.Image) []message.Block {
	var blocks []message.Block
	for _, image := range in {
		blocks = append(blocks, message.ImageBlock(image.Data, image.MimeType))
	}
	return blocks
}
