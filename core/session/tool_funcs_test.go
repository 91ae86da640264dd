package session_test

import (
	"context"
	"time"

	"github.com/seed-54e836f5/pi/core/tool"
)

// What scripted tools do.

func echoArguments(_ context.Context, call tool.Call, _ func(tool.Result)) (tool.Result, error) {
	return tool.TextResult(string(call.Arguments)), nil
}

func sayNothing(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
	return tool.Result{}, nil
}

// lasting takes a while, and stops when it is told to.
func lasting(d time.Duration) func(context.Context, tool.Call, func(tool.Result)) (tool.Result, error) {
	return func(ctx context.Context, _ tool.Call, _ func(tool.Result)) (tool.Result, error) {
		select {
		case <-time.After(d):
			return tool.TextResult("done"), nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	}
}
