package sdk

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// guard runs a handler of the author's and gives its error, or its panic with
// the line that it came from.
func guard(run func() error) (failure *pb.Failure) {
	defer func() {
		if v := recover(); v != nil {
			failure = panicked(v, authorsFrames())
		}
	}()
	if err := run(); err != nil {
		return &pb.Failure{Message: err.Error()}
	}
	return nil
}

func panicked(value any, frames []runtime.Frame) *pb.Failure {
	f := &pb.Failure{Reason: pb.Failure_REASON_PANIC, Message: fmt.Sprint(value)}
	if len(frames) == 0 {
		f.Stack = string(debug.Stack())
		return f
	}
	f.Message += fmt.Sprintf(" (%s:%d)", filepath.Base(frames[0].File), frames[0].Line)
	var stack strings.Builder
	for _, frame := range frames {
		fmt.Fprintf(&stack, "%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
	}
	f.Stack = stack.String()
	return f
}

// authorsFrames are those of a panic, down to guard, that are neither the
// runtime's nor this package's.
func authorsFrames() []runtime.Frame {
	const (
		own   = "github.com/seed-54e836f5/pi/sdk."
		depth = 100
	)
	callers := make([]uintptr, depth)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	var found []runtime.Frame
	for behind, more := false, true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		switch name := frame.Function; {
		case name == "runtime.gopanic":
			behind = true
		case behind && name == own+"guard":
			return found
		case !behind, strings.HasPrefix(name, "runtime."), strings.HasPrefix(name, own):
		default:
			found = append(found, frame)
		}
	}
	return found
}
