package rpcmode

import (
	"context"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

var retryRows = []row{
	{name: "set_auto_retry", origin: both, handler: answers(setAutoRetry),
		doc: "Says whether a model call that failed for a while is tried again, in this session."},
	{name: "abort_retry", origin: both, patience: urgent, handler: answers(abortRetry),
		doc: "Ends the wait before a retry; the run then ends with the error it had."},
}

func setAutoRetry(_ context.Context, s *server, p wire.Switch) (wire.None, error) {
	s.session.SetAutoRetry(p.Enabled)
	return none, nil
}

func abortRetry(_ context.Context, s *server, _ wire.Empty) (wire.None, error) {
	s.session.AbortRetry()
	return none, nil
}
