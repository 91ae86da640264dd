//go:build unix

package proc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-54e836f5/pi/core/limit"
	"github.com/seed-54e836f5/pi/core/proc"
)

func ExampleRun() {
	result, err := proc.Run(context.Background(), proc.Options{
		Command:  "echo out; echo err >&2; exit 3",
		OnOutput: func(delta string) { /* show it */ },
	})
	fmt.Printf("%q %d %v\n", result.Output.Text, result.ExitCode, err)
	// Output: "out\nerr\n" 3 <nil>
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, command string
		want          proc.Result
		text          string
	}{
		{"nothing", "true", proc.Result{}, ""},
		{"arrival order", "echo 1; echo 2 >&2; echo 3; echo 4 >&2", proc.Result{}, "1\n2\n3\n4\n"},
		{"exit code", "echo a; exit 3", proc.Result{ExitCode: 3}, "a\n"},
		{"not found", "nosuchcommand 2>/dev/null", proc.Result{ExitCode: 127}, ""},
		{"killed", "echo k; kill -9 $$", proc.Result{ExitCode: 137, Signal: "killed"}, "k\n"},
		{"terminated", "kill -TERM $$", proc.Result{ExitCode: 143, Signal: "terminated"}, ""},
		{"empty standard input", "cat; echo end", proc.Result{}, "end\n"},
		{"no terminal", "(: </dev/tty) 2>/dev/null || echo none", proc.Result{}, "none\n"},
		{"cleaned", `printf '\033[1mbold\033[0m\r\n\000\377\n'`, proc.Result{}, "bold\n\ufffd\n"},
		{"environment", "echo $PI_TEST_A-$PI_TEST_B", proc.Result{}, "2-three\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var deltas strings.Builder
			got, err := proc.Run(t.Context(), proc.Options{
				Command:  c.command,
				Env:      []string{"PI_TEST_A=1", "PI_TEST_B=three", "PI_TEST_A=2"},
				OnOutput: func(delta string) { deltas.WriteString(delta) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.Output.Text != c.text || deltas.String() != c.text {
				t.Errorf("output %q, deltas %q, want %q", got.Output.Text, deltas.String(), c.text)
			}
			if got.Output = (proc.Output{}); got != c.want {
				t.Errorf("result %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestRunHasAGroupOfItsOwn(t *testing.T) {
	got := run(t, t.Context(), proc.Options{Command: "ps -o pgid=,sid= -p $$; echo $$"})
	fields := strings.Fields(got.Output.Text)
	if len(fields) != 3 || fields[0] != fields[2] || fields[1] != fields[2] {
		t.Errorf("group, session and process are %v, want them the same", fields)
	}
}

func TestRunWorkingDirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, t.Context(), proc.Options{Command: "pwd", Dir: dir}); got.Output.Text != dir+"\n" {
		t.Errorf("ran in %q, want %q", got.Output.Text, dir)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{filepath.Join(dir, "gone"), file} {
		_, err := proc.Run(t.Context(), proc.Options{Command: "pwd", Dir: bad})
		if err == nil || !strings.Contains(err.Error(), "working directory "+bad) {
			t.Errorf("in %s: error %v, want one that names the directory", bad, err)
		}
	}
}

func TestRunCannotStart(t *testing.T) {
	if _, err := proc.Run(t.Context(), proc.Options{Command: "true", Shell: proc.ShellAt("/no/such/shell")}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "/no/such/shell") {
		t.Errorf("missing shell: %v", err)
	}
	if _, err := proc.Run(t.Context(), proc.Options{Command: "true " + strings.Repeat("x", 4<<20)}); err == nil || !strings.Contains(err.Error(), "longer than the system takes") {
		t.Errorf("very long command: %v", err)
	}
}

func TestRunTimeout(t *testing.T) {
	got := run(t, t.Context(), proc.Options{Command: "echo begun; sleep 60", Timeout: 50 * time.Millisecond})
	if !got.TimedOut || got.Cancelled || got.ExitCode != 143 || got.Output.Text != "begun\n" {
		t.Errorf("result %+v", got)
	}
}

func TestRunCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	mark := filepath.Join(t.TempDir(), "ran")
	if got := run(t, ctx, proc.Options{Command: "touch " + mark}); !got.Cancelled {
		t.Errorf("result %+v", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command was run")
	}
}

// Each command says ready when it is to be cancelled, and holds a pipe whose
// end shows that nothing of it is left.
func TestRunCancelledEndsTheWholeGroup(t *testing.T) {
	for _, c := range []struct {
		name, command string
		code          int
	}{
		{"shell", "echo ready; sleep 60", 143},
		{"child in the background", "sleep 60 & echo ready; wait", 143},
		{"grandchildren", "bash -c 'bash -c \"echo ready; sleep 60\"; true'; true", 143},
		{"deaf to TERM", "trap '' TERM; echo ready; while :; do sleep 60; done", 137},
		{"deaf child", "(trap '' TERM; echo ready; while :; do sleep 60; done); true", 143},
	} {
		t.Run(c.name, func(t *testing.T) {
			held := fifo(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			got := run(t, ctx, proc.Options{
				Command: "exec 9>" + held.path + "; " + c.command,
				Grace:   50 * time.Millisecond,
				OnOutput: func(delta string) {
					if strings.Contains(delta, "ready") {
						cancel()
					}
				},
			})
			if !got.Cancelled || got.ExitCode != c.code {
				t.Errorf("result %+v, want exit code %d", got, c.code)
			}
			held.waitForTheLastHolder(t)
		})
	}
}

func TestRunDoesNotWaitForTheBackground(t *testing.T) {
	for _, command := range []string{
		"sleep 60 & echo done",
		"(while :; do echo x; sleep .01; done) & echo done",
		"yes & echo done",
		"setsid sleep 1 & echo done",
	} {
		t.Run(command, func(t *testing.T) {
			var left proc.Background
			defer left.Close(10 * time.Millisecond)
			got := run(t, t.Context(), proc.Options{Command: command, Background: &left, Capture: proc.NewCapture(t.TempDir())})
			if !got.StillRunning || got.ExitCode != 0 {
				t.Errorf("result %+v", got)
			}
			if got.Output.Truncation == nil && !strings.Contains(got.Output.Text, "done\n") {
				t.Errorf("output %.100q", got.Output.Text)
			}
		})
	}
}

func TestRunReadsWhatALateChildWrote(t *testing.T) {
	got := run(t, t.Context(), proc.Options{Command: "echo one > >(cat); head -c 60000 /dev/zero | tr '\\0' x; echo", Capture: proc.NewCapture(t.TempDir())})
	if got.StillRunning || got.Output.Truncation == nil || got.Output.Truncation.TotalBytes != 60005 {
		t.Errorf("result %+v", got)
	}
}

func TestBackgroundKeepsProcessesUntilItIsClosed(t *testing.T) {
	held, gate, answer := fifo(t), channel(t), channel(t)
	var left proc.Background
	got := run(t, t.Context(), proc.Options{
		Command:    fmt.Sprintf("(exec 9>%s; read x <%s; echo lost; echo lives >%s; sleep 60) & echo started", held.path, gate.path, answer.path),
		Background: &left,
	})
	if got.Output.Text != "started\n" || !got.StillRunning {
		t.Fatalf("result %+v", got)
	}
	gate.write(t, "go\n")
	if said := answer.readLine(t); said != "lives\n" {
		t.Errorf("the process said %q after a line that nobody reads", said)
	}
	left.Close(time.Second)
	held.waitForTheLastHolder(t)
	left.Close(time.Second)
}

func TestWithoutBackgroundTheOutputIsClosed(t *testing.T) {
	held, gate, ready := fifo(t), channel(t), channel(t)
	run(t, t.Context(), proc.Options{
		Command: fmt.Sprintf("(exec 9>%s; echo >%s; read x <%s; echo lost; sleep 60) & read y <%s", held.path, ready.path, gate.path, ready.path),
	})
	gate.write(t, "go\n")
	held.waitForTheLastHolder(t)
}

func TestBackgroundClosedTakesNothing(t *testing.T) {
	held, ready := fifo(t), channel(t)
	var left proc.Background
	left.Close(0)
	(*proc.Background)(nil).Close(0)
	run(t, t.Context(), proc.Options{
		Command:    fmt.Sprintf("(exec 9>%s; echo >%s; while :; do echo x; sleep .01; done) & read y <%s", held.path, ready.path, ready.path),
		Background: &left,
	})
	held.waitForTheLastHolder(t)
}

func TestRunKeepsTheEndOfALongLine(t *testing.T) {
	dir := t.TempDir()
	got := run(t, t.Context(), proc.Options{Command: "head -c 300000 /dev/zero | tr '\\0' x", Capture: proc.NewCapture(dir)})
	if got.Output.Text != strings.Repeat("x", limit.Bytes) || !got.Output.Truncation.LastLinePartial {
		t.Errorf("kept %d bytes, %+v", len(got.Output.Text), got.Output.Truncation)
	}
	checkLog(t, got.Output, dir, strings.Repeat("x", 300000))
}

func TestRunLosesNothingToASlowTaker(t *testing.T) {
	held := fifo(t)
	total := 0
	got := run(t, t.Context(), proc.Options{
		Command: "exec 9>" + held.path + "; head -c 40000 /dev/zero | tr '\\0' y",
		OnOutput: func(delta string) {
			if total == 0 {
				// The rest is still in the pipe when the shell has ended.
				held.waitForTheLastHolder(t)
			}
			total += len(delta)
		},
	})
	if total != 40000 || got.StillRunning {
		t.Errorf("%d bytes came through, still running %v", total, got.StillRunning)
	}
}

func TestTwoAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan proc.Result)
	go func() {
		got, _ := proc.Run(ctx, proc.Options{Command: "sleep 60"})
		first <- got
	}()
	if second := run(t, t.Context(), proc.Options{Command: "true"}); second.Cancelled || second.ExitCode != 0 {
		t.Errorf("second: %+v", second)
	}
	cancel()
	if got := <-first; !got.Cancelled {
		t.Errorf("first: %+v", got)
	}
}

func TestShellAt(t *testing.T) {
	for path, want := range map[string]string{"/bin/zsh": "-c", "/x/pwsh": "-NoProfile -NonInteractive -Command", "/x/CMD.EXE": "/d /s /c"} {
		if got := strings.Join(proc.ShellAt(path).Args, " "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func run(t *testing.T, ctx context.Context, o proc.Options) proc.Result {
	t.Helper()
	got, err := proc.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// pipe is a named pipe between the test and the processes that it runs.
type pipe struct {
	path string
	file *os.File
}

// fifo makes a pipe whose end shows that no process has it open for writing.
func fifo(t *testing.T) pipe { return open(t, os.O_RDONLY) }

// channel makes a pipe that the test can write to, and wait for lines on.
func channel(t *testing.T) pipe { return open(t, os.O_RDWR) }

func open(t *testing.T, how int) pipe {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// O_NONBLOCK: do not wait for the other side.
	file, err := os.OpenFile(path, how|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if err := file.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return pipe{path, file}
}

func (p pipe) waitForTheLastHolder(t *testing.T) {
	t.Helper()
	if _, err := io.ReadAll(p.file); err != nil {
		t.Errorf("something of the command is still there: %v", err)
	}
}

func (p pipe) write(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(p.file, text); err != nil {
		t.Fatal(err)
	}
}

func (p pipe) readLine(t *testing.T) string {
	t.Helper()
	line, err := bufio.NewReader(p.file).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	return line
}
