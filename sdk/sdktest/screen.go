package sdktest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Answer is how a test answers a dialog.
type Answer struct {
	value     string
	confirmed bool
	dismissed bool
	pending   bool
}

// The answers to dialogs.
var (
	Yes       = Answer{confirmed: true}
	No        = Answer{}
	Dismissed = Answer{dismissed: true}
	// Pending leaves a dialog open until its handler's context ends.
	Pending = Answer{pending: true}
)

// Text answers a select, an input or an editor.
func Text(value string) Answer { return Answer{value: value} }

// Dialog is a dialog that the extension opened.
type Dialog struct {
	Method  string // select, confirm, input, editor
	Title   string
	Message string
	Options []string
	Timeout time.Duration
}

// Notice is a notice that the extension gave. Which fields count depends on
// Method.
type Notice struct {
	Method    string // notify, setStatus, setWidget, setTitle, set_editor_text
	Text      string
	Cleared   bool // setStatus and setWidget: it was removed
	Type      string
	Key       string
	Lines     []string
	Placement string
}

// screen is where dialogs and notices end up.
type screen struct {
	t       testing.TB
	mu      sync.Mutex
	answers map[string][]Answer
	dialogs []Dialog
	notices []Notice
	changed chan struct{}
}

func (s *screen) init(t testing.TB) {
	s.t, s.answers, s.changed = t, map[string][]Answer{}, make(chan struct{})
}

// Answer says how the next dialogs of a title are answered, one after the
// other; the last answer stays. A dialog without an answer fails the test and
// is dismissed.
func (h *Host) Answer(title string, answers ...Answer) {
	h.ui.mu.Lock()
	defer h.ui.mu.Unlock()
	h.ui.answers[title] = answers
}

// Dialogs lists the dialogs that the extension opened so far.
func (h *Host) Dialogs() []Dialog {
	h.ui.mu.Lock()
	defer h.ui.mu.Unlock()
	return slices.Clone(h.ui.dialogs)
}

// Notices lists the notices that the extension gave so far.
func (h *Host) Notices() []Notice {
	h.ui.mu.Lock()
	defer h.ui.mu.Unlock()
	return slices.Clone(h.ui.notices)
}

// WantNotice waits for a notice that has the text, and gives it.
func (h *Host) WantNotice(text string) Notice {
	h.t.Helper()
	return wait(h, "a notice with "+text, func() (Notice, bool) {
		for _, n := range h.ui.notices {
			if strings.Contains(n.Text, text) || strings.Contains(strings.Join(n.Lines, "\n"), text) {
				return n, true
			}
		}
		return Notice{}, false
	})
}

// WantDialog waits for a dialog of the title, and gives it.
func (h *Host) WantDialog(title string) Dialog {
	h.t.Helper()
	return wait(h, "a dialog "+title, func() (Dialog, bool) {
		for _, d := range h.ui.dialogs {
			if d.Title == title {
				return d, true
			}
		}
		return Dialog{}, false
	})
}

// wait looks, under the lock of the screen, each time something is shown.
func wait[V any](h *Host, what string, look func() (V, bool)) V {
	h.t.Helper()
	timeout := time.After(Patience)
	for {
		h.ui.mu.Lock()
		found, ok := look()
		changed, shown := h.ui.changed, slices.Clone(h.ui.notices)
		h.ui.mu.Unlock()
		if ok {
			return found
		}
		select {
		case <-changed:
		case <-timeout:
			h.t.Fatalf("waited in vain for %s; there was %+v", what, shown)
		}
	}
}

func (s *screen) ask(ctx context.Context, req *pb.AskRequest) *pb.AskResponse {
	s.mu.Lock()
	s.dialogs = append(s.dialogs, Dialog{
		Method: req.GetMethod(), Title: req.GetTitle(), Message: req.GetMessage(), Options: req.GetOptions(),
		Timeout: time.Duration(req.GetTimeoutMs()) * time.Millisecond,
	})
	answers, scripted := s.answers[req.GetTitle()]
	answer := Dismissed
	if len(answers) > 0 {
		answer = answers[0]
	}
	if len(answers) > 1 {
		s.answers[req.GetTitle()] = answers[1:]
	}
	s.signal()
	s.mu.Unlock()
	if !scripted {
		s.t.Errorf("the extension opened the dialog %q, which the test does not answer: see Host.Answer", req.GetTitle())
	}
	if answer.pending {
		<-ctx.Done()
	}
	return &pb.AskResponse{Value: answer.value, Confirmed: answer.confirmed, Dismissed: answer.dismissed || answer.pending}
}

func (s *screen) tell(req *pb.TellRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, Notice{
		Method: req.GetMethod(), Text: req.GetText(), Type: req.GetType(), Key: req.GetKey(),
		Lines: req.GetLines().GetLines(), Placement: req.GetPlacement(),
		Cleared: req.GetMethod() == "setStatus" && req.Text == nil || req.GetMethod() == "setWidget" && req.Lines == nil,
	})
	s.signal()
}

// signal is called with the lock.
func (s *screen) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}
