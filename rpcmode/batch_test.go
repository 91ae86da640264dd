package rpcmode_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/internal/scripted"
)

type played struct {
	ok          bool
	err         error
	out, errors string
}

// playBatch sends prompts in one of the modes, in a bubble of virtual time.
func playBatch(t *testing.T, run func(context.Context, rpcmode.Batch) (bool, error), listeners []hook.Listener, prompts ...string) (got played) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config := scripted.Config(t.TempDir(), &scripted.Model{})
		config.UI = ui.None{}
		config.Hooks.Set(listeners)
		s := session.New(config)
		config.Hooks.Report = func(e event.ExtensionError) { s.Emit(&e) }
		var out, failures bytes.Buffer
		b := rpcmode.Batch{
			Out: &out, Errors: &failures, Session: s, Started: func() { s.Start("startup", "") },
			Header: struct {
				Type string `json:"type"`
			}{"session"},
		}
		for _, p := range prompts {
			b.Prompts = append(b.Prompts, session.Prompt{Text: p, Source: "interactive"})
		}
		got.ok, got.err = run(t.Context(), b)
		got.out, got.errors = out.String(), failures.String()
	})
	return got
}

func TestJSONMode(t *testing.T) {
	for _, test := range []struct {
		name    string
		prompts []string
		ok      bool
		lines   int
		last    string
	}{
		{"no prompt", nil, true, 1, `{"type":"session"}`},
		{"one", []string{"SAY one"}, true, 13, `{"type":"agent_settled"}`},
		{"two, one after the other", []string{"SAY one", "SAY two"}, true, 25, `{"type":"agent_settled"}`},
		{"one that fails", []string{"FAIL no"}, false, 10, `{"type":"agent_settled"}`},
		{"the last one counts", []string{"FAIL no", "SAY yes"}, true, 22, `{"type":"agent_settled"}`},
	} {
		got := playBatch(t, rpcmode.RunJSON, nil, test.prompts...)
		lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
		if got.ok != test.ok || got.err != nil || got.errors != "" {
			t.Errorf("%s: ok %t, error %v, stderr %q", test.name, got.ok, got.err, got.errors)
		}
		if len(lines) != test.lines || lines[0] != `{"type":"session"}` || lines[len(lines)-1] != test.last {
			t.Errorf("%s: %d lines, want %d:\n%s", test.name, len(lines), test.lines, got.out)
		}
		for _, line := range lines[1:] {
			if err := contracts[rpcmode.Pi].Check([]byte(line)); err != nil {
				t.Errorf("%s: %v: %s", test.name, err, line)
			}
		}
	}
}

func TestPrintMode(t *testing.T) {
	for _, test := range []struct {
		name        string
		prompts     []string
		ok          bool
		out, errors string
	}{
		{"no prompt", nil, true, "", ""},
		{"text blocks, a line each", []string{"THINK hm\nSAY one\nSAY two"}, true, "one\ntwo\n", ""},
		{"the last answer", []string{"SAY one", "SAY two"}, true, "two\n", ""},
		{"an empty answer", []string{"nothing"}, true, "", ""},
		{"a failure", []string{"FAIL 401 no key"}, false, "", "401 no key\n"},
	} {
		got := playBatch(t, rpcmode.RunPrint, nil, test.prompts...)
		if got.ok != test.ok || got.err != nil || got.out != test.out || got.errors != test.errors {
			t.Errorf("%s: got %+v", test.name, got)
		}
	}
}

func TestBatchTellsOfExtensionsOnItsErrors(t *testing.T) {
	broken := listener{event.KindAgentStart: func(context.Context, event.Event) (any, error) { return nil, errors.New("hook broke") }}
	for name, run := range map[string]func(context.Context, rpcmode.Batch) (bool, error){"json": rpcmode.RunJSON, "print": rpcmode.RunPrint} {
		got := playBatch(t, run, []hook.Listener{broken}, "SAY x")
		if want := "Extension error (test/extension): hook broke\n"; got.errors != want || strings.Contains(got.out, "hook broke") || !got.ok {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestBatchEndsEarly(t *testing.T) {
	for name, run := range map[string]func(context.Context, rpcmode.Batch) (bool, error){"json": rpcmode.RunJSON, "print": rpcmode.RunPrint} {
		synctest.Test(t, func(t *testing.T) {
			s := session.New(scripted.Config(t.TempDir(), &scripted.Model{}))
			ctx, cancel := context.WithCancel(t.Context())
			var out, failures bytes.Buffer
			ended := make(chan bool)
			go func() {
				ok, err := run(ctx, rpcmode.Batch{Out: &out, Errors: &failures, Session: s, Prompts: []session.Prompt{{Text: "HANG"}, {Text: "SAY never"}}})
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				ended <- ok
			}()
			synctest.Wait()
			cancel()
			if ok := <-ended; ok || strings.Contains(out.String(), "never") {
				t.Errorf("%s: ok %t, output %s", name, ok, out.String())
			}
		})
	}
}

func TestBatchReportsAPromptThatWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := scripted.Config(t.TempDir(), &scripted.Model{})
		config.Model, config.NoModel = nil, "no model: set a key"
		var out, failures bytes.Buffer
		ok, err := rpcmode.RunJSON(t.Context(), rpcmode.Batch{
			Out: &out, Errors: &failures, Session: session.New(config), Prompts: []session.Prompt{{Text: "SAY x"}},
		})
		if ok || err == nil || !strings.Contains(err.Error(), "set a key") {
			t.Errorf("ok %t, error %v", ok, err)
		}
	})
}
