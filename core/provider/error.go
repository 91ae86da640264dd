package provider

import (
	"errors"
	"fmt"
	"time"
)

// Class sorts the failures of model services by what can be done about them.
type Class string

// The classes of failures.
const (
	Retryable Class = "retryable" // the same request may work in a while
	Overflow  Class = "overflow"  // the request is larger than the context window
	Quota     Class = "quota"     // the account has nothing left
	Auth      Class = "auth"      // the key is missing or wrong
	Aborted   Class = "aborted"   // we gave up
	Invalid   Class = "invalid"   // the service does not accept the request
)

// Error is a failure of a model service.
type Error struct {
	Class  Class
	Status int // HTTP status; 0: there was none
	// Message is what the user and the session file get: status and body, or
	// what went wrong on the way. It never holds a key.
	Message string
	// RetryAfter is how long the service asked to wait; 0: it did not say.
	RetryAfter time.Duration
	Err        error // the cause; may be nil
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf gives the class of an error that a Provider returned; Invalid for
// one that is no *Error, and empty for nil.
func ClassOf(err error) Class {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Invalid
}

// Abort makes the error of a request that we gave up.
func Abort(err error) *Error {
	return &Error{Class: Aborted, Message: "The request was aborted", Err: err}
}

// Errorf makes an error of a class.
func Errorf(class Class, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Class: class, Message: err.Error(), Err: errors.Unwrap(err)}
}

// RetryAfter gives how long a service asked to wait; 0 when it did not say.
func RetryAfter(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}
