package sdk

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Errors that callers may want to tell apart, with errors.Is. The error that
// wraps one has the text for people.
var (
	// ErrStale: the context is of a session that another has replaced.
	ErrStale = errors.New("the session of this context has been replaced")
	// ErrNotAllowed: the extension's manifest does not list the capability.
	ErrNotAllowed = errors.New("not among the capabilities of this extension")
	// ErrCommandOnly: only the handlers of commands may do this.
	ErrCommandOnly = errors.New("only commands may do this")
	// ErrInvalid: pi refused the arguments.
	ErrInvalid = errors.New("invalid arguments")
	// ErrUnavailable: this pi cannot do it, or has gone.
	ErrUnavailable = errors.New("not available")
	// ErrCancelled: an extension vetoed the change of session.
	ErrCancelled = errors.New("cancelled by an extension")
)

// hostError is a refusal by pi: the text is pi's, the kind one of the above.
type hostError struct {
	text string
	kind error
}

func (e *hostError) Error() string { return e.text }
func (e *hostError) Unwrap() error { return e.kind }

var kindOfReason = map[pb.Failure_Reason]error{
	pb.Failure_REASON_STALE_CONTEXT:      ErrStale,
	pb.Failure_REASON_MISSING_CAPABILITY: ErrNotAllowed,
	pb.Failure_REASON_COMMAND_ONLY:       ErrCommandOnly,
	pb.Failure_REASON_INVALID_ARGUMENT:   ErrInvalid,
	pb.Failure_REASON_UNAVAILABLE:        ErrUnavailable,
}

func failureError(f *pb.Failure) error {
	if f == nil {
		return nil
	}
	return &hostError{text: f.GetMessage(), kind: kindOfReason[f.GetReason()]}
}

// transportError explains a call that did not come back with an answer.
func transportError(ctx context.Context, method string, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.Canceled):
		return fmt.Errorf("%s: the run was aborted, or this handler took too long or has returned: "+
			"what is to be done all the same needs Extension.Background: %w", method, cause)
	case cause != nil:
		return fmt.Errorf("%s: %w", method, cause)
	}
	switch s := status.Convert(err); s.Code() {
	case codes.Unimplemented:
		return &hostError{text: method + ": this version of pi does not know it", kind: ErrUnavailable}
	case codes.Unavailable:
		return &hostError{text: method + ": pi has gone", kind: ErrUnavailable}
	default:
		return fmt.Errorf("%s: %s", method, s.Message())
	}
}
