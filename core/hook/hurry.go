package hook

import "context"

type hurriedKey struct{}

// Hurried marks the context of handlers that a client waits for, such as those
// that learn how an aborted run ended. A Listener gives each of them little
// time, however much its kind has otherwise; a dialog that it opens does not
// count. The mark is passed on to contexts that are made from the one returned.
func Hurried(ctx context.Context) context.Context {
	return context.WithValue(ctx, hurriedKey{}, true)
}

// IsHurried says whether ctx carries the mark of Hurried.
func IsHurried(ctx context.Context) bool { return ctx.Value(hurriedKey{}) != nil }
