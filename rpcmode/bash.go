package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var bashRows = []row{
	{name: "bash", origin: both, handler: handles[wire.Bash, wire.BashResult](bash), begins: aBash, withdrawn: withdrawBash,
		doc: "Runs a shell command. Its output streams as bash_execution_update, and reaches the model with the next prompt."},
	{name: "abort_bash", origin: both, patience: urgent, stops: aBash, handler: answers(abortBash),
		doc: "Stops every command that bash began. The model's own bash tool is stopped by abort."},
}

func bash(_ context.Context, s *server, p wire.Bash, r *reply) {
	wait := s.session.StartBash(session.BashCommand{ID: r.id, Command: p.Command, ExcludeFromContext: p.ExcludeFromContext})
	s.own.Go(func() {
		result, err := wait()
		r.finish(wire.BashResult(result), err)
	})
}

// withdrawBash answers for a command that was stopped before it began.
func withdrawBash(r *reply) { r.succeed(wire.BashResult{Cancelled: true}) }

func abortBash(_ context.Context, s *server, _ wire.Empty) (wire.None, error) {
	s.session.AbortBash()
	return none, nil
}
