//go:build unix

package bash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/proc"
	"github.com/seed-54e836f5/pi/core/tool"
)

func ExampleNew() {
	run := New(Options{Cwd: func() string { return "/" }})
	result, err := run.Run(context.Background(), tool.Call{Arguments: json.RawMessage(`{"command":"pwd; exit 3"}`)}, nil)
	fmt.Printf("%q\n%v\n", message.Text(result.Content), err)
	// Output:
	// "/\n"
	// the command ended with exit code 3
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct{ args, text, failure string }{
		{`{"command":"echo hi"}`, "hi\n", ""},
		{`{"command":"true"}`, "(no output)", ""},
		{`{"command":"printf abc; exit 2"}`, "abc", "the command ended with exit code 2"},
		{`{"command":"exit 1"}`, "", "the command ended with exit code 1"},
		{`{"command":"echo k; kill -9 $$"}`, "k\n", "the command was ended by a signal (killed), exit code 137"},
		{`{"command":"echo begun; sleep 60","timeout":0.2}`, "begun\n", "the command was ended because it ran longer than its timeout of 0.2 seconds"},
		{`{"command":"sleep 60","timeout":"0.1"}`, "", "the command was ended because it ran longer than its timeout of 0.1 seconds"},
		{`{"command":"echo t","timeout":0}`, "", "timeout must be a number of seconds above 0, at most 2147483, not 0"},
		{`{"command":"echo t","timeout":-1.5}`, "", "timeout must be a number of seconds above 0, at most 2147483, not -1.5"},
		{`{"command":"echo t","timeout":1e12}`, "", "timeout must be a number of seconds above 0, at most 2147483, not 1000000000000"},
		{`{"command":"echo t","timeout":2147483}`, "t\n", ""},
		{`{"command":"echo t","timeout":null}`, "t\n", ""},
		{`{"command":"printf '\\033[31mred\\033[0m\\r\\n\\001'"}`, "red\n", ""},
		{`{"command":"sleep 60 & echo done"}`, "done\n\n\n[Something that the command started is still running; what it writes from now on is not shown.]", ""},
		{`{"command":"sleep 60 & exit 4"}`, "(no output)\n\n[Something that the command started is still running; what it writes from now on is not shown.]", "the command ended with exit code 4"},
		{`{"command":"echo $PI_MODEL $PI_CODING_AGENT"}`, "m1 true\n", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			var left proc.Background
			defer left.Close(0)
			result, err := run(t, t.Context(), Options{
				Cwd: t.TempDir, Background: &left, Environment: func() []string { return []string{"PI_MODEL=m1", "PI_CODING_AGENT=true"} },
			}, c.args, nil)
			if c.failure == "" && err != nil || c.failure != "" && (err == nil || err.Error() != c.failure) {
				t.Errorf("error %v, want %q", err, c.failure)
			}
			if got := message.Text(result.Content); got != c.text || result.Details != nil {
				t.Errorf("got %q, details %s; want %q", got, result.Details, c.text)
			}
		})
	}
}

func TestTruncated(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, code := range []int{0, 4} {
		result, err := run(t, t.Context(), Options{Cwd: t.TempDir}, fmt.Sprintf(`{"command":"seq 1 5000; exit %d"}`, code), nil)
		text := message.Text(result.Content)
		body, notice, _ := strings.Cut(text, "\n\n[")
		if !strings.HasPrefix(body, "3001\n") || !strings.HasSuffix(body, "\n5000") || !strings.HasPrefix(notice, "These are lines 3001-5000 of 5000. The whole output is in "+os.TempDir()) || !strings.HasSuffix(notice, "]") {
			t.Errorf("exit %d: %.20q … %q", code, body, notice)
		}
		if code != 0 {
			if err == nil || result.Details != nil {
				t.Errorf("a failure has %v, details %.100s", err, result.Details)
			}
			continue
		}
		var details struct {
			Truncation     struct{ Content string }
			FullOutputPath string
		}
		if err := json.Unmarshal(result.Details, &details); err != nil || details.Truncation.Content != body {
			t.Errorf("details %.100s, %v", result.Details, err)
		}
		if whole, err := os.ReadFile(details.FullOutputPath); err != nil || len(whole) != 23893 {
			t.Errorf("%s holds %d bytes, %v", details.FullOutputPath, len(whole), err)
		}
	}
}

func TestUpdates(t *testing.T) {
	var updates []tool.Result
	_, err := run(t, t.Context(), Options{Cwd: t.TempDir}, `{"command":"printf one; printf two"}`, func(r tool.Result) { updates = append(updates, r) })
	if err != nil || len(updates) < 2 {
		t.Fatalf("%d updates, %v", len(updates), err)
	}
	if first, _ := message.Marshal(updates[0]); string(first) != `{"content":[]}` {
		t.Errorf("first update %s", first)
	}
	if last, _ := message.Marshal(updates[len(updates)-1]); string(last) != `{"content":[{"type":"text","text":"onetwo"}],"details":{}}` {
		t.Errorf("last update %s", last)
	}
}

func TestAborted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	result, err := run(t, ctx, Options{Cwd: t.TempDir}, `{"command":"echo started; sleep 60"}`, func(r tool.Result) {
		if len(r.Content) > 0 {
			cancel()
		}
	})
	if err == nil || err.Error() != "the command was aborted" || message.Text(result.Content) != "started\n" {
		t.Errorf("got %q, %v", message.Text(result.Content), err)
	}
}

func TestWorkingDirectoryIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if _, err := run(t, t.Context(), Options{Cwd: func() string { return dir }}, `{"command":"pwd"}`, func(tool.Result) {}); err == nil || !strings.Contains(err.Error(), "working directory "+dir) {
		t.Errorf("got %v", err)
	}
}

func TestShellAndPrefix(t *testing.T) {
	result, err := run(t, t.Context(), Options{
		Cwd: t.TempDir, Shell: func() string { return "/bin/sh" }, Prefix: func() string { return "x=5" },
	}, `{"command":"echo $0 $x"}`, nil)
	if got := message.Text(result.Content); got != "/bin/sh 5\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func run(t *testing.T, ctx context.Context, o Options, args string, update func(tool.Result)) (tool.Result, error) {
	t.Helper()
	b := New(o)
	checked, err := tool.Validate(b.Spec(), json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return b.Run(ctx, tool.Call{Name: "bash", Arguments: checked}, update)
}
