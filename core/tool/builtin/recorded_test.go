//go:build unix

package builtin_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/proc"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/builtin"
)

// recording is what one conversation with the reference agent had of tool
// calls: the files there were, the calls in order with what they gave, and the
// files that were left. Texts that every agent words for itself are masked,
// and long ones are there by size and hash.
type recording struct {
	About string
	Files map[string]any // under home and work; {"b64": ...} is binary
	Calls []struct {
		Tool string
		Args json.RawMessage
		Raw  string // arguments as the model wrote them, where they are no JSON
		// Update is the last report before the end; nil: there was none.
		Update any
		Result struct {
			Content any
			Details any
			IsError bool
		}
		// Differs says why the recording was changed into what we do.
		Differs string
	}
	Work    map[string]any
	Differs string // the same for the files left
}

func TestRecorded(t *testing.T) {
	names, err := filepath.Glob("testdata/recorded/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			var r recording
			load(t, name, &r)
			replay(t, r)
		})
	}
}

func replay(t *testing.T, r recording) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(root, "work")
	for _, dir := range []string{"work", "home", "tmp"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", filepath.Join(root, "home"))
	t.Setenv("TMPDIR", filepath.Join(root, "tmp"))
	for name, content := range r.Files {
		plant(t, filepath.Join(root, name), content)
	}
	model := "m1"
	var background proc.Background
	defer background.Close(0)
	tools := map[string]tool.Tool{}
	for _, each := range builtin.Tools(builtin.Options{
		Cwd: func() string { return work }, Background: &background,
		TakesImages: func() bool { return model == "m1" },
		Environment: func() []string { return []string{"PI_MODEL=" + model, "PI_PROVIDER=mock", "PI_CODING_AGENT=true"} },
	}) {
		tools[each.Spec().Name] = each
	}
	m := masker{root: root}
	for i, c := range r.Calls {
		if c.Tool == "set_model" {
			model = string(c.Args)
			continue
		}
		args := json.RawMessage(strings.ReplaceAll(string(c.Args), "<root>", root))
		if c.Raw != "" {
			args = json.RawMessage(c.Raw)
		}
		var last *tool.Result
		result, isError := carryOut(t, tools[c.Tool], args, func(r tool.Result) { last = &r })
		got := m.value(result, isError)
		want := map[string]any{"content": c.Result.Content}
		if c.Result.Details != nil {
			want["details"] = c.Result.Details
		}
		if !reflect.DeepEqual(got, want) || isError != c.Result.IsError {
			t.Errorf("call %d: %s %.200s\n got %v %.2000v\nwant %v %.2000v\n%s", i, c.Tool, args, isError, got, c.Result.IsError, want, c.Differs)
		}
		if (last != nil) != (c.Update != nil) || last != nil && !reflect.DeepEqual(m.value(*last, false), c.Update) {
			t.Errorf("call %d: %s %.200s\nlast update %v\nwant %v", i, c.Tool, args, last, c.Update)
		}
	}
	if left := m.files(t, work); !reflect.DeepEqual(left, r.Work) {
		t.Errorf("files left:\n got %v\nwant %v\n%s", left, r.Work, r.Differs)
	}
}

// carryOut does with a call what the loop does.
func carryOut(t *testing.T, called tool.Tool, args json.RawMessage, update func(tool.Result)) (result tool.Result, isError bool) {
	t.Helper()
	checked, err := tool.Validate(called.Spec(), args)
	if err == nil {
		result, err = called.Run(t.Context(), tool.Call{Name: called.Spec().Name, Arguments: checked}, update)
	} else if !errors.Is(err, tool.ErrArguments) {
		t.Fatal(err)
	}
	if err == nil {
		return result, false
	}
	text := err.Error()
	if before := message.Text(result.Content); before != "" {
		text = before + "\n\n" + text
	}
	result = tool.TextResult(text)
	result.Details = json.RawMessage("{}")
	return result, true
}

// masker brings a result into the form that recordings have.
type masker struct{ root string }

var (
	logName = regexp.MustCompile(`pi-bash-[0-9a-f]{16}`)
	notice  = regexp.MustCompile(`(\n\n)?\[[^\]\n]*\]\s*$`)
)

func (m masker) value(result tool.Result, isError bool) map[string]any {
	for i, block := range result.Content {
		if block.Type != message.BlockText {
			continue
		}
		result.Content[i].Text = notice.ReplaceAllString(block.Text, "")
		if isError {
			result.Content[i].Text = "<text>"
		}
	}
	data, err := message.Marshal(result)
	if err != nil {
		panic(err)
	}
	var value map[string]any
	if err := json.Unmarshal(data, &value); err != nil {
		panic(err)
	}
	return m.mask(value).(map[string]any)
}

func (m masker) mask(value any) any {
	switch value := value.(type) {
	case string:
		value = logName.ReplaceAllString(strings.ReplaceAll(value, m.root, "<root>"), "pi-bash-<id>")
		const long = 400
		if len(value) <= long {
			return value
		}
		sum := sha256.Sum256([]byte(value))
		return map[string]any{"bytes": float64(len(value)), "sha256": hex.EncodeToString(sum[:])}
	case []any:
		for i := range value {
			value[i] = m.mask(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = m.mask(value[key])
		}
	}
	return value
}

// files are the files in a folder, with what is in them.
func (m masker) files(t *testing.T, dir string) map[string]any {
	t.Helper()
	found := map[string]any{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		found[filepath.ToSlash(rel)] = m.mask(string([]rune(string(data))))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func plant(t *testing.T, path string, content any) {
	t.Helper()
	text, ok := content.(string)
	if !ok {
		data, err := base64.StdEncoding.DecodeString(content.(map[string]any)["b64"].(string))
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
