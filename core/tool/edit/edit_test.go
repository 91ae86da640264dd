package edit_test

import (
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
	"github.com/seed-54e836f5/pi/core/tool/edit"
)

func TestArguments(t *testing.T) {
	const want = `[{"oldText":"a","newText":"b"}]`
	for _, c := range []struct{ args, edits, problem string }{
		{`{"path":"f","edits":[{"oldText":"a","newText":"b"}]}`, want, ""},
		{`{"path":"f","edits":{"oldText":"a","newText":"b"}}`, want, ""},
		{`{"path":"f","edits":"[{\"oldText\":\"a\",\"newText\":\"b\"}]"}`, want, ""},
		{`{"path":"f","edits":"{\"oldText\":\"a\",\"newText\":\"b\"}"}`, want, ""},
		{`{"path":"f","oldText":"a","newText":"b"}`, want, ""},
		{`{"path":"f","oldText":"a","newText":"b","edits":null}`, want, ""},
		{`{"path":"f","oldText":"a","newText":"b","edits":""}`, want, ""},
		{`{"path":"f","oldText":null,"newText":null,"edits":[null,{"oldText":"a","newText":"b"},null]}`, want, ""},
		{`{"path":"f","edits":[{"oldText":"a","newText":"b","reason":"x"}],"why":"y"}`, `[{"oldText":"a","newText":"b"}]`, ""},
		{`{"path":"f","edits":[{"oldText":"a","newText":null}]}`, `[{"oldText":"a","newText":""}]`, ""},
		{`{"path":"f","oldText":"a","newText":null}`, `[{"oldText":"a","newText":""}]`, ""},
		{`{"path":"f","edits":[{"oldText":5,"newText":true}]}`, `[{"oldText":"5","newText":"true"}]`, ""},
		{`{"path":"f","edits":[{"oldText":"x","newText":"y"}],"oldText":"a","newText":"b"}`, `[{"oldText":"x","newText":"y"},{"oldText":"a","newText":"b"}]`, ""},
		{`{"path":"f","edits":[]}`, `[]`, ""},
		{`{"path":"f"}`, "", "edits: is missing"},
		{`{"path":"f","edits":null}`, "", "edits: is missing"},
		{`{"path":"f","edits":[{"oldText":"a"}]}`, "", "edits[0].newText: is missing"},
		{`{"path":"f","oldText":"a"}`, "", "edits[0].newText: is missing"},
		{`{"path":"f","edits":[5]}`, "", "edits[0]: must be an object, not 5"},
		{`{"path":"f","edits":"garbage"}`, "", `edits[0]: must be an object, not the string "garbage"`},
		{`{"path":"f","edits":"[{\"oldText\":\"a"}`, "", "edits[0]: must be an object, not the string"},
		{`{"edits":[]}`, "", "path: is missing"},
	} {
		t.Run(c.args, func(t *testing.T) {
			checked, err := tool.Validate(edit.New(nil).Spec(), json.RawMessage(c.args))
			if c.problem != "" {
				if !errors.Is(err, tool.ErrArguments) || !strings.Contains(err.Error(), "- "+c.problem) {
					t.Errorf("got %v, want %q", err, c.problem)
				}
				return
			}
			var got struct{ Edits []edit.Edit }
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(checked, &got); err != nil {
				t.Fatal(err)
			}
			if edits, _ := message.Marshal(got.Edits); string(edits) != c.edits {
				t.Errorf("got %s, want %s", edits, c.edits)
			}
		})
	}
}

func TestEditFails(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "one\n")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	huge := filepath.Join(dir, "huge")
	write(t, huge, "")
	if err := os.Truncate(huge, 200<<20); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"path":"none","oldText":"a","newText":"b"}`:     "no such file or folder: " + filepath.Join(dir, "none"),
		`{"path":"sub","oldText":"a","newText":"b"}`:      "this is a folder, not a file",
		`{"path":"huge","oldText":"a","newText":"b"}`:     "huge was not changed: it has 200.0MB, and files of up to 100.0MB can be edited",
		`{"path":"f","oldText":"two","newText":"b"}`:      "f was not changed: oldText: is not in the file.",
		`{"path":"f","edits":[]}`:                         "f was not changed: edits is empty",
		`{"path":"/dev/null","oldText":"a","newText":""}`: "no ordinary file",
	} {
		if _, err := run(t, dir, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	if got := content(t, filepath.Join(dir, "f")); got != "one\n" {
		t.Errorf("a failure changed the file to %q", got)
	}
}

func TestEditKeepsModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "bin", "run.sh")
	write(t, script, "echo one\n")
	if err := os.Chmod(script, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("bin/run.sh", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, dir, `{"path":"link","oldText":"one","newText":"two"}`); err != nil {
		t.Fatal(err)
	}
	if got := content(t, script); got != "echo two\n" {
		t.Errorf("the target holds %q", got)
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Error("the link was replaced")
	}
	if info, err := os.Stat(script); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode is %v", info.Mode())
	}
}

// Edits of one file by different ways to it are made one after the other.
func TestEditsAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	const n = 40
	var before, want strings.Builder
	for i := range n {
		fmt.Fprintf(&before, "line %02d\n", i)
		fmt.Fprintf(&want, "LINE %02d\n", i)
	}
	write(t, filepath.Join(dir, "f"), before.String())
	if err := os.Symlink("f", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			path := []string{"f", "link", "./f"}[i%3]
			if _, err := run(t, dir, fmt.Sprintf(`{"path":%q,"oldText":"line %02d","newText":"LINE %02d"}`, path, i, i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := content(t, filepath.Join(dir, "f")); got != want.String() {
		t.Errorf("edits were lost:\n%s", got)
	}
}

func TestDetailsAreJSON(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "a\xff\nb\n")
	result, err := run(t, dir, `{"path":"f","oldText":"b","newText":"<c>"}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"diff":" 1 a` + "\ufffd" + `\n-2 b\n+2 <c>","patch":"--- f\n+++ f\n@@ -1,2 +1,2 @@\n a` + "\ufffd" + `\n-b\n+<c>\n","firstChangedLine":2}`
	if string(result.Details) != want {
		t.Errorf("details %s, want %s", result.Details, want)
	}
	if got := content(t, filepath.Join(dir, "f")); got != "a\xff\n<c>\n" {
		t.Errorf("the file holds %q", got)
	}
}

func run(t *testing.T, dir, args string) (tool.Result, error) {
	t.Helper()
	e := edit.New(func() string { return dir })
	checked, err := tool.Validate(e.Spec(), json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return e.Run(t.Context(), tool.Call{Name: "edit", Arguments: checked}, nil)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
