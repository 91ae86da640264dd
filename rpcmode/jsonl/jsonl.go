// Package jsonl frames records: one JSON value a line, UTF-8, ended by a line
// feed and by nothing else.
//
// It knows nothing of what the records mean, and imports the standard library
// only.
package jsonl

import "errors"

// MaxLine is the length in bytes, without the line end, of the longest line
// that a Reader gives unless it is told otherwise.
const MaxLine = 512 << 20

// The errors that callers tell apart.
var (
	// ErrTooLong stands for a line above the reader's limit. The line was
	// skipped; reading may go on with the next one.
	ErrTooLong = errors.New("line is too long")
	// ErrClosed is what a Writer answers after Close, or after it gave up.
	ErrClosed = errors.New("writer is closed")
)
