package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
const closeTime = 800 * time.Millisecond

// lastMoments are what extensions have to end when the session took all of
// closeTime. Those that are not gone then see their standard input end.
const lastMoments = 100 * time.Millisecond

// running is a session with its extensions, in one of the modes.
type running struct {
	process *process
	session *session.Session
	host    *extensions.Host
	log     *slog.Logger
	ending  time.Time // when the end began
}

// begin puts a session and its extensions together. Nothing runs until start.
func (p *process) begin(ctx context.Context, mode string, user ui.UI, chain *hook.Chain) (*running, error) {
	log, err := p.openLog()
	if err != nil {
		return nil, err
	}
	if cwd := log.Header().Cwd; cwd != "" {
		p.beginIn(cwd)
	}
	p.projects.hooks = chain
	p.models = newModels(p.catalogue, p.settings())
	resources := &loader{process: p, life: ctx}
	r := &running{process: p, log: slog.New(slog.NewTextHandler(cleanWriter{p.std.err, p.catalogue}, nil))}
	r.host = p.newHost(chain, resources, r.log)
	if len(p.options.extensionFlags) > 0 && !r.host.Any() {
		err := fmt.Errorf("unknown flag --%s", slices.Sorted(maps.Keys(p.options.extensionFlags))[0])
		return nil, errors.Join(err, log.Close())
	}
	resources.up = !r.host.Any()
	chain.Report = func(e event.ExtensionError) { r.session.Emit(&e) }
	if r.session, err = p.compose(mode, log, user, r.host, chain, resources); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return r, nil
}

func (r *running) start() {
	r.host.Start(r.session)
	r.session.Start("startup", "")
}

func (r *running) noteEnding() { r.ending = time.Now() }

// end ends the extensions; the session is closed already. They have what it
// left of the time.
func (r *running) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeLeft(time.Now()))
	defer cancel()
	r.process.notes.say(r.process.notes.list()...) // a short life may have left some unsaid
	r.process.background.Close(0)
	if err := r.host.Close(ctx); err != nil {
		r.log.Warn("some extensions did not end in time", "error", err)
	}
}

func (r *running) timeLeft(now time.Time) time.Duration {
	return max(closeTime-now.Sub(r.ending), lastMoments)
}

// serve is rpc mode.
func (p *process) serve(ctx context.Context) (int, error) {
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	chain := &hook.Chain{}
	user := rpcmode.NewUI(p.dialect, os.Getenv("PI_RPC_EMIT_TITLE") == "1")
	user.Opened = func(e *event.UIPromptStart) { chain.Tell(ctx, e) }
	user.Closed = func(e *event.UIPromptEnd) { chain.Tell(ctx, e) }
	r, err := p.begin(ctx, "rpc", user, chain)
	if err != nil {
		return 0, err
	}
	err = rpcmode.Serve(ctx, rpcmode.Options{
		In: p.std.in, Out: p.std.records(), Session: r.session, Started: r.start, Ending: r.noteEnding, UI: user, Extensions: described{r.host},
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
	return p.runBatch(ctx, "json", p.std.records(), ui.None{}, rpcmode.RunJSON)
}

// printAnswer is text mode.
func (p *process) printAnswer(ctx context.Context) (int, error) {
	return p.runBatch(ctx, "print", p.std.out, reader{to: p.std.err}, rpcmode.RunPrint)
}

// reader is the user of print mode, who answers nothing and reads what is
// told: commands of extensions may do nothing else.
type reader struct {
	ui.None
	to io.Writer
}

// Tell implements ui.UI.
func (r reader) Tell(n ui.Notice) {
	if n.Method == ui.Notify {
		fmt.Fprintln(r.to, n.Message)
	}
}

func (p *process) runBatch(ctx context.Context, mode string, out io.Writer, user ui.UI, play func(context.Context, rpcmode.Batch) (bool, error)) (int, error) {
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	prompts, err := p.readPrompts(ctx)
	if ctx.Err() != nil {
		return signals.code(1), nil
	}
	if err != nil {
		return 0, err
	}
	if len(prompts) == 0 && !p.options.print && mode == "print" {
		warn(p.std.err, "there is no prompt, and pi has no screen of its own: name one (pi 'look at this folder'), or have a client drive pi --mode rpc; pi --help says more")
	}
	r, err := p.begin(ctx, mode, user, &hook.Chain{})
	if err != nil {
		return 0, err
	}
	ok, err := play(ctx, rpcmode.Batch{
		Out: out, Errors: p.std.err, Session: r.session, Started: r.start, Ending: r.noteEnding, Prompts: prompts,
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
