// Package tool says what a tool is: a specification that the model sees, and
// a function that runs a call. The built-in ones live in its subfolders.
//
// It imports the standard library, core/message and a JSON Schema library
// only.
package tool

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/seed-54e836f5/pi/core/message"
)

// Spec is what the model and the system prompt are told about a tool.
type Spec struct {
	Name        string
	Label       string // for people; empty: the name
	Description string
	Parameters  json.RawMessage // JSON Schema of the arguments, an object
	// Prepare mends arguments before Validate looks at them, for mistakes that
	// models are known to make with this tool. It is given a JSON object and
	// gives one back; what it cannot mend it leaves for Validate to refuse.
	// nil: nothing is mended.
	Prepare func(json.RawMessage) json.RawMessage
	// Snippet is the tool's line in the system prompt's list; empty: it is
	// not listed there.
	Snippet string
	// Guidelines are sentences for the system prompt, there while the tool is
	// active.
	Guidelines []string
	// Sequential tools are not run at the same time as others of the same
	// answer.
	Sequential bool
	// Target names what a call with these arguments changes, a file for
	// instance, without changing it. Calls of one answer that have the same
	// target run one after the other, in the order of the answer; empty: the
	// call waits for none. nil: no call has one.
	Target func(arguments json.RawMessage) string
	// Hidden tools are off until somebody switches them on.
	Hidden bool
}

// ErrReported is the error of a call whose result already says what went
// wrong: nothing is added to it. Tools may wrap it.
var ErrReported = errors.New("the tool has reported a failure")

// ErrAborted is the error of a call that was aborted, for tools that would
// else give the error of their context: the model reads the text.
var ErrAborted = errors.New("the call was aborted")

// Call is one call by a model.
type Call struct {
	ID        string
	Name      string
	Arguments json.RawMessage // a JSON object that fits the parameters
}

// Result is what a call gave, also while it is still running. Its JSON form
// is that of result and partialResult on the wire.
type Result struct {
	Content []message.Block `json:"content"`
	Details json.RawMessage `json:"details,omitempty"`
	Usage   *message.Usage  `json:"usage,omitempty"`
	// Terminate asks to end the run without another model call; it counts
	// when all calls of the answer ask for it.
	Terminate bool `json:"terminate,omitempty"`
}

// Tool runs calls. Run may be called from several goroutines at once.
type Tool interface {
	// Spec is the same at each call for as long as the tool is registered.
	Spec() Spec
	// Run carries out one call whose arguments were checked against the
	// schema. It calls update, if not nil, with the result so far, from its
	// own goroutine and never after it returned. An error is a failure that
	// the model is told: its text, behind the content of the result if there
	// is any. When ctx ends it stops soon, and says what it had.
	Run(ctx context.Context, call Call, update func(Result)) (Result, error)
}

// TextResult makes a result of one text.
func TextResult(text string) Result {
	return Result{Content: []message.Block{message.TextBlock(text)}}
}
