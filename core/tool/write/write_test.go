package write_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/write"
)

func ExampleNew() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)

	make := write.New(func() string { return dir })
	result, err := make.Run(context.Background(), tool.Call{Arguments: json.RawMessage(`{"path":"new/a.txt","content":"hello\n"}`)}, nil)
	fmt.Println(message.Text(result.Content), err)
	// Output: Successfully wrote 6 bytes to new/a.txt <nil>
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ path, content, says string }{
		{"n.txt", "hello\nworld\n", "Successfully wrote 12 bytes to n.txt"},
		{"d/e/f.txt", "deep", "Successfully wrote 4 bytes to d/e/f.txt"},
		{"n.txt", "again", "Successfully wrote 5 bytes to n.txt"},
		{"z.txt", "", "Successfully wrote 0 bytes to z.txt"},
		{filepath.Join(dir, "abs.txt"), "é✓", "Successfully wrote 5 bytes to " + filepath.Join(dir, "abs.txt")},
		{"@at.txt", "a\r\n", "Successfully wrote 3 bytes to @at.txt"},
	} {
		result, err := run(t, dir, map[string]any{"path": c.path, "content": c.content})
		if got := message.Text(result.Content); err != nil || got != c.says || result.Details != nil {
			t.Errorf("%s: %q, %v; want %q", c.path, got, err, c.says)
		}
	}
	for name, want := range map[string]string{"n.txt": "again", "d/e/f.txt": "deep", "z.txt": "", "abs.txt": "é✓", "at.txt": "a\r\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("keep"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"sub": "folder, not a file", "": "folder, not a file", "f/g": "is a file, not a folder", "f/g/h": "is a file, not a folder", os.DevNull: "no ordinary file",
	} {
		if _, err := run(t, dir, map[string]any{"path": path, "content": "a"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != "keep" {
		t.Errorf("a failure changed a file to %q", got)
	}
}

func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	for name, to := range map[string]string{"link": "real.txt", "dangling": "later/new.txt"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "real.txt", "dangling": "later/new.txt"} {
		if _, err := run(t, dir, map[string]any{"path": name, "content": name}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, to)); err != nil || string(got) != name {
			t.Errorf("%s: the target holds %q, %v", name, got, err)
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("%s is no link any more", name)
		}
	}
}

// Whoever reads while others write sees one of the contents, whole.
func TestWriteAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	contents := []string{strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<15)}
	if _, err := run(t, dir, map[string]any{"path": "f", "content": contents[0]}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, content := range contents {
		all.Go(func() {
			for range 20 {
				if _, err := run(t, dir, map[string]any{"path": "f", "content": content}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for range 200 {
			got, err := os.ReadFile(filepath.Join(dir, "f"))
			if err != nil || string(got) != contents[0] && string(got) != contents[1] {
				t.Errorf("a reader saw %d bytes, %v", len(got), err)
			}
		}
	})
	all.Wait()
}

func TestWriteWantsAContent(t *testing.T) {
	dir := t.TempDir()
	for _, args := range []string{`{"path":"a"}`, `{"path":"a","content":null}`, `{"path":"a","content":{"a":1}}`, `{"path":"a","content":"x`} {
		if _, err := tool.Validate(write.New(nil).Spec(), json.RawMessage(args)); !errors.Is(err, tool.ErrArguments) || !strings.Contains(err.Error(), "Received:\n") {
			t.Errorf("%s: %v", args, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("something was written: %v", entries)
	}
}

func run(t *testing.T, dir string, args map[string]any) (tool.Result, error) {
	t.Helper()
	raw, err := message.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	w := write.New(func() string { return dir })
	checked, err := tool.Validate(w.Spec(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return w.Run(t.Context(), tool.Call{Name: "write", Arguments: checked}, nil)
}
