package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/extensions"
	"github.com/seed-54e836f5/pi/rpcmode"
)

// closeTime bounds the end of the process, so that whoever waits for it after
// a signal is never kept for a second.
const closeTime = 900 * time.Millisecond

// running is a session with its extensions, in one of the modes.
type running struct {
	session *session.Session
	host    *extensions.Host
	log     *slog.Logger
}

// begin puts a session and its extensions together. Nothing runs until start.
func (p *process) begin(mode string, user ui.UI, chain *hook.Chain) (*running, error) {
	r := &running{log: slog.New(slog.NewTextHandler(p.std.err, nil))}
	r.host = p.newHost(chain, r.log)
	if len(p.options.extensionFlags) > 0 && !r.host.Any() {
		return nil, fmt.Errorf("unknown flag --%s", slices.Sorted(maps.Keys(p.options.extensionFlags))[0])
	}
	chain.Report = func(e event.ExtensionError) { r.session.Emit(&e) }
	s, err := p.compose(mode, user, r.host, chain)
	if err != nil {
		return nil, err
	}
	r.session = s
	return r, nil
}

func (r *running) start() {
	r.host.Start(r.session)
	r.session.Start("startup", "")
}

// end ends the extensions; the session is closed already.
func (r *running) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err := r.host.Close(ctx); err != nil {
		r.log.Warn("some extensions did not end in time", "error", err)
	}
}

// serve is rpc mode.
func (p *process) serve(ctx context.Context) (int, error) {
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	chain := &hook.Chain{}
	user := rpcmode.NewUI(p.dialect, os.Getenv("PI_RPC_EMIT_TITLE") == "1")
	user.Opened = func(e *event.UIPromptStart) { chain.Tell(ctx, e) }
	user.Closed = func(e *event.UIPromptEnd) { chain.Tell(ctx, e) }
	r, err := p.begin("rpc", user, chain)
	if err != nil {
		return 0, err
	}
	err = rpcmode.Serve(ctx, rpcmode.Options{
		In: p.std.in, Out: p.std.out, Session: r.session, Started: r.start, UI: user, Extensions: described{r.host},
		ListSessions: p.listSessions(r.session), ExportHTML: exporter(r.session),
		Dialect: p.dialect, Version: version, Log: r.log, CloseTime: closeTime,
	})
	r.end(ctx)
	if err != nil {
		r.log.Error(err.Error())
	}
	return signals.code(0), nil
}

// streamJSON is json mode.
func (p *process) streamJSON(ctx context.Context) (int, error) {
	return p.runBatch(ctx, "json", rpcmode.RunJSON)
}

// printAnswer is text mode.
func (p *process) printAnswer(ctx context.Context) (int, error) {
	return p.runBatch(ctx, "print", rpcmode.RunPrint)
}

func (p *process) runBatch(ctx context.Context, mode string, play func(context.Context, rpcmode.Batch) (bool, error)) (int, error) {
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	prompts, err := p.readPrompts()
	if err != nil {
		return 0, err
	}
	r, err := p.begin(mode, ui.None{}, &hook.Chain{})
	if err != nil {
		return 0, err
	}
	ok, err := play(ctx, rpcmode.Batch{
		Out: p.std.out, Errors: p.std.err, Session: r.session, Started: r.start, Prompts: prompts,
		Header: r.session.Header(), Log: r.log, CloseTime: closeTime,
	})
	r.end(ctx)
	if err != nil {
		return 0, err
	}
	if !ok {
		return signals.code(1), nil
	}
	return signals.code(0), nil
}
