package find_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/find"
)

func ExampleNew() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	for _, name := range []string{"main.go", "main_test.go", "README.md"} {
		_ = os.WriteFile(filepath.Join(dir, name), nil, 0o644)
	}
	look := find.New(func() string { return dir })
	result, err := look.Run(context.Background(), tool.Call{Arguments: json.RawMessage(`{"pattern":"*.go"}`)}, nil)
	fmt.Println(message.Text(result.Content), err)
	// Output:
	// main.go
	// main_test.go <nil>
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"src/a.js", "src/b.ts", "src/deep/c.ts", "readme.md", ".hidden", ".hid/x.ts", "node_modules/m/i.js", "ignored.txt", "build/o.ts", ".git/HEAD", ".git/x.ts", "pkg/src/d.ts",
	} {
		plant(t, filepath.Join(dir, name), "")
	}
	plant(t, filepath.Join(dir, ".gitignore"), "ignored.txt\nbuild/\nnode_modules\n")
	for i := range 1001 {
		plant(t, filepath.Join(dir, "many", fmt.Sprintf("f%04d", i)), "")
	}
	for i := range 1000 {
		plant(t, filepath.Join(dir, "full", fmt.Sprintf("g%04d", i)), "")
	}
	for _, c := range []struct{ args, text, notice, details string }{
		{`"*.ts"`, ".hid/x.ts\npkg/src/d.ts\nsrc/b.ts\nsrc/deep/c.ts", "", ""},
		{`"*.TS"`, "No files found matching pattern", "", ""},
		{`"README*"`, "No files found matching pattern", "", ""},
		{`"readme*"`, "readme.md", "", ""},
		{`"*","path":"src"`, "a.js\nb.ts\ndeep/\ndeep/c.ts", "", ""},
		{`"src/*.ts"`, "pkg/src/d.ts\nsrc/b.ts", "", ""},
		{`"./src/*.ts"`, "src/b.ts", "", ""},
		{`"/src/*.ts"`, "src/b.ts", "", ""},
		{`"src/**"`, "pkg/src/d.ts\nsrc/a.js\nsrc/b.ts\nsrc/deep/\nsrc/deep/c.ts", "", ""},
		{`"**/*.ts","path":"src"`, "b.ts\ndeep/c.ts", "", ""},
		{`"deep"`, "src/deep/", "", ""},
		{`"src/"`, "pkg/src/\nsrc/", "", ""},
		{`"*.{js,md}"`, "readme.md\nsrc/a.js", "", ""},
		{`"i.js","path":"node_modules"`, "m/i.js", "", ""},
		{`".*"`, ".gitignore\n.hid/\n.hidden", "", ""},
		{`"` + filepath.Base(dir) + `/**"`, "No files found matching pattern", "", ""},
		{`"*.zzz"`, "No files found matching pattern", "", ""},
		{`"*.ts","limit":4`, ".hid/x.ts\npkg/src/d.ts\nsrc/b.ts\nsrc/deep/c.ts", "", ""},
		{`"*.ts","limit":1.9`, ".hid/x.ts", "Only the first 1 paths; there are more. Use limit=2, or a narrower pattern", `{"resultLimitReached":1}`},
		{`"*.ts","limit":0`, ".hid/x.ts", "Only the first 1 paths; there are more. Use limit=2, or a narrower pattern", `{"resultLimitReached":1}`},
	} {
		result, err := run(t, t.Context(), dir, `{"pattern":`+c.args+`}`)
		want := c.text
		if c.notice != "" {
			want += "\n\n[" + c.notice + "]"
		}
		if got := message.Text(result.Content); err != nil || got != want || string(result.Details) != c.details {
			t.Errorf("%s: %q, %v, details %s; want %q, details %s", c.args, got, err, result.Details, want, c.details)
		}
	}
	if result, err := run(t, t.Context(), dir, `{"pattern":"g*","path":"full"}`); err != nil || result.Details != nil || !strings.HasSuffix(message.Text(result.Content), "\ng0999") {
		t.Errorf("exactly at the limit: details %s, %v", result.Details, err)
	}
	if result, err := run(t, t.Context(), dir, `{"pattern":"f*","path":"many"}`); err != nil || string(result.Details) != `{"resultLimitReached":1000}` || !strings.Contains(message.Text(result.Content), "\nf0999\n\n[") {
		t.Errorf("beyond the limit: details %s, %v", result.Details, err)
	}
}

func TestFindRefuses(t *testing.T) {
	dir := t.TempDir()
	plant(t, filepath.Join(dir, "file"), "")
	for args, want := range map[string]string{
		`"["`:               `pattern: "[" is not a glob`,
		`"*","path":"none"`: "no such file or folder: " + filepath.Join(dir, "none"),
		`"*","path":"file"`: "this is a file, not a folder: " + filepath.Join(dir, "file"),
	} {
		if _, err := run(t, t.Context(), dir, `{"pattern":`+args+`}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := run(t, ctx, dir, `{"pattern":"*"}`); !errors.Is(err, stop) {
		t.Errorf("when cancelled: %v", err)
	}
}

func run(t *testing.T, ctx context.Context, dir, args string) (tool.Result, error) {
	t.Helper()
	f := find.New(func() string { return dir })
	checked, err := tool.Validate(f.Spec(), json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return f.Run(ctx, tool.Call{Name: "find", Arguments: checked}, nil)
}

func plant(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
