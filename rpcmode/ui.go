package rpcmode

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// UI shows dialogs and notices to the client as frames. It is made before the
// session, and Serve connects it; what is shown earlier waits until then. All
// methods may be called from any goroutine.
type UI struct {
	// Opened and Closed are told of every dialog that the client was shown,
	// before it is shown and after it has ended, on the goroutine of Ask. They
	// are set before the first dialog; nil: nobody is told.
	Opened func(*event.UIPromptStart)
	Closed func(*event.UIPromptEnd)

	dialect Dialect
	titles  bool

	mu   sync.Mutex
	out  *jsonl.Writer // nil: not connected yet
	held [][]byte      // frames that wait for the connection
	open map[string]*dialog
	gone chan struct{} // closed when nobody can answer any more
}

type dialog struct {
	method ui.Method
	answer chan ui.Answer // gets one answer at most
}

// NewUI makes a UI for a dialect. In the xcsh dialect titles are shown only
// when titles is set; the other always shows them.
func NewUI(dialect Dialect, titles bool) *UI {
	return &UI{dialect: dialect, titles: titles || dialect != XCSH, open: map[string]*dialog{}, gone: make(chan struct{})}
}

// Interactive implements ui.UI: there is a client, so somebody may answer.
func (u *UI) Interactive() bool { return true }

// Ask implements ui.UI. Several dialogs may be open at once, and each gets
// the answer with its id.
func (u *UI) Ask(ctx context.Context, d ui.Dialog) (ui.Answer, error) {
	if err := checkDialog(d); err != nil {
		return ui.Answer{}, err
	}
	dismissed := ui.Answer{Dismissed: true}
	id := newID()
	if ctx.Err() != nil || u.ended() {
		return dismissed, nil
	}
	if u.Opened != nil {
		u.Opened(&event.UIPromptStart{ID: id, Method: string(d.Method), Title: d.Title})
	}
	answer := u.show(ctx, id, d)
	if u.Closed != nil {
		u.Closed(&event.UIPromptEnd{ID: id, Method: string(d.Method), Cancelled: answer.Dismissed})
	}
	return answer, nil
}

func checkDialog(d ui.Dialog) error {
	switch d.Method {
	case ui.Select:
		if len(d.Options) == 0 {
			return fmt.Errorf("dialog %q: select needs at least one option", d.Title)
		}
		return nil
	case ui.Confirm, ui.Input, ui.Editor:
		return nil
	}
	return fmt.Errorf("dialog %q: %q is no dialog: use select, confirm, input or editor", d.Title, d.Method)
}

// show puts a dialog before the client and waits for its end.
func (u *UI) show(ctx context.Context, id string, d ui.Dialog) ui.Answer {
	dismissed := ui.Answer{Dismissed: true}
	shown := &dialog{method: d.Method, answer: make(chan ui.Answer, 1)}
	u.mu.Lock()
	u.open[id] = shown
	u.mu.Unlock()
	u.send(dialogFrame(id, d), false)
	var late <-chan time.Time
	if d.Timeout > 0 {
		timer := time.NewTimer(d.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case answer := <-shown.answer:
		return answer
	case <-u.gone:
		u.take(id)
		return dismissed
	case <-ctx.Done():
	case <-late:
	}
	if u.take(id) == nil {
		return <-shown.answer // it came in the same moment
	}
	if u.dialect == XCSH {
		u.send(wire.UIRequest{Type: wire.TypeUIRequest, ID: newID(), Method: "cancel", TargetID: id}, false)
	}
	return dismissed
}

func dialogFrame(id string, d ui.Dialog) wire.UIRequest {
	frame := wire.UIRequest{Type: wire.TypeUIRequest, ID: id, Method: string(d.Method), Title: &d.Title}
	switch d.Method {
	case ui.Select:
		frame.Options = &d.Options
	case ui.Confirm:
		frame.Message = &d.Message
	case ui.Input:
		frame.Placeholder = d.Placeholder
	case ui.Editor:
		frame.Prefill = d.Prefill
	}
	if d.Timeout > 0 {
		frame.Timeout = max(d.Timeout.Milliseconds(), 1)
	}
	return frame
}

// Tell implements ui.UI. It waits while the client does not read.
func (u *UI) Tell(n ui.Notice) {
	frame := wire.UIRequest{Type: wire.TypeUIRequest, ID: newID(), Method: string(n.Method)}
	switch n.Method {
	case ui.Notify:
		frame.Message, frame.NotifyType = &n.Message, n.Type
	case ui.SetStatus:
		frame.StatusKey, frame.StatusText = &n.Key, n.Text
	case ui.SetWidget:
		frame.WidgetKey, frame.WidgetLines, frame.WidgetPlacement = &n.Key, n.Lines, n.Placement
	case ui.SetTitle:
		if !u.titles {
			return
		}
		frame.Title = &n.Title
	case ui.SetEditorText:
		frame.Text = &n.Content
	default:
		return // no client would know what to do with it
	}
	u.send(frame, true)
}

// send writes a frame, or keeps it until there is a connection. A dialog does
// not wait for room: it must end when its context does, and there are no more
// of them than goroutines that ask.
func (u *UI) send(frame wire.UIRequest, wait bool) {
	data, err := message.Marshal(frame)
	if err != nil {
		panic(fmt.Sprintf("rpcmode: encode %s: %v", frame.Method, err))
	}
	u.mu.Lock()
	out := u.out
	if out == nil {
		u.held = append(u.held, data)
	}
	u.mu.Unlock()
	if out == nil {
		return
	}
	write := out.Push
	if wait {
		write = out.Write
	}
	// An error means that the stream has ended, which whoever serves it has
	// noticed and ends the dialogs for.
	_ = write(data)
}

// connect sends what was held back, and everything from now on, to out.
func (u *UI) connect(out *jsonl.Writer) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.out = out
	for _, frame := range u.held {
		if err := out.Push(frame); err != nil {
			return err
		}
	}
	u.held = nil
	return nil
}

// disconnect ends all dialogs: nobody can answer them any more.
func (u *UI) disconnect() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.endedLocked() {
		close(u.gone)
	}
}

func (u *UI) ended() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.endedLocked()
}

func (u *UI) endedLocked() bool {
	select {
	case <-u.gone:
		return true
	default:
		return false
	}
}

// take removes a dialog from the open ones; nil: it was not there.
func (u *UI) take(id string) *dialog {
	u.mu.Lock()
	defer u.mu.Unlock()
	d := u.open[id]
	delete(u.open, id)
	return d
}

// answer hands a client's answer to the dialog that it names. Answers without
// a dialog are ignored. One that lacks what the dialog asked for dismisses
// it; one of a wrong type does that too, and is an error.
func (u *UI) answer(members map[string]json.RawMessage) error {
	var id string
	if jsonType(members["id"]) != "string" || json.Unmarshal(members["id"], &id) != nil {
		return nil
	}
	d := u.take(id)
	if d == nil {
		return nil
	}
	answer, err := readAnswer(d.method, members)
	d.answer <- answer
	return err
}

func readAnswer(method ui.Method, members map[string]json.RawMessage) (ui.Answer, error) {
	dismissed := ui.Answer{Dismissed: true}
	if string(members["cancelled"]) == "true" {
		return dismissed, nil
	}
	name, want := "value", "string"
	if method == ui.Confirm {
		name, want = "confirmed", "boolean"
	}
	raw, there := members[name]
	if !there || string(raw) == "null" {
		return dismissed, nil
	}
	if got := jsonType(raw); got != want {
		return dismissed, &fieldError{name, fmt.Sprintf("expected %s for %s, got %s; the dialog was dismissed",
			withArticle(want), method, withArticle(got))}
	}
	var answer ui.Answer
	target := any(&answer.Value)
	if method == ui.Confirm {
		target = &answer.Confirmed
	}
	if err := json.Unmarshal(raw, target); err != nil {
		return dismissed, &fieldError{name, err.Error()}
	}
	return answer, nil
}

// newID makes an id that no other frame has; later ones sort behind earlier
// ones.
func newID() string { return uuid.Must(uuid.NewV7()).String() }
