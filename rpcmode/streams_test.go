package rpcmode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/internal/scripted"
	"github.com/seed-54e836f5/pi/rpcmode/jsonl"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

func TestServeEndsWhenNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.send(`{"id":"p","type":"prompt","message":"HANG"}`)
		synctest.Wait()
		r.output.take()
		r.output.end()
		r.send(`{"id":"s","type":"get_state"}`)
		<-r.served
		if r.err != nil {
			t.Errorf("Serve gave %v", r.err)
		}
		if !r.session.IsIdle() {
			t.Error("the run goes on")
		}
	})
}

// A client that does not read holds up the run, and nothing else: dialogs are
// answered and aborts take effect.
func TestStalledClientHoldsUpTheRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.output.stall(true)
		r.send(`{"id":"p","type":"prompt","message":"SAY ` + strings.Repeat("x", 2*1<<20) + `"}`)
		answers := r.ask(t.Context(), ui.Dialog{Method: ui.Confirm, Title: "still there?"})
		synctest.Wait()
		if r.session.IsIdle() {
			t.Fatal("the run did not wait for the client")
		}
		r.send(`{"id":"m","type":"steer","message":"SAY more"}`, `{"id":"s","type":"get_state"}`, `{"id":"x","type":"abort"}`)
		time.Sleep(time.Second)
		r.output.stall(false)
		synctest.Wait()
		var asked string
		counts := map[string]int{}
		for _, line := range r.output.take() {
			var frame struct{ Type, ID, Method string }
			if err := json.Unmarshal([]byte(line), &frame); err != nil {
				t.Fatal(err)
			}
			counts[frame.Type+" "+frame.ID]++
			if frame.Method == "confirm" {
				asked = frame.ID
			}
		}
		for _, want := range []string{"response p", "response m", "response s", "response x", "agent_settled ", "agent_end "} {
			if counts[want] != 1 {
				t.Errorf("%s came %d times", want, counts[want])
			}
		}
		r.send(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,"confirmed":true}`, asked))
		if got := <-answers; !got.Confirmed {
			t.Errorf("the dialog got %+v", got)
		}
		r.end()
	})
}

func TestServeGivesUpOnAStalledClientAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.output.stall(true)
		r.send(`{"id":"p","type":"prompt","message":"SAY ` + strings.Repeat("x", 2*1<<20) + `"}`)
		synctest.Wait()
		start := time.Now()
		if err := r.input.Close(); err != nil {
			t.Fatal(err)
		}
		<-r.served
		if took := time.Since(start); took > 6*time.Second {
			t.Errorf("it took %v", took)
		}
		if r.err == nil {
			t.Error("Serve did not say that frames were not written")
		}
		r.output.stall(false)
	})
}

// A command that tells the client something waits for it to read, and must
// not keep the process from its end.
func TestServeLeavesACommandThatWaitsForAStalledClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.output.stall(true)
		name := strings.Repeat("x", 2*jsonl.QueueSize)
		r.send(`{"id":"s","type":"get_state"}`, `{"id":"n","type":"set_session_name","name":"`+name+`"}`)
		synctest.Wait()
		start := time.Now()
		if err := r.input.Close(); err != nil {
			t.Fatal(err)
		}
		<-r.served
		if took := time.Since(start); took > 6*time.Second {
			t.Errorf("it took %v", took)
		}
		if r.session.State().SessionName != name {
			t.Error("the command did not take effect")
		}
		r.output.stall(false)
	})
}

// slowExtensions come up when they are told to.
type slowExtensions chan struct{}

func (e slowExtensions) Ready() <-chan struct{} { return e }

func (e slowExtensions) Reload(context.Context) error { return nil }

func (e slowExtensions) Enter(context.Context, string) error { return nil }

// A client that writes a prompt and closes our input gets the prompt's end,
// also where the prompt still waits for extensions to start.
func TestServeEndsWhatWaitsForExtensions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starting := make(slowExtensions)
		endings := 0
		r := newRig(t, func(c *session.Config, o *rpcmode.Options) {
			c.Extensions, o.Ending = starting, func() { endings++ }
		})
		r.send(`{"id":"p","type":"prompt","message":"HANG"}`)
		if err := r.input.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		close(starting)
		<-r.served
		if endings != 1 {
			t.Errorf("the end was announced %d times", endings)
		}
		lines := strings.Join(r.output.take(), "\n")
		for _, want := range []string{`"id":"p","type":"response","command":"prompt","success":true`, `{"type":"agent_end"`, `{"type":"agent_settled","aborted":true}`} {
			if !strings.Contains(lines, want) {
				t.Errorf("no %s in\n%s", want, lines)
			}
		}
	})
}

// An abort does not wait for extensions to start, and a prompt that does is
// refused.
func TestAbortBeforeExtensionsAreUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starting := make(slowExtensions)
		r := newRig(t, func(c *session.Config, _ *rpcmode.Options) { c.Extensions = starting })
		r.send(`{"id":"p","type":"prompt","message":"SAY hi"}`)
		r.send(`{"id":"a","type":"abort"}`)
		synctest.Wait()
		lines := strings.Join(r.output.take(), "\n")
		for _, want := range []string{`{"id":"p","type":"response","command":"prompt","success":false,"error":"aborted before it began"}`, `{"id":"a","type":"response","command":"abort","success":true}`} {
			if !strings.Contains(lines, want) {
				t.Errorf("no %s in\n%s", want, lines)
			}
		}
		close(starting)
	})
}

func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, input := io.Pipe()
		out := newOutput()
		s := session.New(scripted.Config(t.TempDir(), &scripted.Model{}))
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() {
			served <- rpcmode.Serve(ctx, rpcmode.Options{In: in, Out: watched(t, rpcmode.Pi, out), Session: s})
		}()
		if _, err := io.WriteString(input, `{"id":"p","type":"prompt","message":"HANG"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve gave %v", err)
		}
		lines := out.take()
		if last := lines[len(lines)-1]; last != `{"type":"agent_settled","aborted":true}` {
			t.Errorf("last came %s", last)
		}
		if err := input.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Whoever ends our context kills us soon after, whatever the client does: all
// waits together keep within the time.
func TestServeEndsInTimeWithItsContext(t *testing.T) {
	const closeTime = 900 * time.Millisecond
	for name, commands := range map[string]string{
		"frames wait":   `{"id":"p","type":"prompt","message":"SAY ` + strings.Repeat("x", 2*1<<20) + `"}`,
		"commands wait": `{"id":"s","type":"get_state"}` + "\n" + `{"id":"n","type":"set_session_name","name":"` + strings.Repeat("x", 2*jsonl.QueueSize) + `"}`,
		"both wait":     `{"id":"p","type":"prompt","message":"HANG"}` + "\n" + `{"id":"n","type":"set_session_name","name":"` + strings.Repeat("x", 2*jsonl.QueueSize) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, input := io.Pipe()
				out := newOutput()
				out.stall(true)
				s := session.New(scripted.Config(t.TempDir(), &scripted.Model{}))
				ctx, cancel := context.WithCancel(t.Context())
				served := make(chan error)
				go func() {
					served <- rpcmode.Serve(ctx, rpcmode.Options{In: in, Out: watched(t, rpcmode.Pi, out), Session: s, CloseTime: closeTime})
				}()
				if _, err := io.WriteString(input, commands+"\n"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				start := time.Now()
				cancel()
				if err := <-served; err == nil {
					t.Error("Serve did not say that frames were not written")
				}
				if took := time.Since(start); took > closeTime {
					t.Errorf("it took %v", took)
				}
				out.stall(false)
				if err := input.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestServeReportsABrokenInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		r := newRig(t)
		if err := r.input.CloseWithError(broken); err != nil {
			t.Fatal(err)
		}
		<-r.served
		if !errors.Is(r.err, broken) {
			t.Errorf("Serve gave %v", r.err)
		}
	})
}

func TestShutdownWaitsForTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.send(`{"id":"p","type":"prompt","message":"HANG"}`, `{"id":"q","type":"shutdown"}`)
		synctest.Wait()
		select {
		case <-r.served:
			t.Fatal("Serve has ended in the middle of a run")
		default:
		}
		r.send(`{"id":"x","type":"abort"}`)
		<-r.served
		lines := strings.Join(r.output.take(), "\n")
		for _, want := range []string{`{"id":"q","type":"response","command":"shutdown","success":true}`, `"agent_settled"`, `{"id":"x",`} {
			if !strings.Contains(lines, want) {
				t.Errorf("%s is missing in %s", want, lines)
			}
		}
	})
}

func TestHooksSeeTheEndOfTheSession(t *testing.T) {
	var told []string
	seen := func(_ context.Context, e event.Event) (any, error) {
		told = append(told, string(e.Kind()))
		return nil, nil
	}
	play(t, "close", nil, withHooks(listener{event.KindSessionStart: seen, event.KindSessionShutdown: seen}))
	if got := strings.Join(told, " "); !strings.HasSuffix(got, "session_shutdown") || strings.Count(got, "session_shutdown") != 1 {
		t.Errorf("hooks saw %q", got)
	}
}

func TestManyCommandsInOneWrite(t *testing.T) {
	r := newRig(t)
	const n = 10000
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"id":%d,"type":"get_last_assistant_text"}`+"\n", i)
	}
	r.send(strings.TrimSuffix(lines.String(), "\n"))
	got := r.output.until(fmt.Sprintf(`{"id":%d,`, n-1))
	if len(got) != n {
		t.Fatalf("%d of %d answers came before the last", len(got), n)
	}
	for i, line := range got {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"id":%d,`, i)) {
			t.Fatalf("answer %d is %s", i, line)
		}
	}
	r.end()
}

func TestLongLines(t *testing.T) {
	r := newRig(t)
	r.send(`{"id":"a","padding":"` + strings.Repeat("x", 64<<20) + `","type":"get_last_assistant_text"}`)
	r.output.until(`{"id":"a","type":"response","command":"get_last_assistant_text","success":true`)
	r.send(`{"id":"p","type":"prompt","message":"SAY seen","images":[{"type":"image","data":"` + strings.Repeat("QUJD", 1<<20) + `","mimeType":"image/png"}]}`)
	r.output.until(`{"type":"agent_settled"}`)
	if got := r.model.Requests(); len(got) != 1 || len(got[0].Messages) != 1 {
		t.Fatalf("the model got %d requests", len(got))
	}
	r.end()
}

func TestBash(t *testing.T) {
	r := newRig(t)
	r.send(`{"id":"b","type":"bash","command":"printf out; exit 3"}`)
	got := r.output.until(`"type":"response"`)
	if want := `{"id":"b","type":"response","command":"bash","success":true,"data":{"output":"out","exitCode":3,"cancelled":false,"truncated":false}}`; got[len(got)-1] != want {
		t.Errorf("got %s\nwant %s", got[len(got)-1], want)
	}
	if want := `{"type":"bash_execution_update","id":"b","delta":"out"}`; got[0] != want {
		t.Errorf("got %s\nwant %s", got[0], want)
	}
	r.send(`{"type":"bash","command":"sleep 60"}` + "\n" + `{"id":"x","type":"abort_bash"}`)
	all := strings.Join(append(r.output.until(`"cancelled":true`), r.output.take()...), "\n")
	if !strings.Contains(all, `{"type":"response","command":"bash","success":true,"data":{"output":"","cancelled":true,"truncated":false}}`) {
		t.Errorf("got %s", all)
	}
	r.send(`{"id":"c","type":"bash","command":"echo begun; sleep 60"}`)
	r.output.until(`"delta":"begun\n"`)
	r.end()
	if all := strings.Join(r.output.take(), "\n"); !strings.Contains(all, `{"id":"c","type":"response","command":"bash","success":true,"data":{"output":"begun\n","cancelled":true,`) {
		t.Errorf("at the end of the input came %s", all)
	}
}

func TestWhatTheProgramBrings(t *testing.T) {
	playAll(t, []conversation{{name: "extensions, sessions, export", change: []setup{func(_ *session.Config, o *rpcmode.Options) {
		o.Extensions = described{}
		o.ListSessions = func(_ context.Context, all bool) ([]store.Summary, error) {
			list := []store.Summary{{Path: "/s/a.jsonl", ID: "a", Cwd: "/w", Messages: 2, Modified: time.Unix(0, 0)}}
			if all {
				list = append(list, store.Summary{Path: "/s/b.jsonl", ID: "b", Name: "n", Created: time.Unix(1, 5e8)})
			}
			return list, nil
		}
		o.ExportHTML = func(_ context.Context, path string) (string, error) { return "/abs/" + path, nil }
	}}, script: `
		> {"id":"a","type":"get_extensions"}
		< {"id":"a","type":"response","command":"get_extensions","success":true,"data":{"extensions":[{"name":"gate","path":"/x/gate","state":"running","restarts":1,"commands":[],"tools":[],"events":["tool_call"],"hooks":[{"event":"tool_call","calls":2,"p50Ms":0.5,"p99Ms":1}]}]}}
		> {"id":"b","type":"list_sessions"}
		< {"id":"b","type":"response","command":"list_sessions","success":true,"data":{"sessions":[{"path":"/s/a.jsonl","id":"a","cwd":"/w","modified":"1970-01-01T00:00:00Z","messageCount":2}]}}
		> {"id":"c","type":"list_sessions","scope":"all"}
		< {"id":"c","type":"response","command":"list_sessions","success":true,"data":{"sessions":[{…"id":"a",…},{…"name":"n",…"created":"1970-01-01T00:00:01.5Z",…}]}}
		> {"id":"d","type":"export_html","outputPath":"out.html"}
		< {"id":"d","type":"response","command":"export_html","success":true,"data":{"path":"/abs/out.html"}}
		> {"id":"e","type":"reload"}
		< {"id":"e","type":"response","command":"reload","success":true}
	`}, {name: "or does not bring", script: `
		> {"id":"b","type":"list_sessions"}
		< {"id":"b","type":"response","command":"list_sessions","success":false,"error":"…"}
		> {"id":"d","type":"export_html"}
		< {"id":"d","type":"response","command":"export_html","success":false,"error":"…"}
	`}})
}

type described struct{}

func (described) Describe() []wire.Extension {
	return []wire.Extension{{
		Name: "gate", Path: "/x/gate", State: "running", Restarts: 1, Commands: []string{}, Tools: []string{}, Events: []string{"tool_call"},
		Hooks: []wire.HookLatency{{Event: "tool_call", Calls: 2, P50Ms: 0.5, P99Ms: 1}},
	}}
}

func TestGetProtocol(t *testing.T) {
	playAll(t, []conversation{
		{name: "short", script: `
			> {"id":"a","type":"get_protocol"}
			< {"id":"a","type":"response","command":"get_protocol","success":true,"data":{"dialect":"pi","version":"1.2.3","commands":[{"name":"prompt","description":"…","origin":"both","fields":[{"name":"message","type":"string","required":true,"description":"…"},{"name":"images","type":"object[]","required":false},{"name":"streamingBehavior","type":"string","required":false,"enum":["steer","followUp"],"description":"…"}]},…{"name":"abort",…"immediate":true,…{"name":"fork","aliases":["branch"],…],"events":[{"type":"agent_start","description":"…"},…],"frames":[{"type":"response","direction":"out",…]}}
		`},
		{name: "with schemas", change: []setup{xcsh}, script: `
			> {"id":"a","type":"get_protocol","schemas":true}
			< {"type":"ready"}
			< {"id":"a","type":"response","command":"get_protocol","success":true,"data":{"dialect":"xcsh",…"schema":{"type":"object","properties":{"type":{"const":"prompt"},"id":{…"message":{"type":"string",…"required":["type","message"]}},…{"type":"auto_compaction_start",…"$defs":{…}}}
		`},
	})
}
