package rpcmode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// DefaultCloseTime is how long the end of the session is waited for when
// Options do not say.
const DefaultCloseTime = 3 * time.Second

// Options are what Serve needs.
type Options struct {
	// In is where commands come from, and Out where frames go. Nobody else
	// may use them meanwhile.
	In  io.Reader
	Out io.Writer
	// Session is what the client drives. Serve closes it.
	Session *session.Session
	// Started is called once events reach the client, so that those of the
	// session's start do; nil: the session has started already.
	Started func()
	// Ending is called once when the end begins, from which CloseTime counts;
	// nil: nobody wants to know.
	Ending func()
	// UI is what the session was made with; nil: it has another one, and the
	// client's answers go nowhere.
	UI *UI
	// Extensions tells of the extensions; nil: there are none.
	Extensions Extensions
	// ListSessions lists session files, those of the session's folder or all;
	// nil: they are not kept. It is called from any goroutine.
	ListSessions func(ctx context.Context, all bool) ([]store.Summary, error)
	// ExportHTML writes the session to a file and gives its absolute path; an
	// empty path means one of its choice. It is called from any goroutine. Nil:
	// there is no export.
	ExportHTML func(ctx context.Context, path string) (string, error)

	Dialect Dialect // empty: Pi
	Version string  // as get_protocol shows it
	// Log gets what has no place on the wire; nil: nobody.
	Log *slog.Logger
	// CloseTime bounds the wait for the session's end, and, where ctx ended,
	// for that and the client's reading together; 0: DefaultCloseTime.
	CloseTime time.Duration
}

// Serve lets a client drive a session until its input ends, ctx ends, the
// session asks for shutdown, or nobody reads the output any more. Then it
// aborts what runs, writes its end and the answers that are owed, closes the
// session, and returns. The error is that of a stream or of closing the
// session; a client that has gone is none.
//
// A read from In cannot be cut short on every system: when Serve ends for
// another reason than the end of the input, one goroutine may stay behind in
// such a read, and does nothing with what it gets.
func Serve(ctx context.Context, o Options) error {
	s := newServer(ctx, o)
	if err := s.begin(); err != nil {
		s.log.Debug("the first frames could not be written", "error", err)
	}
	unsubscribe := s.session.Subscribe(s.publish)
	if o.Started != nil {
		o.Started()
	}
	go s.readInput()
	select {
	case <-s.inputEnded:
	case <-ctx.Done():
	case <-s.session.ShutdownRequested():
	case <-s.out.Failed():
	}
	if o.Ending != nil {
		o.Ending()
	}
	deadline := time.Now().Add(s.options.CloseTime)
	err := s.end(ctx, deadline)
	unsubscribe()
	return errors.Join(err, s.closeOutput(ctx, deadline))
}

// server is one Serve.
type server struct {
	options Options
	dialect Dialect
	session *session.Session
	log     *slog.Logger
	out     *jsonl.Writer
	encoder encoder
	ui      *UI
	host    *host
	todos   *todos
	lane    *lane
	// deciding counts the prompts that the session has not decided on.
	deciding atomic.Int64

	ctx        context.Context // of commands
	cancel     context.CancelFunc
	own        sync.WaitGroup // of commands whose outcome takes its time
	inputEnded chan struct{}
	inputErr   error // set before inputEnded is closed
}

func newServer(ctx context.Context, o Options) *server {
	if o.Dialect == "" {
		o.Dialect = Pi
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.UI == nil {
		o.UI = NewUI(o.Dialect, false)
	}
	if o.CloseTime == 0 {
		o.CloseTime = DefaultCloseTime
	}
	s := &server{
		options: o, dialect: o.Dialect, session: o.Session, log: o.Log, ui: o.UI,
		out: jsonl.NewWriter(o.Out), encoder: encoder{o.Dialect}, todos: &todos{session: o.Session}, lane: newLane(),
		inputEnded: make(chan struct{}),
	}
	s.host = newHost(s.out)
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// begin writes what comes first, and connects what has waited for that.
func (s *server) begin() error {
	if s.dialect == XCSH {
		if err := s.out.Push([]byte(`{"type":"` + wire.TypeReady + `"}`)); err != nil {
			return err
		}
		s.todos.offerTool()
	}
	return s.ui.connect(s.out)
}

// end brings the session to its end: what was read takes effect, so that the
// order holds to the last; what runs is aborted; dialogs and host tools end,
// for what waits for them could not otherwise; the session is closed, and
// what is owed is answered. Whoever ended us by ctx waits for the output as
// well, which then is left a part of the time.
func (s *server) end(ctx context.Context, deadline time.Time) error {
	if ctx.Err() != nil {
		deadline = deadline.Add(-s.outputTime())
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	s.lane.close()
	quick := true
	select {
	case <-s.lane.done:
	case <-time.After(urgent):
		quick = false
	}
	idle := s.session.AbortInTurn()
	s.ui.disconnect()
	s.host.disconnect()
	s.cancel()
	s.waitLane(ctx, func() {
		if !quick {
			idle = s.session.AbortInTurn() // what has begun since
		}
		<-idle // a session that is closed takes nothing of what is still in line
	})
	err := s.session.Close(ctx, "quit")
	if err != nil {
		err = fmt.Errorf("close the session: %w", err)
	}
	s.waitOwed(ctx)
	return err
}

// waitLane waits for the commands that were read, and for what then waits for
// their effects. One that tells the client something, and a client that does
// not read, would keep each other for ever: it is left behind then, and ends
// with the output. Half of the time is kept for the session's own end.
func (s *server) waitLane(ctx context.Context, then func()) {
	ctx, cancel := context.WithTimeout(ctx, s.options.CloseTime/2)
	defer cancel()
	if !ends(ctx, func() { <-s.lane.done; s.lane.own.Wait(); then() }) {
		s.log.Warn("some commands were cut off: they did not end in time")
	}
}

// waitOwed waits for the answers that are still to come.
func (s *server) waitOwed(ctx context.Context) {
	if !ends(ctx, s.own.Wait) {
		s.log.Warn("some commands were not answered: they did not end in time")
	}
}

// ends says whether wait returns before ctx ends.
func ends(ctx context.Context, wait func()) bool {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// closeOutput writes what is left. Whoever ended us by ctx does not wait for
// as long as a client may take to read.
func (s *server) closeOutput(ctx context.Context, deadline time.Time) error {
	closing := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		closing, cancel = context.WithTimeout(closing, max(time.Until(deadline), s.outputTime()))
		defer cancel()
	}
	err := s.out.Close(closing)
	if err == nil || clientGone(err) {
		return s.inputFailure()
	}
	return fmt.Errorf("write to the client: %w", err)
}

// outputTime is what of CloseTime a client has at least to read what is left.
func (s *server) outputTime() time.Duration { return s.options.CloseTime / 4 }

func (s *server) inputFailure() error {
	select {
	case <-s.inputEnded:
		return s.inputErr
	default:
		return nil
	}
}

// clientGone says whether an error of the output only means that nobody is
// there to read it.
func clientGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
