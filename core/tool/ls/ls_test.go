package ls_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/ls"
)

func ExampleNew() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	_ = os.Mkdir(filepath.Join(dir, "src"), 0o755)
	_ = os.WriteFile(filepath.Join(dir, "README.md"), nil, 0o644)

	list := ls.New(func() string { return dir })
	result, err := list.Run(context.Background(), tool.Call{Arguments: json.RawMessage(`{}`)}, nil)
	fmt.Println(message.Text(result.Content), err)
	// Output:
	// README.md
	// src/ <nil>
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"B.txt", "a.txt", "_x", "Z", "é", "10", "9", ".hidden", "f", "src/in"} {
		file(t, filepath.Join(dir, name))
	}
	for i := range 501 {
		file(t, filepath.Join(dir, "many", fmt.Sprintf("f%04d", i)))
	}
	for i := range 500 {
		file(t, filepath.Join(dir, "full", fmt.Sprintf("f%03d", i)))
	}
	for i := range 300 {
		file(t, filepath.Join(dir, "wide", fmt.Sprintf("%03d%s", i, strings.Repeat("w", 200))))
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"lnk": "src", "dangling": "nowhere", "fl": "a.txt"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, begins, ends, details string }{
		{`{}`, ".hidden\n_x\n10\n9\na.txt\nB.txt\ndangling\né\nempty/\nf\nfl\nfull/\nlnk/\nmany/\nsrc/\nwide/\nZ", "\nZ", ""},
		{`{"path":"src"}`, "in", "in", ""},
		{`{"path":"lnk"}`, "in", "in", ""},
		{`{"path":"empty"}`, "(empty directory)", "(empty directory)", ""},
		{`{"limit":2}`, ".hidden\n_x\n\n[", "[Only the first 2 of 17 entries. For more use limit=4]", `{"entryLimitReached":2}`},
		{`{"limit":2.9}`, ".hidden\n_x\n\n[", "For more use limit=4]", `{"entryLimitReached":2}`},
		{`{"limit":0}`, ".hidden\n\n[", "For more use limit=2]", `{"entryLimitReached":1}`},
		{`{"limit":17}`, ".hidden\n", "\nZ", ""},
		{`{"path":"full"}`, "f000\n", "\nf499", ""},
		{`{"path":"many"}`, "f0000\n", "\nf0499\n\n[Only the first 500 of 501 entries. For more use limit=1000]", `{"entryLimitReached":500}`},
		{`{"path":"wide"}`, "000w", "[Cut after 250 of 300 lines at the limit of 50.0KB]", `"outputLines":250,"outputBytes":50999,`},
	} {
		result, err := run(t, dir, c.args)
		got := message.Text(result.Content)
		if err != nil || !strings.HasPrefix(got, c.begins) || !strings.HasSuffix(got, c.ends) {
			t.Errorf("%s: %.200q … %.100q, %v; want %q … %q", c.args, got, got[max(0, len(got)-100):], err, c.begins, c.ends)
		}
		if c.details == "" && result.Details != nil || !strings.Contains(string(result.Details), c.details) {
			t.Errorf("%s: details %.300s, want %s", c.args, result.Details, c.details)
		}
	}
	for path, want := range map[string]string{"a.txt": "this is a file, not a folder: " + filepath.Join(dir, "a.txt"), "none": "no such file or folder: " + filepath.Join(dir, "none")} {
		if _, err := run(t, dir, `{"path":"`+path+`"}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func run(t *testing.T, dir, args string) (tool.Result, error) {
	t.Helper()
	list := ls.New(func() string { return dir })
	checked, err := tool.Validate(list.Spec(), json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return list.Run(t.Context(), tool.Call{Name: "ls", Arguments: checked}, nil)
}

func file(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}
