package rpcmode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/rpcmode"
)

// ask shows a dialog from a goroutine of its own and gives its answer.
func (r *rig) ask(ctx context.Context, d ui.Dialog) <-chan ui.Answer {
	answers := make(chan ui.Answer, 1)
	go func() {
		answer, err := r.ui.Ask(ctx, d)
		if err != nil {
			r.t.Errorf("ask %s: %v", d.Title, err)
		}
		answers <- answer
	}()
	synctest.Wait()
	return answers
}

// request takes the next frame, which must be like pattern, and gives its id.
func (r *rig) request(pattern string) string {
	r.t.Helper()
	line, _ := r.output.next()
	if !matches(pattern, line) {
		r.t.Fatalf("got %s\nwant %s", line, pattern)
	}
	var frame struct{ ID string }
	if err := json.Unmarshal([]byte(line), &frame); err != nil {
		r.t.Fatal(err)
	}
	return frame.ID
}

func text(s string) *string { return &s }

func TestDialogsAndTheirAnswers(t *testing.T) {
	for _, test := range []struct {
		dialog  ui.Dialog
		request string
		answer  string
		want    ui.Answer
		refused string
	}{
		{dialog: ui.Dialog{Method: ui.Select, Title: "Pick", Options: []string{"A", "B"}},
			request: `"method":"select","title":"Pick","options":["A","B"]`, answer: `"value":"B"`, want: ui.Answer{Value: "B"}},
		{dialog: ui.Dialog{Method: ui.Confirm, Title: "Sure?", Message: "Really"},
			request: `"method":"confirm","title":"Sure?","message":"Really"`, answer: `"confirmed":true`, want: ui.Answer{Confirmed: true}},
		{dialog: ui.Dialog{Method: ui.Confirm},
			request: `"method":"confirm","title":"","message":""`, answer: `"confirmed":false`},
		{dialog: ui.Dialog{Method: ui.Input, Title: "Name", Placeholder: text("type here")},
			request: `"method":"input","title":"Name","placeholder":"type here"`, answer: `"value":""`},
		{dialog: ui.Dialog{Method: ui.Input, Title: "Name", Timeout: 1500 * time.Millisecond},
			request: `"method":"input","title":"Name","timeout":1500`, answer: `"value":"Bob"`, want: ui.Answer{Value: "Bob"}},
		{dialog: ui.Dialog{Method: ui.Editor, Title: "Edit", Prefill: text("a\nb")},
			request: `"method":"editor","title":"Edit","prefill":"a\nb"`, answer: `"value":"c\nd"`, want: ui.Answer{Value: "c\nd"}},
		{dialog: ui.Dialog{Method: ui.Editor, Title: "Edit"},
			request: `"method":"editor","title":"Edit"`, answer: `"cancelled":true`, want: ui.Answer{Dismissed: true}},
		{dialog: ui.Dialog{Method: ui.Confirm, Title: "c"},
			request: `"method":"confirm",…`, answer: `"cancelled":true,"confirmed":true`, want: ui.Answer{Dismissed: true}},
		{dialog: ui.Dialog{Method: ui.Confirm, Title: "c"},
			request: `"method":"confirm",…`, answer: `"cancelled":false,"confirmed":true`, want: ui.Answer{Confirmed: true}},
		{dialog: ui.Dialog{Method: ui.Confirm, Title: "nothing said"},
			request: `"method":"confirm",…`, answer: `"value":"true"`, want: ui.Answer{Dismissed: true}},
		{dialog: ui.Dialog{Method: ui.Confirm, Title: "wrong type"},
			request: `"method":"confirm",…`, answer: `"confirmed":"true"`, want: ui.Answer{Dismissed: true}, refused: "confirmed: expected a boolean for confirm, got a string…"},
		{dialog: ui.Dialog{Method: ui.Input, Title: "wrong type"},
			request: `"method":"input",…`, answer: `"value":5`, want: ui.Answer{Dismissed: true}, refused: "value: expected a string for input, got a number…"},
		{dialog: ui.Dialog{Method: ui.Input, Title: "null"},
			request: `"method":"input",…`, answer: `"value":null`, want: ui.Answer{Dismissed: true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			answers := r.ask(t.Context(), test.dialog)
			id := r.request(`{"type":"extension_ui_request","id":"…",` + test.request + `}`)
			answer := fmt.Sprintf(`{"type":"extension_ui_response","id":%q,%s}`, id, test.answer)
			r.send(answer, answer)
			if got := <-answers; got != test.want {
				t.Errorf("%s answered %s: got %+v, want %+v", test.dialog.Method, test.answer, got, test.want)
			}
			synctest.Wait()
			if test.refused != "" {
				r.request(`{"id":"` + id + `","type":"response","command":"extension_ui_response","success":false,"error":"` + test.refused + `"}`)
			}
			if left := r.output.take(); len(left) > 0 {
				t.Errorf("also came: %q", left)
			}
			r.end()
		})
	}
}

func TestDialogsThatMakeNoSense(t *testing.T) {
	u := rpcmode.NewUI(rpcmode.Pi, false)
	for _, d := range []ui.Dialog{{Method: ui.Select, Title: "none to choose"}, {Method: ui.Notify}, {}} {
		if answer, err := u.Ask(t.Context(), d); err == nil {
			t.Errorf("%+v gave %+v", d, answer)
		}
	}
}

func TestSeveralDialogsAreAnsweredInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var ids []string
		var answers []<-chan ui.Answer
		for i := range 5 {
			answers = append(answers, r.ask(t.Context(), ui.Dialog{Method: ui.Input, Title: fmt.Sprint(i)}))
			ids = append(ids, r.request(fmt.Sprintf(`{"type":"extension_ui_request","id":"…","method":"input","title":"%d"}`, i)))
		}
		if !slices.IsSorted(ids) {
			t.Errorf("ids do not sort by time: %v", ids)
		}
		for i := len(ids) - 1; i >= 0; i-- {
			r.send(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,"value":"v%d"}`, ids[i], i))
			if got := <-answers[i]; got.Value != fmt.Sprintf("v%d", i) {
				t.Errorf("dialog %d got %+v", i, got)
			}
		}
		r.end()
	})
}

func TestDialogsEndOnOurSide(t *testing.T) {
	for dialect, cancels := range map[rpcmode.Dialect]bool{rpcmode.Pi: false, rpcmode.XCSH: true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, func(_ *session.Config, o *rpcmode.Options) { o.Dialect = dialect })
			synctest.Wait()
			r.output.take()
			var ended context.Context
			for name, end := range map[string]struct {
				dialog ui.Dialog
				end    func(cancel func())
			}{
				"timeout": {ui.Dialog{Method: ui.Confirm, Title: "late", Timeout: time.Second}, func(func()) { time.Sleep(time.Second) }},
				"context": {ui.Dialog{Method: ui.Confirm, Title: "gone"}, func(cancel func()) { cancel() }},
			} {
				ctx, cancel := context.WithCancel(t.Context())
				answers := r.ask(ctx, end.dialog)
				id := r.request(`…"method":"confirm"…`)
				end.end(cancel)
				if got := <-answers; !got.Dismissed {
					t.Errorf("%s: got %+v", name, got)
				}
				synctest.Wait()
				if cancels {
					r.request(`{"type":"extension_ui_request","id":"…","method":"cancel","targetId":"` + id + `"}`)
				}
				r.send(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,"confirmed":true}`, id))
				synctest.Wait()
				if left := r.output.take(); len(left) > 0 {
					t.Errorf("%s: also came %q", name, left)
				}
				cancel()
				ended = ctx
			}
			if got := <-r.ask(ended, ui.Dialog{Method: ui.Confirm}); !got.Dismissed || len(r.output.take()) > 0 {
				t.Errorf("a dialog was shown although its context had ended")
			}
			r.end()
		})
	}
}

func TestDialogsEndWithTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		answers := r.ask(t.Context(), ui.Dialog{Method: ui.Confirm, Title: "open"})
		r.end()
		if got := <-answers; !got.Dismissed {
			t.Errorf("got %+v", got)
		}
		if got := <-r.ask(t.Context(), ui.Dialog{Method: ui.Confirm, Title: "later"}); !got.Dismissed {
			t.Errorf("got %+v", got)
		}
	})
}

func TestNotices(t *testing.T) {
	lines := []string{"l1", "l2"}
	for dialect, title := range map[rpcmode.Dialect]bool{rpcmode.Pi: true, rpcmode.XCSH: false} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, func(_ *session.Config, o *rpcmode.Options) { o.Dialect = dialect })
			synctest.Wait()
			r.output.take()
			for _, test := range []struct {
				notice ui.Notice
				want   string
			}{
				{ui.Notice{Method: ui.Notify, Message: "plain"}, `"method":"notify","message":"plain"`},
				{ui.Notice{Method: ui.Notify, Message: "w", Type: "warning"}, `"method":"notify","message":"w","notifyType":"warning"`},
				{ui.Notice{Method: ui.SetStatus, Key: "k", Text: text("busy")}, `"method":"setStatus","statusKey":"k","statusText":"busy"`},
				{ui.Notice{Method: ui.SetStatus, Key: "k"}, `"method":"setStatus","statusKey":"k"`},
				{ui.Notice{Method: ui.SetWidget, Key: "w", Lines: &lines}, `"method":"setWidget","widgetKey":"w","widgetLines":["l1","l2"]`},
				{ui.Notice{Method: ui.SetWidget, Key: "w", Lines: &lines, Placement: "belowEditor"},
					`"method":"setWidget","widgetKey":"w","widgetLines":["l1","l2"],"widgetPlacement":"belowEditor"`},
				{ui.Notice{Method: ui.SetWidget, Key: "w"}, `"method":"setWidget","widgetKey":"w"`},
				{ui.Notice{Method: ui.SetEditorText, Content: "edit me"}, `"method":"set_editor_text","text":"edit me"`},
			} {
				r.ui.Tell(test.notice)
				synctest.Wait()
				r.request(`{"type":"extension_ui_request","id":"…",` + test.want + `}`)
			}
			r.ui.Tell(ui.Notice{Method: ui.SetTitle, Title: "t"})
			r.ui.Tell(ui.Notice{Method: "nonsense"})
			synctest.Wait()
			if got := r.output.take(); (len(got) == 1) != title || len(got) > 1 {
				t.Errorf("%s: setTitle gave %q", dialect, got)
			}
			r.end()
		})
	}
}

func TestWhatIsShownBeforeServeWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answer ui.Answer
		r := newRig(t, xcsh, func(_ *session.Config, o *rpcmode.Options) {
			early := rpcmode.NewUI(rpcmode.XCSH, false)
			early.Tell(ui.Notice{Method: ui.Notify, Message: "hello"})
			o.UI = early
			go func() { answer, _ = early.Ask(t.Context(), ui.Dialog{Method: ui.Confirm, Title: "start?"}) }()
			synctest.Wait()
		})
		synctest.Wait()
		if line, _ := r.output.next(); line != `{"type":"ready"}` {
			t.Errorf("first came %s", line)
		}
		r.request(`…"method":"notify","message":"hello"}`)
		id := r.request(`…"method":"confirm","title":"start?",…`)
		r.send(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,"confirmed":true}`, id))
		synctest.Wait()
		if !answer.Confirmed {
			t.Errorf("got %+v", answer)
		}
		r.end()
	})
}

func TestDialogsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var got []string
		r.ui.Opened = func(e *event.UIPromptStart) { got = append(got, "open "+e.Method+" "+e.Title) }
		r.ui.Closed = func(e *event.UIPromptEnd) { got = append(got, fmt.Sprintf("close %s %t", e.Method, e.Cancelled)) }
		answers := r.ask(t.Context(), ui.Dialog{Method: ui.Confirm, Title: "one"})
		r.send(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,"confirmed":false}`, r.request(`…confirm…`)))
		<-answers
		<-r.ask(t.Context(), ui.Dialog{Method: ui.Input, Title: "two", Timeout: time.Second})
		if want := "open confirm one, close confirm false, open input two, close input true"; strings.Join(got, ", ") != want {
			t.Errorf("got %q", got)
		}
		r.end()
	})
}

// A dialog in a hook of a run holds the run, and nothing else; an abort ends
// both.
func TestDialogInARun(t *testing.T) {
	for _, end := range []string{"answer", "refuse", "abort", "close"} {
		synctest.Test(t, func(t *testing.T) {
			var r *rig
			gate := listener{event.KindInput: func(ctx context.Context, e event.Event) (any, error) {
				answer, err := r.ui.Ask(ctx, ui.Dialog{Method: ui.Confirm, Title: "send it?"})
				if answer.Confirmed {
					return nil, err
				}
				return &event.InputResult{Action: "handled"}, err
			}}
			r = newRig(t, withHooks(gate))
			r.send(`{"id":"p","type":"prompt","message":"SAY x"}`)
			synctest.Wait()
			id := r.request(`…"method":"confirm",…`)
			r.send(`{"id":"s","type":"get_state"}`)
			synctest.Wait()
			r.request(`{"id":"s","type":"response","command":"get_state","success":true,…}`)
			switch end {
			case "answer":
				r.send(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,"confirmed":true}`, id))
				synctest.Wait()
				r.request(`{"id":"p","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}`)
				if lines := r.output.take(); lines[len(lines)-1] != `{"type":"agent_settled"}` {
					t.Errorf("last came %s", lines[len(lines)-1])
				}
			case "refuse":
				r.send(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,"confirmed":false}`, id))
				synctest.Wait()
				r.request(`{"id":"p","type":"response","command":"prompt","success":true,"data":{"disposition":"handled"}}`)
				if lines := strings.Join(r.output.take(), "\n"); strings.Contains(lines, "agent_") {
					t.Errorf("a run began: %s", lines)
				}
			case "abort":
				r.send(`{"id":"x","type":"abort"}`)
				synctest.Wait()
				lines := r.output.take()
				if all := strings.Join(lines, "\n"); !strings.Contains(all, `{"id":"p","type":"response","command":"prompt"`) ||
					!strings.Contains(all, `{"id":"x","type":"response","command":"abort","success":true}`) {
					t.Errorf("got %q", lines)
				}
			}
			r.end()
		})
	}
}

var _ hook.Listener = listener{}
