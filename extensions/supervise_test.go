package extensions_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/extensions"
)

// actor makes an extension that handles events as its variable ON says.
func actor(t testing.TB, on string, more map[string]any) string {
	t.Helper()
	manifest := map[string]any{"command": []string{fixture("actor")}, "env": []string{"ON=" + on}}
	for field, value := range more {
		manifest[field] = value
	}
	return folder(t, "actor", manifest)
}

func TestADeathIsReportedAndMended(t *testing.T) {
	k := startKit(t, actor(t, "session_start=note tool_call=note", nil))
	k.person.waitNotice(t, "session starts: startup")
	first := k.info().PID

	if d, err := k.prompt("/act die"); err != nil {
		t.Fatalf("the command that dies: %s, %v", d, err)
	}
	// One error of the command, which was under way, and one of the process.
	k.wantError("the command act failed", "exited with code 7", "actor dies in command")
	k.person.waitNotice(t, "session starts: reload")
	info := k.info()
	if info.PID == first || info.Restarts != 1 || info.State != extensions.Running {
		t.Errorf("after the death it is %+v", info)
	}
	if result := k.gate(t.Context(), "bash"); result.Block {
		t.Errorf("the mended gate blocks: %+v", result)
	}
}

func TestAfterThreeRestartsItStaysDown(t *testing.T) {
	k := startKit(t, actor(t, "tool_call=note", nil))
	for n := range 4 {
		k.waitRunning()
		if err := killProcess(k.info().PID); err != nil {
			t.Fatal(err)
		}
		k.wantError("was ended by signal killed")
		if n == 3 {
			k.wantError("died 4 times within a minute and stays down")
		}
	}
	if info := k.info(); info.State != extensions.Failed {
		t.Fatalf("it is %+v", info)
	}
	result := k.gate(t.Context(), "bash")
	if !result.Block || !strings.Contains(result.Reason, "the extension actor checks its calls and is down") {
		t.Errorf("while it is down a call gives %+v", result)
	}
	if _, err := k.tool(t.Context(), "big", `{"bytes":1}`, nil); err == nil || !strings.Contains(err.Error(), "the extension actor is down") {
		t.Errorf("its tool gives %v", err)
	}
	if err := k.host.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if result := k.gate(t.Context(), "bash"); result.Block {
		t.Errorf("after a reload a call gives %+v", result)
	}
}

// waitRunning waits until the extension is up again and in the chain.
func (k *kit) waitRunning() {
	k.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if k.info().State == extensions.Running {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	k.t.Fatalf("it does not run: %+v", k.info())
}

func TestGates(t *testing.T) {
	for name, test := range map[string]struct {
		on       string
		manifest map[string]any
		tool     string
		blocked  string // part of the reason; empty: it runs
		reported string // part of an extension_error; empty: none
	}{
		"block":               {"tool_call=block", nil, "bash", "actor blocks bash", ""},
		"fail closed":         {"tool_call=fail", nil, "bash", "actor fails in tool_call", ""},
		"fail open":           {"tool_call=open-fail", nil, "bash", "", "actor fails in tool_call"},
		"fail open, manifest": {"tool_call=fail", map[string]any{"failOpen": true}, "bash", "", "actor fails in tool_call"},
		"panic":               {"tool_call=panic", nil, "bash", "panic: actor panics in tool_call", ""},
		"dies":                {"tool_call=die", nil, "bash", "actor dies in tool_call", ""},
		"dies, open":          {"tool_call=open-die", nil, "bash", "", "actor dies in tool_call"},
		"hangs":               {"tool_call=hang", map[string]any{"deadlines": map[string]string{"tool_call": "50ms"}}, "bash", "did not answer within 50ms", ""},
		"hangs, open":         {"tool_call=open-hang", map[string]any{"deadlines": map[string]string{"tool_call": "50ms"}}, "bash", "", "did not answer within 50ms"},
		"other tool":          {"tool_call=bash-block", nil, "read", "", ""},
		"its tool":            {"tool_call=bash-block", nil, "bash", "actor blocks bash", ""},
		"second handler":      {"tool_call=change tool_call=block", nil, "bash", "actor blocks bash", ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := startKit(t, actor(t, test.on, test.manifest))
			result := k.gate(t.Context(), test.tool)
			if result.Block != (test.blocked != "") || !strings.Contains(result.Reason, test.blocked) {
				t.Errorf("the call gives %+v", result)
			}
			if test.reported != "" {
				k.wantError(test.reported)
			}
		})
	}
}

func TestTwoHandlersOfAKindAreChained(t *testing.T) {
	k := startKit(t, actor(t, "tool_call=change tool_call=change", nil))
	e := &event.ToolCall{ToolName: "bash", ToolCallID: "1", Input: event.Raw(`{"a":1}`)}
	hook.Decide[event.ToolCallResult](t.Context(), k.hooks, e)
	if got := string(e.Input); got != `{"changed":true,"changed":true,"a":1}` {
		t.Errorf("the input became %s", got)
	}
}

func TestGuardsCloseWhatNeverCameUp(t *testing.T) {
	k := startKit(t, folder(t, "gate", map[string]any{"command": []string{fixture("broken"), "exit"}, "guards": []string{"bash"}}))
	if result := k.gate(t.Context(), "bash"); !result.Block || !strings.Contains(result.Reason, "the configuration is missing") {
		t.Errorf("bash gives %+v", result)
	}
	if result := k.gate(t.Context(), "read"); result.Block {
		t.Errorf("read gives %+v", result)
	}
}

func TestADeadlineStandsStillWhileADialogIsOpen(t *testing.T) {
	k := startKit(t, actor(t, "tool_call=ask", map[string]any{"deadlines": map[string]string{"tool_call": "100ms"}}))
	k.person.answer(func(ctx context.Context, _ ui.Dialog) ui.Answer {
		select {
		case <-ctx.Done():
			return ui.Answer{Dismissed: true}
		case <-time.After(500 * time.Millisecond):
			return ui.Answer{Confirmed: true}
		}
	})
	if result := k.gate(t.Context(), "bash"); result.Block {
		t.Errorf("a slow person makes %+v", result)
	}
	k.person.waitNotice(t, "tool_call answered true")
}

func TestAnAbortReachesHandlersAndDialogs(t *testing.T) {
	t.Run("handler", func(t *testing.T) {
		k := startKit(t, actor(t, "tool_call=until-aborted", nil))
		ctx, abort := context.WithCancel(t.Context())
		done := make(chan event.ToolCallResult, 1)
		go func() { done <- k.gate(ctx, "bash") }()
		k.person.waitNotice(t, "tool_call waits")
		abort()
		k.person.waitNotice(t, "tool_call was aborted")
		if result := <-done; !result.Block {
			t.Errorf("the aborted gate is open")
		}
	})
	t.Run("dialog", func(t *testing.T) {
		k := startKit(t, actor(t, "tool_call=ask", nil))
		ctx, abort := context.WithCancel(t.Context())
		ended := make(chan struct{})
		k.person.answer(func(ctx context.Context, _ ui.Dialog) ui.Answer {
			<-ctx.Done()
			close(ended)
			return ui.Answer{Dismissed: true}
		})
		go k.gate(ctx, "bash")
		k.person.waitDialog(t, "dialog of tool_call")
		abort()
		wait(t, ended, "the dialog to end")
	})
	t.Run("dialog of the dead", func(t *testing.T) {
		k := startKit(t, actor(t, "tool_call=ask", nil))
		ended := make(chan struct{})
		k.person.answer(func(ctx context.Context, _ ui.Dialog) ui.Answer {
			<-ctx.Done()
			close(ended)
			return ui.Answer{Dismissed: true}
		})
		go k.gate(t.Context(), "bash")
		k.person.waitDialog(t, "dialog of tool_call")
		if err := killProcess(k.info().PID); err != nil {
			t.Fatal(err)
		}
		wait(t, ended, "the dialog to end")
	})
	t.Run("tool", func(t *testing.T) {
		k := startKit(t, actor(t, "", nil))
		ctx, abort := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := k.tool(ctx, "act", `{"text":"until-aborted"}`, nil)
			done <- err
		}()
		k.person.waitNotice(t, "tool waits")
		abort()
		if err := <-done; !errors.Is(err, tool.ErrAborted) {
			t.Errorf("the aborted tool gave %v", err)
		}
		k.person.waitNotice(t, "tool was aborted")
	})
}

func TestToolsStreamAndFail(t *testing.T) {
	k := startKit(t, actor(t, "", nil))
	var seen []string
	result, err := k.tool(t.Context(), "steps", `{}`, func(r tool.Result) { seen = append(seen, r.Content[0].Text) })
	if fmt.Sprint(seen) != "[step 0 step 1 step 2]" || err == nil || err.Error() != "steps failed" || result.Content[0].Text != "partly" {
		t.Errorf("steps gave %v, %+v, %v", seen, result, err)
	}
}

func TestCallsToPi(t *testing.T) {
	k := startKit(t, actor(t, "", nil))
	for _, name := range []string{"entries", "append", "name", "state", "tools", "message", "commands", "prompt"} {
		k.command("/call " + name)
		k.person.waitNotice(t, name+": fine")
	}
	for name, want := range map[string]string{
		"no-tool":  "there is no tool named",
		"no-name":  "Session name cannot be empty",
		"thinking": "invalid=true",
		"select":   "invalid=true",
		"provider": "unavailable=true",
	} {
		k.command("/call " + name)
		if n := k.person.waitNotice(t, name+": "); !strings.Contains(n.Message, want) {
			t.Errorf("%s gave %q", name, n.Message)
		}
	}
	k.command("/shell echo out; echo err >&2; exit 5")
	k.person.waitNotice(t, "code 5, out\nerr\n")
	k.command("/new-session")
	k.person.waitNotice(t, "moved")
}

func TestReloadSwapsProcesses(t *testing.T) {
	k := startKit(t, actor(t, "session_start=note", nil))
	k.person.waitNotice(t, "session starts: startup")
	old := k.info().PID
	done := make(chan error, 1)
	go func() {
		_, err := k.tool(t.Context(), "act", `{"text":"ask"}`, nil)
		done <- err
	}()
	answered := make(chan struct{})
	k.person.answer(func(context.Context, ui.Dialog) ui.Answer { <-answered; return ui.Answer{Confirmed: true} })
	k.person.waitDialog(t, "dialog of tool")

	k.command("/reload")
	k.person.waitNotice(t, "session starts: reload")
	k.person.waitNotice(t, fmt.Sprintf("reloaded by %d", old))
	if now := k.info(); now.PID == old || now.State != extensions.Running {
		t.Errorf("after the reload it is %+v", now)
	}
	close(answered)
	if err := <-done; err != nil {
		t.Errorf("the call that was under way: %v", err)
	}
	waitGone(t, old)
}

func TestReloadKeepsWhatWorks(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ext")
	copyFile(t, fixture("hello"), program)
	k := startKit(t, program)
	old := k.info()
	write(t, program+".new", "#!/no/such/thing\n", 0o755)
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
	if err := k.host.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.wantError("/no/such/thing")
	if now := k.info(); now.PID != old.PID || now.State != extensions.Running {
		t.Errorf("after the failed reload it is %+v", now)
	}
	k.command("/hello you")
	k.person.waitNotice(t, "Hello you!")
}

// What a reload started lives on when its context ends.
func TestAProcessOutlivesTheContextOfItsStart(t *testing.T) {
	k := startKit(t, actor(t, "", nil))
	ctx, cancel := context.WithCancel(t.Context())
	if err := k.host.Reload(ctx); err != nil {
		t.Fatal(err)
	}
	started := k.info()
	cancel()
	k.command("/call state")
	result, err := k.tool(t.Context(), "big", `{"bytes":3}`, nil)
	if err != nil || message.Text(result.Content) != "bbb" {
		t.Errorf("its tool gave %+v, %v", result, err)
	}
	if now := k.info(); now.PID != started.PID || now.State != extensions.Running || now.Restarts != started.Restarts {
		t.Errorf("it was %+v and is %+v", started, now)
	}
}

// An abort must not wait for an extension that does not come up.
func TestReloadEndsWithItsContext(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ext")
	copyFile(t, fixture("hello"), program)
	k := startKit(t, program)
	old := k.info()
	started := filepath.Join(t.TempDir(), "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, program+".new", "#!/bin/sh\necho > "+started+"\nexec sleep 600\n", 0o755)
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
	ctx, abort := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- k.host.Reload(ctx) }()
	if _, err := os.ReadFile(started); err != nil { // waits for the writer
		t.Fatal(err)
	}
	abort()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Reload gave %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Reload waits for an extension that does not come up")
	}
	if now := k.info(); now.PID != old.PID || now.State != extensions.Running {
		t.Errorf("after the reload it is %+v", now)
	}
	k.command("/hello you")
	k.person.waitNotice(t, "Hello you!")
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(data), 0o755)
}

func killProcess(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// waitGone waits until a process is no more.
func waitGone(t testing.TB, pid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if gone(pid) {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Fatalf("process %d is still there", pid)
}

// gone says whether a process has ended; one that waits to be reaped has.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}
