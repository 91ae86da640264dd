// Package ui is how the agent and its extensions speak to a person, whoever
// shows it: Ask for dialogs, which are answered, and Tell for notices, which
// are not.
//
// It imports the standard library only.
package ui

import (
	"context"
	"time"
)

// Method names a dialog or a notice, as on the wire.
type Method string

// The dialogs and notices. The first four are for Ask, the rest for Tell.
const (
	Select        Method = "select"
	Confirm       Method = "confirm"
	Input         Method = "input"
	Editor        Method = "editor"
	Notify        Method = "notify"
	SetStatus     Method = "setStatus"
	SetWidget     Method = "setWidget"
	SetTitle      Method = "setTitle"
	SetEditorText Method = "set_editor_text"
)

// UI shows dialogs and notices. Implementations may be called from any
// goroutine, several dialogs at once.
type UI interface {
	// Ask shows a dialog and waits for the answer. Ended by the person, by
	// the dialog's timeout, by ctx or by the end of the connection it gives
	// the answer with Dismissed set and no error; errors are for dialogs that
	// make no sense.
	Ask(ctx context.Context, d Dialog) (Answer, error)
	// Tell shows a notice. It may wait until there is room to write.
	Tell(n Notice)
	// Interactive says whether anybody can answer. Without that, Ask returns
	// a dismissed answer at once.
	Interactive() bool
}

// Dialog is a question.
type Dialog struct {
	Method      Method
	Title       string
	Message     string        // confirm
	Options     []string      // select
	Placeholder *string       // input; nil: none
	Prefill     *string       // editor; nil: none
	Timeout     time.Duration // 0: none
}

// Answer is what came back. A dismissed dialog has Dismissed set and the rest
// zero, which is the neutral value of every method.
type Answer struct {
	Value     string // select, input, editor
	Confirmed bool   // confirm
	Dismissed bool
}

// Notice is something told. Which fields count depends on Method.
type Notice struct {
	Method    Method
	Message   string    // notify
	Type      string    // notify: info, warning, error; empty: not said
	Key       string    // setStatus, setWidget
	Text      *string   // setStatus; nil clears
	Lines     *[]string // setWidget; nil clears
	Placement string    // setWidget: aboveEditor, belowEditor; empty: not said
	Title     string    // setTitle
	Content   string    // set_editor_text
}

// None is a UI with nobody behind it, for the json and print modes.
type None struct{}

// Ask implements UI with the neutral answer.
func (None) Ask(context.Context, Dialog) (Answer, error) { return Answer{Dismissed: true}, nil }

// Tell implements UI by dropping the notice: there is nowhere to show it.
func (None) Tell(Notice) {}

// Interactive implements UI.
func (None) Interactive() bool { return false }
