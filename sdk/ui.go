package sdk

import (
	"slices"
	"strings"
	"sync"
	"time"

	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// UI shows dialogs, which wait for an answer, and notices, which do not. It
// belongs to a Context and lives as long as it does.
//
// A dialog that is dismissed, times out, or has nobody to answer it gives its
// neutral value and no error: no choice, false, no text. It ends with an error
// when the context does.
type UI struct{ c *Context }

// DialogOption changes a dialog.
type DialogOption func(*pb.AskRequest)

// Timeout dismisses a dialog after a while.
func Timeout(d time.Duration) DialogOption {
	return func(r *pb.AskRequest) { r.TimeoutMs = max(1, d.Milliseconds()) }
}

// Select lets the user choose one of the options. ok is false when the dialog
// was dismissed.
func (u *UI) Select(title string, options []string, more ...DialogOption) (choice string, ok bool, err error) {
	return u.text(&pb.AskRequest{Method: "select", Title: title, Options: options}, more)
}

// Confirm asks a question of yes and no.
func (u *UI) Confirm(title, message string, more ...DialogOption) (bool, error) {
	answer, err := u.ask(&pb.AskRequest{Method: "confirm", Title: title, Message: message}, more)
	return err == nil && answer.GetConfirmed(), err
}

// Input asks for a line of text. An empty placeholder is none.
func (u *UI) Input(title, placeholder string, more ...DialogOption) (text string, ok bool, err error) {
	return u.text(&pb.AskRequest{Method: "input", Title: title, Placeholder: unlessEmpty(placeholder)}, more)
}

// Editor asks for a longer text. An empty prefill is none.
func (u *UI) Editor(title, prefill string, more ...DialogOption) (text string, ok bool, err error) {
	return u.text(&pb.AskRequest{Method: "editor", Title: title, Prefill: unlessEmpty(prefill)}, more)
}

// NotifyType says how serious a notice is.
type NotifyType string

// The types of notices.
const (
	Info    NotifyType = "info"
	Warning NotifyType = "warning"
	Error   NotifyType = "error"
)

// Notify shows a message. An empty type leaves it to the client.
func (u *UI) Notify(message string, kind NotifyType) error {
	return u.tell(&pb.TellRequest{Method: "notify", Text: &message, Type: string(kind)})
}

// SetStatus shows a short text under a key of the extension's choice; an empty
// one removes it.
func (u *UI) SetStatus(key, text string) error {
	return u.tell(&pb.TellRequest{Method: "setStatus", Key: key, Text: unlessEmpty(text)})
}

// Placement says where a widget goes.
type Placement string

// Where widgets go.
const (
	AboveEditor Placement = "aboveEditor"
	BelowEditor Placement = "belowEditor"
)

// SetWidget shows lines near the editor under a key of the extension's choice;
// nil lines remove it. An empty placement leaves it to the client.
func (u *UI) SetWidget(key string, lines []string, where Placement) error {
	req := &pb.TellRequest{Method: "setWidget", Key: key, Placement: string(where)}
	if lines != nil {
		req.Lines = &pb.Lines{Lines: lines}
	}
	return u.tell(req)
}

// SetTitle sets the title of the window.
func (u *UI) SetTitle(title string) error {
	return u.tell(&pb.TellRequest{Method: "setTitle", Text: &title})
}

// SetEditorText puts a text where the user types.
func (u *UI) SetEditorText(text string) error {
	return u.tell(&pb.TellRequest{Method: "set_editor_text", Text: &text})
}

// PasteToEditor is SetEditorText: no client of pi tells us what was there.
func (u *UI) PasteToEditor(text string) error { return u.SetEditorText(text) }

// EditorText is what the user has typed, which no client tells us: always
// empty.
func (u *UI) EditorText() string { return neutral(u, "EditorText", "") }

// Themes lists the colour themes of a terminal: none.
func (u *UI) Themes() []string { return neutral[[]string](u, "Themes", nil) }

// SetTheme would choose a colour theme; it fails with ErrUnavailable.
func (u *UI) SetTheme(name string) error {
	return neutral[error](u, "SetTheme", &hostError{text: "there is no terminal to give the theme " + name, kind: ErrUnavailable})
}

// SetWorkingMessage would replace the line that a terminal shows while the
// model works; it does nothing.
func (u *UI) SetWorkingMessage(string) { neutral(u, "SetWorkingMessage", struct{}{}) }

// SetHeader would put lines at the top of a terminal; it does nothing.
func (u *UI) SetHeader([]string) { neutral(u, "SetHeader", struct{}{}) }

// SetFooter would put lines at the bottom of a terminal; it does nothing. See
// SetStatus and SetWidget.
func (u *UI) SetFooter([]string) { neutral(u, "SetFooter", struct{}{}) }

func (u *UI) text(req *pb.AskRequest, more []DialogOption) (string, bool, error) {
	answer, err := u.ask(req, more)
	if err != nil || answer.GetDismissed() {
		return "", false, err
	}
	return answer.GetValue(), true, nil
}

func (u *UI) ask(req *pb.AskRequest, more []DialogOption) (*pb.AskResponse, error) {
	for _, option := range more {
		option(req)
	}
	req.Context = u.c.from
	answer, err := u.c.host.client.Ask(u.c, req)
	if err != nil {
		return nil, transportError(u.c, req.GetMethod(), err)
	}
	return answer, failureError(answer.GetFailure())
}

func (u *UI) tell(req *pb.TellRequest) error {
	req.Context = u.c.from
	resp, err := u.c.host.client.Tell(u.c, req)
	if err != nil {
		return transportError(u.c, req.GetMethod(), err)
	}
	return failureError(resp.GetFailure())
}

// degradedNotes remembers what was said about methods without effect.
type degradedNotes struct {
	mu   sync.Mutex
	said []string
}

func (d *degradedNotes) first(method string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.said, method) {
		return false
	}
	d.said = append(d.said, method)
	return true
}

// neutral gives the documented value of a method that needs a terminal, and
// says so once in the log.
func neutral[T any](u *UI, method string, value T) T {
	if u.c.host.degraded.first(method) {
		u.c.extension.log.Warn("UI." + method + " needs a terminal and has no effect in mode " + strings.ToUpper(u.c.host.mode))
	}
	return value
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
