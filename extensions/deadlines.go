package extensions

import (
	"context"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/proto"
)

// deadlines are the defaults of kinds that need another one. The hooks that
// may ask a model for a summary get its time; the end of pi does not wait.
var deadlines = map[event.Kind]time.Duration{
	event.KindSessionBeforeCompact:  5 * time.Minute,
	event.KindSessionBeforeTree:     5 * time.Minute,
	event.KindUserBash:              10 * time.Minute,
	event.KindSessionShutdown:       10 * time.Second,
	event.KindMessageUpdate:         time.Minute,
	event.KindToolExecutionUpdate:   time.Minute,
	event.KindBeforeProviderRequest: time.Minute,
	proto.KindBus:                   30 * time.Second,
}

// quitDeadline limits session_shutdown when pi ends: clients count on a second
// for all of it.
const quitDeadline = 400 * time.Millisecond

// hurriedDeadline limits handlers that a client waits for, as after an abort.
// Several may follow each other, and the client must not take pi for dead.
const hurriedDeadline = 2 * time.Second

// completeDeadline limits the completion of arguments, which somebody waits
// for with a finger on a key.
const completeDeadline = 2 * time.Second

// deadlineOf is the user's of the kind, else the manifest's, else the
// handler's, else the default, and less where ctx is in a hurry. 0 is none.
func (x *extension) deadlineOf(ctx context.Context, e event.Event, registered time.Duration) time.Duration {
	if x.host.debugging() {
		return 0
	}
	if isQuit(e) {
		return quitDeadline
	}
	d := x.deadlineOfKind(e.Kind(), registered)
	if hook.IsHurried(ctx) && (d == 0 || d > hurriedDeadline) {
		return hurriedDeadline
	}
	return d
}

func (x *extension) deadlineOfKind(kind event.Kind, registered time.Duration) time.Duration {
	if x.host.debugging() {
		return 0
	}
	if d, ok := x.host.options.Deadlines[kind]; ok {
		return d
	}
	if m := x.source.manifest; m != nil {
		if d, ok := m.Deadlines[string(kind)]; ok {
			return time.Duration(d)
		}
	}
	if registered > 0 {
		return registered
	}
	if d, ok := deadlines[kind]; ok {
		return d
	}
	return x.host.inForce().HookDeadline
}

// debugging says whether an author has an extension under a debugger, where
// time means nothing.
func (h *Host) debugging() bool {
	return lookup(h.options.Env, proto.DebugEnv) != "" || lookup(h.options.Env, proto.ReattachEnv) != ""
}
