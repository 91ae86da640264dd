package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counted makes a command that says how often it ran in a file.
func counted(t *testing.T, rest string) (command string, runs func() int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "runs")
	return "echo run >> '" + file + "'; " + rest, func() int {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), "run")
	}
}

func TestCommandRunsOnce(t *testing.T) {
	command, runs := counted(t, "echo '  secret-key  '; echo noise >&2")
	var cache commandCache
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := cache.output(t.Context(), command); err != nil || got != "secret-key" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := runs(); n != 1 {
		t.Errorf("the command ran %d times", n)
	}
	cache.forget(command)
	if _, err := cache.output(t.Context(), command); err != nil || runs() != 2 {
		t.Errorf("after forget: %v, %d runs", err, runs())
	}
}

func TestCommandFailure(t *testing.T) {
	for _, c := range []struct{ name, command, want string }{
		{"exit code", "echo sk-very-secret-output; echo also-secret >&2; exit 3", "exit code 3"},
		{"nothing", "true", "printed nothing"},
		{"syntax", "if", "exit code"},
		{"timeout", "sleep 60", "took longer than 50ms"},
		{"comment", "exit 4 # and so on", "exit code 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := commandCache{timeout: 50 * time.Millisecond}
			if c.name != "timeout" {
				cache.timeout = 0
			}
			got, err := cache.output(t.Context(), c.command)
			if err == nil || !strings.Contains(err.Error(), c.want) || got != "" {
				t.Fatalf("got %q, %v; want an error with %q", got, err, c.want)
			}
			told := strings.ReplaceAll(err.Error(), Redact(c.command), "")
			if strings.Contains(told, "secret") {
				t.Errorf("the error tells what the command printed: %v", err)
			}
		})
	}
}

func TestCommandFailureIsNotKept(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ready")
	command := "test -f '" + marker + "' && echo later"
	var cache commandCache
	if _, err := cache.output(t.Context(), command); err == nil {
		t.Fatal("the command should have failed")
	}
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := cache.output(t.Context(), command); err != nil || got != "later" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A caller that gives up must not take the key from the others.
func TestCommandIsTakenOver(t *testing.T) {
	const command = "echo key"
	var cache commandCache
	run, mine := cache.begin(command)
	if !mine {
		t.Fatal("a fresh cache has the command already")
	}
	var second sync.WaitGroup
	second.Go(func() {
		if got, err := cache.output(t.Context(), command); err != nil || got != "key" {
			t.Errorf("the second caller got %q, %v", got, err)
		}
	})
	gone, giveUp := context.WithCancel(t.Context())
	giveUp()
	_, run.err = runCommand(gone, command, time.Minute)
	if !errors.Is(run.err, errGaveUp) || !errors.Is(run.err, context.Canceled) {
		t.Errorf("the first caller got %v", run.err)
	}
	cache.forget(command)
	close(run.done)
	second.Wait()
}

func TestCommandWaitEndsWithContext(t *testing.T) {
	var cache commandCache
	run, _ := cache.begin("command")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cache.output(ctx, "command"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(run.done)
}
