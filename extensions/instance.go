package extensions

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// instance is one running process of an extension, with the connection to it.
// After its death it is of no use; the extension then gets another one.
type instance struct {
	x       *extension
	process *process // nil: a process that somebody else started
	plugin  *plugin.Client
	conn    *grpc.ClientConn
	client  pb.ExtensionServiceClient
	token   string
	reg     *registration
	// updated is the number of the last update of the registration; extension.mu
	// guards it.
	updated uint64

	// life ends with the process; its cause says why in words.
	life context.Context
	die  context.CancelCauseFunc

	watch stopwatch
	batch *batch
	bus   *busQueue

	mu       sync.Mutex
	calls    map[string]*call
	nextCall uint64
	idle     chan struct{} // closed when calls is empty and somebody waits for it
}

// call is a handler of the extension that runs.
type call struct {
	id        string
	ctx       context.Context
	isCommand bool
}

// goneError is the end of a call whose process died.
type goneError struct{ text string }

func (e *goneError) Error() string { return e.text }

// watchProcess notices the end of the process and fails what runs in it.
func (i *instance) watchProcess() {
	<-i.process.exited
	text := "the extension " + i.x.source.name() + " " + i.process.status()
	if i.process.lines.sawPanic() {
		text = "the extension " + i.x.source.name() + " panicked"
	}
	if tail := i.process.lines.lastLines(); tail != "" {
		text += "; its last words were: " + tail
	}
	i.die(&goneError{text})
	i.plugin.Kill() // only tidies up: the process is gone
	i.x.host.service.forget(i)
}

// stop ends the process: it is asked over the connection, then as process.end
// says.
func (i *instance) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if i.client != nil {
		_, _ = i.client.Shutdown(ctx, &pb.ShutdownRequest{}) // what follows does not need its consent
	}
	if i.process == nil {
		i.abandon(&goneError{"the extension " + i.x.source.name() + " was left"})
		return
	}
	i.process.end()
	<-i.life.Done()
}

// abandon lets go of an instance that never came to be, or is not ours.
func (i *instance) abandon(why error) {
	if i.process != nil && i.process.cmd != nil && i.process.cmd.Process != nil {
		i.process.end()
	}
	i.die(why)
	if i.plugin != nil {
		i.plugin.Kill()
	}
	if i.conn != nil {
		_ = i.conn.Close() // go-plugin keeps that of a process which is not ours
	}
	i.x.host.service.forget(i)
}

// bound gives a context that also ends when the process does.
func (i *instance) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(i.life, func() { cancel(context.Cause(i.life)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// begin notes a call, so that what the extension asks meanwhile is known to
// belong to it. The context ends with the caller's, with the process, and
// when the time is up; end must be called.
func (i *instance) begin(ctx context.Context, limit time.Duration, isCommand bool) (*call, *pb.CallContext, func()) {
	ctx, unbind := i.bound(ctx)
	ctx, stop := i.watch.limit(ctx, limit)
	i.mu.Lock()
	i.nextCall++
	c := &call{id: fmt.Sprint(i.nextCall), ctx: ctx, isCommand: isCommand}
	i.calls[c.id] = c
	i.mu.Unlock()
	return c, i.callContext(c.id), func() {
		i.mu.Lock()
		delete(i.calls, c.id)
		if len(i.calls) == 0 && i.idle != nil {
			close(i.idle)
			i.idle = nil
		}
		i.mu.Unlock()
		stop()
		unbind()
	}
}

func (i *instance) callContext(id string) *pb.CallContext {
	s := i.x.host.theSession()
	return &pb.CallContext{
		CallId:         id,
		Generation:     wireGeneration(s),
		Cwd:            s.Cwd(),
		ProjectTrusted: i.x.host.isTrusted(),
	}
}

// wireGeneration is never 0, which stands for whichever session is current.
func wireGeneration(s Session) uint64 { return s.Generation() + 1 }

func (i *instance) callOf(id string) *call {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls[id]
}

// settled is closed when no call runs.
func (i *instance) settled() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.calls) == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if i.idle == nil {
		i.idle = make(chan struct{})
	}
	return i.idle
}

// callError says why a call came to nothing, in words for people. done is what
// was being done: "the handler of tool_call".
func (i *instance) callError(ctx context.Context, done string, err error) error {
	name := i.x.displayName()
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < drainTime {
		<-ctx.Done() // the extension knows of the deadline, and may have ended the call a moment before
	}
	cause := context.Cause(ctx)
	if cause == nil {
		cause = context.Cause(i.life) // it ends ctx as well, a moment later
	}
	var slow *slowError
	var gone *goneError
	switch {
	case errors.As(cause, &slow):
		return fmt.Errorf("extension %s: %s %w", name, done, slow)
	case errors.As(cause, &gone):
		return fmt.Errorf("extension %s: %s failed, because %w", name, done, gone)
	case cause != nil:
		return cause
	}
	switch s := status.Convert(err); s.Code() {
	case codes.Unavailable:
		// The connection broke before we saw the process end.
		select {
		case <-i.life.Done():
			return fmt.Errorf("extension %s: %s failed, because %w", name, done, context.Cause(i.life))
		case <-time.After(drainTime * 2):
		}
		return fmt.Errorf("extension %s: %s failed: the connection broke: %s", name, done, s.Message())
	case codes.ResourceExhausted:
		return fmt.Errorf("extension %s: %s sent or got more than the limit of %d MiB: %s", name, done, proto.MaxMessageBytes>>20, s.Message())
	case codes.Unimplemented:
		return fmt.Errorf("extension %s does not support %s: %s", name, done, s.Message())
	default:
		return fmt.Errorf("extension %s: %s failed: %s", name, done, s.Message())
	}
}

func (i *instance) pid() int {
	if i.process == nil || i.process.cmd == nil || i.process.cmd.Process == nil {
		return 0
	}
	return i.process.cmd.Process.Pid
}
