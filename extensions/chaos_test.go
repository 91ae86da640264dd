package extensions_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/extensions"
	"github.com/seed-54e836f5/pi/proto"
)

var (
	rounds   = flag.Int("rounds", 8, "how often TestStartAndStopManyTimes starts and stops an extension")
	largeMiB = flag.Int("largemib", 20, "size of the values of TestLargeValues")
)

// TestKilledTenTimes kills a process before, during and after calls. Each time
// the call ends at once with an error, and the next process takes over.
func TestKilledTenTimes(t *testing.T) {
	dir := actor(t, "", nil)
	for n := range 10 {
		k := startKit(t, dir)
		pid := k.info().PID
		kill := func() {
			if err := killProcess(pid); err != nil {
				t.Fatal(err)
			}
		}
		switch n % 3 {
		case 0: // before
			kill()
			k.wantError("was ended by signal killed")
		case 1: // during
			done := make(chan error, 1)
			go func() {
				_, err := k.tool(t.Context(), "act", `{"text":"until-aborted"}`, nil)
				done <- err
			}()
			k.person.waitNotice(t, "tool waits")
			killed := time.Now()
			kill()
			if err := <-done; err == nil || !strings.Contains(err.Error(), "was ended by signal killed") {
				t.Errorf("the call under way gave %v", err)
			}
			if took := time.Since(killed); took > 5*time.Second {
				t.Errorf("the call ended after %s", took)
			}
			k.wantError("was ended by signal killed")
		case 2: // after
			k.command("/call state")
			kill()
			k.wantError("was ended by signal killed")
		}
		k.waitRunning()
		k.command("/call state")
		k.person.waitNotice(t, "state: fine")
		k.close()
	}
}

// TestAHandlerThatNeverReturns hangs in each kind of hook and event. The run
// goes on with an error that names the extension and the handler.
func TestAHandlerThatNeverReturns(t *testing.T) {
	events := map[string]event.Event{}
	for _, info := range event.Table() {
		if info.Hook != event.Closed {
			events[string(info.Kind)] = info.New()
		}
	}
	events["message_end"] = &event.MessageEnd{Message: message.NewUser("x", nil, 1)}
	events["message_start"] = &event.MessageStart{Message: message.NewUser("x", nil, 1)}
	events["turn_end"] = &event.TurnEnd{Message: message.NewUser("x", nil, 1)}
	on, deadlines := "", map[string]string{}
	for kind := range events {
		on += " " + kind + "=hang"
		deadlines[kind] = "30ms"
	}
	k := newKit(t, func(o *extensions.Options) { o.Paths = []string{actor(t, on, map[string]any{"deadlines": deadlines})} })
	k.host.Start(k.session)
	wait(t, k.host.Ready(), "the extension")
	for kind, e := range events {
		info, _ := event.Lookup(event.Kind(kind))
		if info.Kind == event.KindToolCall {
			if result := k.gate(t.Context(), "bash"); !result.Block || !strings.Contains(result.Reason, "did not answer within 30ms") {
				t.Errorf("the gate gives %+v", result)
			}
			continue
		}
		k.hooks.Tell(t.Context(), e)
		got := k.wantError("extension actor: the handler of "+kind, "did not answer within 30ms")
		if got.Event != kind {
			t.Errorf("the error of %s names %s", kind, got.Event)
		}
	}
	if k.info().State != extensions.Running {
		t.Errorf("it is %+v", k.info())
	}
}

// A client that has aborted does not wait for the whole deadline of handlers
// that never return.
func TestAHangingHandlerDoesNotHoldUpAnAbort(t *testing.T) {
	k := startKit(t, actor(t, "agent_end=hang", nil))
	k.hooks.Tell(hook.Hurried(t.Context()), &event.AgentEnd{})
	k.wantError("extension actor: the handler of agent_end", "did not answer within 2s")
}

func TestFloodsOfOutput(t *testing.T) {
	k := startKit(t, actor(t, "", nil))
	k.command("/flood")
	k.command("/say hello")
	for deadline := time.Now().Add(patience); !strings.Contains(k.log.String(), "whispered: hello") && time.Now().Before(deadline); {
		<-time.After(5 * time.Millisecond)
	}
	log := k.log.String()
	for _, want := range []string{
		`msg="on stdout: hello"`, `msg="on stderr: hello"`,
		`msg="early on stdout: hello"`, `msg="early on stderr: hello"`,
		`level=WARN msg="logged: hello" extension=actor`, `level=DEBUG msg="whispered: hello"`, "bytesCut=",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s", want)
		}
	}
	if len(log) > 2<<20 {
		t.Errorf("40 MiB of output made %d bytes of log", len(log))
	}
}

// TestGrandchildrenEnd leaves programs running behind an extension that dies,
// is closed, and will not listen.
func TestGrandchildrenEnd(t *testing.T) {
	for name, end := range map[string]func(k *kit){
		"killed": func(k *kit) {
			if err := killProcess(k.info().PID); err != nil {
				t.Fatal(err)
			}
			k.wantError("was ended by signal killed")
		},
		"closed":   func(k *kit) { k.close() },
		"stubborn": func(k *kit) { k.command("/stubborn"); k.close() },
	} {
		t.Run(name, func(t *testing.T) {
			k := startKit(t, actor(t, "", nil))
			k.command("/children")
			child := number(t, k.person.waitNotice(t, "child=").Message)
			extension := k.info().PID
			end(k)
			waitGone(t, child)
			waitGone(t, extension)
		})
	}
}

func number(t testing.TB, text string) int {
	t.Helper()
	_, digits, _ := strings.Cut(text, "=")
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatalf("%q has no number", text)
	}
	return n
}

// TestCloseIsBounded closes around a handler that hangs in every way.
func TestCloseIsBounded(t *testing.T) {
	k := startKit(t, actor(t, "session_shutdown=hang", nil))
	k.command("/stubborn")
	go func() { _, _ = k.tool(context.Background(), "act", `{"text":"hang"}`, nil) }()
	pid := k.info().PID
	started := time.Now()
	k.close()
	if took := time.Since(started); took > 3*time.Second {
		t.Errorf("closing took %s", took)
	}
	if !gone(pid) {
		t.Error("the process is still there")
	}
	k.close() // once more is fine
}

// TestTheKillComesAlsoWhenAllIsCancelled: the time to end in, and the kill
// behind it, do not depend on who gave up. A stopped process hears nothing.
func TestTheKillComesAlsoWhenAllIsCancelled(t *testing.T) {
	k := startKit(t, actor(t, "", nil))
	pid := k.info().PID
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	if err := k.host.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close gave %v", err)
	}
	waitGone(t, pid)
	if took := time.Since(started); took > 3*time.Second {
		t.Errorf("it was gone after %s", took)
	}
}

// TestQuitIsToldToAllAtOnce has three extensions that hang at the end.
func TestQuitIsToldToAllAtOnce(t *testing.T) {
	k := startKit(t, actor(t, "session_shutdown=hang", nil), actor(t, "session_shutdown=hang", nil), actor(t, "session_shutdown=note", nil), actor(t, "session_shutdown=hang", nil))
	started := time.Now()
	k.close()
	k.person.waitNotice(t, "saw session_shutdown")
	if took := time.Since(started); took > 2*time.Second {
		t.Errorf("closing took %s", took)
	}
}

func TestCloseDuringTheStart(t *testing.T) {
	k := newKit(t, func(o *extensions.Options) {
		o.Paths = []string{
			folder(t, "silent", map[string]any{"command": []string{fixture("broken"), "never-answer-nor-end"}}),
			fixture("hello"),
		}
	})
	k.host.Start(k.session)
	started := time.Now()
	k.close()
	if took := time.Since(started); took > 3*time.Second {
		t.Errorf("closing took %s", took)
	}
	wait(t, k.host.Ready(), "Ready after Close")
}

// TestALogThatNobodyReads floods a log whose writer hangs.
func TestALogThatNobodyReads(t *testing.T) {
	stuck := &stuckWriter{release: make(chan struct{})}
	k := newKit(t, func(o *extensions.Options) {
		o.Paths = []string{actor(t, "", nil)}
		o.Log = slog.New(slog.NewTextHandler(stuck, nil))
	})
	k.start()
	k.command("/flood")
	for n := range 6000 {
		k.command(fmt.Sprintf("/say %d", n))
	}
	close(stuck.release)
	for deadline := time.Now().Add(patience); !strings.Contains(stuck.String(), "lines of the log were left out") && time.Now().Before(deadline); {
		<-time.After(5 * time.Millisecond)
	}
	if !strings.Contains(stuck.String(), "lines of the log were left out") {
		t.Error("nothing says that lines are missing")
	}
}

type stuckWriter struct {
	syncBuffer
	release chan struct{}
}

func (w *stuckWriter) Write(p []byte) (int, error) {
	<-w.release
	return w.syncBuffer.Write(p)
}

func TestLargeValues(t *testing.T) {
	k := startKit(t, actor(t, "", nil))
	size := *largeMiB << 20
	result, err := k.tool(t.Context(), "big", fmt.Sprintf(`{"bytes":%d}`, size), nil)
	if err != nil || len(message.Text(result.Content)) != size {
		t.Errorf("a result of %d bytes gave %v", size, err)
	}
	result, err = k.tool(t.Context(), "length", `{"text":"`+strings.Repeat("x", size)+`"}`, nil)
	if err != nil || message.Text(result.Content) != strconv.Itoa(size) {
		t.Errorf("an argument of %d bytes gave %v", size, err)
	}
}

// TestValuesAboveTheLimit sends more than one message may have, each way: the
// error names the tool, the size and the limit, and the extension lives on.
func TestValuesAboveTheLimit(t *testing.T) {
	const size = proto.MaxMessageBytes // and with what is around it, more
	k := startKit(t, actor(t, "", nil))
	pid := k.info().PID
	for name, c := range map[string]struct{ arguments, limit string }{
		"big":    {fmt.Sprintf(`{"bytes":%d}`, size), fmt.Sprintf("limit of %d", size-1<<20)},
		"length": {`{"text":"` + strings.Repeat("x", size) + `"}`, fmt.Sprintf("limit of %d MiB", size>>20)},
	} {
		_, err := k.tool(t.Context(), name, c.arguments, nil)
		if err == nil {
			t.Fatalf("%s: there is no error", name)
		}
		for _, want := range []string{"the tool " + name, strconv.Itoa(size)[:6], c.limit} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in: %v", name, want, err)
			}
		}
	}
	k.command("/call state")
	if now := k.info(); now.PID != pid || now.State != extensions.Running {
		t.Errorf("afterwards it is %+v", now)
	}
}

// TestUpdatesComeInOrderAndWhole sends a burst of deltas and then an event
// that is awaited: by then all of them have been handled.
func TestUpdatesComeInOrderAndWhole(t *testing.T) {
	k := startKit(t, actor(t, "message_update=count", nil))
	want := burst(k, 3000)
	k.hooks.Tell(t.Context(), &event.MessageEnd{Message: message.NewUser("x", nil, 1)})
	if n := k.person.waitNotice(t, "text: "); n.Message != "text: "+want {
		t.Errorf("the text came as %d bytes, not %d", len(n.Message)-6, len(want))
	}
}

// TestFloodsOfDeltasAreJoined: an extension sees each delta of a short answer,
// and all the text of a long one, without a call for each of its deltas.
func TestFloodsOfDeltasAreJoined(t *testing.T) {
	for count, joined := range map[int]bool{100: false, 20000: true} {
		k := startKit(t, actor(t, "message_update=count", nil))
		want := burst(k, count)
		k.hooks.Tell(t.Context(), &event.MessageEnd{Message: message.NewUser("x", nil, 1)})
		if n := k.person.waitNotice(t, "text: "); n.Message != "text: "+want {
			t.Errorf("of %d deltas the text came as %d bytes, not %d", count, len(n.Message)-6, len(want))
		}
		var events int
		if _, err := fmt.Sscanf(k.person.waitNotice(t, "events: ").Message, "events: %d", &events); err != nil {
			t.Fatal(err)
		}
		if (events < count/10) != joined || !joined && events != count {
			t.Errorf("%d deltas came as %d events", count, events)
		}
	}
}

func burst(k *kit, count int) (text string) {
	var all strings.Builder
	for n := range count {
		delta := fmt.Sprintf("%d,", n)
		all.WriteString(delta)
		k.hooks.Tell(k.t.Context(), &event.MessageUpdate{Update: event.AssistantUpdate{Type: event.TextDelta, Delta: &delta}})
	}
	return all.String()
}

// TestASlowSubscriberIsToldApart hangs in the handler of deltas. The stream
// goes on, memory is bounded, and get_extensions tells.
func TestASlowSubscriberIsToldApart(t *testing.T) {
	k := startKit(t, actor(t, "message_update=wait", nil))
	piece := strings.Repeat("x", 4096)
	started := time.Now()
	for n := range 5000 {
		k.hooks.Tell(t.Context(), &event.MessageUpdate{Update: event.AssistantUpdate{Type: event.TextDelta, ContentIndex: n, Delta: &piece}})
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("the stream took %s", took)
	}
	k.wantError("does not keep up with message_update")
	if info := k.info(); !info.Slow || info.Dropped == 0 {
		t.Errorf("it is described as %+v", info)
	}
}

// TestStartAndStopManyTimes looks for what is left behind.
func TestStartAndStopManyTimes(t *testing.T) {
	dir := actor(t, "session_start=note", nil)
	round := func() {
		t.Run("", func(t *testing.T) { // so that the test lets go of the round
			k := startKit(t, dir)
			k.command("/call state")
			k.close()
		})
	}
	round()
	goroutines, descriptors, memory := runtime.NumGoroutine(), openFiles(t), heap()
	for range *rounds {
		round()
	}
	if now := runtime.NumGoroutine(); now > goroutines+5 {
		t.Errorf("goroutines grew from %d to %d", goroutines, now)
	}
	if now := openFiles(t); now > descriptors+5 {
		t.Errorf("descriptors grew from %d to %d", descriptors, now)
	}
	if now := heap(); now > memory+16<<20 {
		t.Errorf("the heap grew from %d to %d", memory, now)
	}
	t.Logf("after %d rounds: goroutines %d to %d, descriptors %d to %d, heap %d to %d KiB",
		*rounds, goroutines, runtime.NumGoroutine(), descriptors, openFiles(t), memory>>10, heap()>>10)
}

func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// hostEnv makes the test binary a host of its own, to be killed.
const hostEnv = "PI_TEST_HOST"

// TestNothingOutlivesAKilledHost kills a host with -9 while its extensions are
// idle, in a call, stubborn, stopped, no extension of the sdk, and have
// children.
func TestNothingOutlivesAKilledHost(t *testing.T) {
	goodbye := filepath.Join(t.TempDir(), "goodbye")
	paths := []string{
		fixture("hello"),
		actor(t, "session_shutdown=file:"+goodbye, nil),
		actor(t, "session_shutdown=hang", nil),
	}
	encoded, err := json.Marshal(paths)
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(os.Args[0], "-test.run=none")
	host.Env = append(os.Environ(), hostEnv+"="+string(encoded))
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill() })
	var pids []int
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		pids = append(pids, number(t, lines.Text()))
	}
	if len(pids) != 4 {
		t.Fatalf("the host has the processes %v", pids)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	for _, pid := range pids {
		waitGone(t, pid)
	}
	if took := time.Since(killed); took > 2*time.Second {
		t.Errorf("the last one was gone after %s", took)
	}
	_ = host.Wait()
	if reason, err := os.ReadFile(goodbye); err != nil || string(reason) != "quit" {
		t.Errorf("the handler of session_shutdown left %q, %v", reason, err)
	}
}

// beHost is the process that TestNothingOutlivesAKilledHost kills.
func beHost(encoded string) int {
	var paths []string
	if err := json.Unmarshal([]byte(encoded), &paths); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "pi-host-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	person := newPerson()
	hooks := &hook.Chain{}
	s := newSession(dir, person, hooks, nil)
	host := extensions.New(extensions.Options{
		AgentDir: dir, Folder: extensions.Folder{ProjectDir: dir}, Paths: paths, Hooks: hooks, Log: slog.New(slog.DiscardHandler),
	})
	host.Start(s)
	<-host.Ready()
	hooks.Tell(context.Background(), &event.SessionStart{Reason: "startup"})
	for _, info := range host.Infos() {
		fmt.Printf("pid=%d\n", info.PID)
	}
	go s.tools["act"].Run(context.Background(), tool.Call{Arguments: []byte(`{"text":"hang"}`)}, nil)
	s.Prompt(session.Prompt{Text: "/children:1"}, func(session.Disposition, error) {
		for _, n := range person.notices() {
			if pid, ok := strings.CutPrefix(n.Message, "child="); ok {
				fmt.Printf("pid=%s\n", pid)
			}
		}
		fmt.Println("ready")
	})
	select {}
}
