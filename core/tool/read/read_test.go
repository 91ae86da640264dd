package read_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/limit"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/read"
)

func ExampleNew() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	_ = os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\nthree\n"), 0o644)

	show := read.New(read.Options{Cwd: func() string { return dir }})
	result, err := show.Run(context.Background(), tool.Call{Arguments: json.RawMessage(`{"path":"a.txt","limit":2}`)}, nil)
	fmt.Println(message.Text(result.Content), err)
	// Output:
	// one
	// two
	//
	// [The file has 2 more lines. Go on with offset=3] <nil>
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func wide(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%05d%s\n", i, strings.Repeat("z", 95))
	}
	return b.String()
}

func TestText(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 60000)
	for name, content := range map[string]string{
		"a.txt": lines(5), "l.txt": lines(2600), "e2000.txt": lines(2000), "e2000n.txt": strings.TrimSuffix(lines(2000), "\n"),
		"e2001n.txt": strings.TrimSuffix(lines(2001), "\n"), "w.txt": wide(1, 800), "long.txt": long + "\nsecond\n", "long2.txt": "first\n" + long + "\nthird\n",
		"empty.txt": "", "nl.txt": "\n", "nl3.txt": "\n\n\n", "crlf.txt": "a\r\nb\r\n", "bom.txt": "\ufeffx\n", "bad.txt": "a\xff\xe2\x82b\n",
	} {
		write(t, filepath.Join(dir, name), content)
	}
	cut := func(s string) string { return strings.TrimSuffix(s, "\n") }
	for _, c := range []struct {
		args, text, notice string
		numbers            string // truncatedBy totalLines totalBytes outputLines outputBytes
	}{
		{`"a.txt"`, lines(5), "", ""},
		{`"a.txt","limit":3`, "line 1\nline 2\nline 3", "The file has 3 more lines. Go on with offset=4", ""},
		{`"a.txt","limit":5`, cut(lines(5)), "The file has 1 more lines. Go on with offset=6", ""},
		{`"a.txt","limit":6`, lines(5), "", ""},
		{`"a.txt","limit":0`, "", "The file has 6 more lines. Go on with offset=1", ""},
		{`"a.txt","limit":-3`, "", "The file has 6 more lines. Go on with offset=1", ""},
		{`"a.txt","limit":0,"offset":3`, "", "The file has 4 more lines. Go on with offset=3", ""},
		{`"a.txt","limit":1.5`, "line 1", "The file has 5 more lines. Go on with offset=2", ""},
		{`"a.txt","offset":2.7,"limit":2.2`, "line 2\nline 3", "The file has 3 more lines. Go on with offset=4", ""},
		{`"a.txt","offset":0`, lines(5), "", ""},
		{`"a.txt","offset":-4`, lines(5), "", ""},
		{`"a.txt","offset":5`, "line 5\n", "", ""},
		{`"a.txt","offset":6`, "", "", ""},
		{`"a.txt","offset":1e300,"limit":1e300`, "", "", "offset 2147483647 is behind the end of the file, which has 6 lines"},
		{`"a.txt","offset":7`, "", "", "offset 7 is behind the end of the file, which has 6 lines"},
		{`"a.txt","limit":1e300`, lines(5), "", ""},
		{`"l.txt"`, cut(lines(2000)), "These are lines 1-2000 of 2601. Go on with offset=2001", "lines 2600 24893 2000 18892"},
		{`"l.txt","offset":600`, cut(lines(2599)[len(lines(599)):]), "These are lines 600-2599 of 2601. Go on with offset=2600", "lines 2001 19610 2000 19599"},
		{`"l.txt","offset":602`, lines(2600)[len(lines(601)):], "", ""},
		{`"l.txt","limit":2500`, cut(lines(2000)), "These are lines 1-2000 of 2601. Go on with offset=2001", "lines 2500 23892 2000 18892"},
		{`"l.txt","offset":100,"limit":2100`, cut(lines(2099)[len(lines(99)):]), "These are lines 100-2099 of 2601. Go on with offset=2100", "lines 2100 20099 2000 19099"},
		{`"e2000.txt"`, lines(2000), "", ""},
		{`"e2000n.txt"`, cut(lines(2000)), "", ""},
		{`"e2001n.txt"`, cut(lines(2000)), "These are lines 1-2000 of 2001. Go on with offset=2001", "lines 2001 18902 2000 18892"},
		{`"w.txt"`, cut(wide(1, 506)), "These are lines 1-506 of 801 (limit of 50.0KB). Go on with offset=507", "bytes 800 80800 506 51105"},
		{`"w.txt","offset":300`, wide(300, 800), "", ""},
		{`"w.txt","offset":2,"limit":600`, cut(wide(2, 507)), "These are lines 2-507 of 801 (limit of 50.0KB). Go on with offset=508", "bytes 600 60599 506 51105"},
		{`"long.txt"`, "", "Line 1 is 58.6KB long, more than the 50.0KB that can be shown. For its beginning run: sed -n '1p' long.txt | head -c 51200", "bytes 2 60008 0 0"},
		{`"long.txt","offset":2`, "second\n", "", ""},
		{`"long2.txt"`, "first", "These are lines 1-1 of 4 (limit of 50.0KB). Go on with offset=2", "bytes 3 60013 1 5"},
		{`"long2.txt","offset":2`, "", "Line 2 is 58.6KB long, more than the 50.0KB that can be shown. For its beginning run: sed -n '2p' long2.txt | head -c 51200", "bytes 2 60007 0 0"},
		{`"long2.txt","offset":2,"limit":1`, "", "Line 2 is 58.6KB long, more than the 50.0KB that can be shown. For its beginning run: sed -n '2p' long2.txt | head -c 51200", "bytes 1 60000 0 0"},
		{`"empty.txt"`, "", "", ""},
		{`"nl.txt"`, "\n", "", ""},
		{`"nl3.txt","limit":1`, "", "The file has 3 more lines. Go on with offset=2", ""},
		{`"nl3.txt","offset":2`, "\n\n", "", ""},
		{`"crlf.txt","limit":1`, "a\r", "The file has 2 more lines. Go on with offset=2", ""},
		{`"bom.txt"`, "\ufeffx\n", "", ""},
		{`"bad.txt"`, "a\ufffd\ufffd\ufffdb\n", "", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			result, err := run(t, dir, `{"path":`+c.args+`}`)
			if strings.HasPrefix(c.numbers, "offset") {
				if err == nil || err.Error() != c.numbers {
					t.Errorf("got %v, want %q", err, c.numbers)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := c.text
			if c.notice != "" {
				want += "\n\n[" + c.notice + "]"
			}
			if strings.HasPrefix(c.notice, "Line") {
				want = "[" + c.notice + "]"
			}
			if got := message.Text(result.Content); got != want {
				t.Errorf("got %d bytes, ends %q; want %d, ends %q", len(got), got[max(0, len(got)-120):], len(want), want[max(0, len(want)-120):])
			}
			checkDetails(t, result.Details, c.text, c.numbers)
		})
	}
}

func checkDetails(t *testing.T, details json.RawMessage, content, numbers string) {
	t.Helper()
	if numbers == "" {
		if details != nil {
			t.Errorf("details %.200s, want none", details)
		}
		return
	}
	var got struct{ Truncation limit.Truncation }
	if err := json.Unmarshal(details, &got); err != nil {
		t.Fatal(err)
	}
	cut := got.Truncation
	if all := fmt.Sprint(cut.TruncatedBy, " ", cut.TotalLines, cut.TotalBytes, cut.OutputLines, cut.OutputBytes); all != numbers {
		t.Errorf("details %s, want %s", all, numbers)
	}
	if cut.Content != content || cut.FirstLineExceedsLimit != (content == "") || cut.LastLinePartial {
		t.Errorf("content has %d bytes, want %d; %+v", len(cut.Content), len(content), cut.FirstLineExceedsLimit)
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sub", "a.txt"), "x")
	write(t, dir+"/It\u2019s 9\u202fAM.txt", "y")
	for path, want := range map[string]string{
		"sub/a.txt": "x", "@sub/a.txt": "x", filepath.Join(dir, "sub", "a.txt"): "x", "./sub/../sub/a.txt": "x", "It's 9 AM.txt": "y",
	} {
		result, err := run(t, dir, `{"path":`+quote(path)+`}`)
		if got := message.Text(result.Content); got != want || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{
		"none.txt": "no such file or folder: " + filepath.Join(dir, "none.txt"), "sub": "this is a folder, not a file", "sub/a.txt/b": "a part of this path is a file", os.DevNull: "no ordinary file",
	} {
		if _, err := run(t, dir, `{"path":`+quote(path)+`}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

func TestImages(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.png": png, "b.txt": png, "c": "\xff\xd8\xff\xe0", "d.gif": "GIF89a", "e": "RIFF\x01\x02\x03\x04WEBPVP8 ",
		"huge.png": png + strings.Repeat("\x00", 4<<20),
	} {
		write(t, filepath.Join(dir, name), content)
	}
	for name, mime := range map[string]string{"a.png": "image/png", "b.txt": "image/png", "c": "image/jpeg", "d.gif": "image/gif", "e": "image/webp"} {
		for _, takes := range []bool{true, false} {
			show := read.New(read.Options{Cwd: func() string { return dir }, TakesImages: func() bool { return takes }})
			result, err := show.Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{"path":"` + name + `"}`)}, nil)
			if err != nil || len(result.Content) != 2 || result.Details != nil {
				t.Fatalf("%s: %v, %v", name, result, err)
			}
			text, image := result.Content[0].Text, result.Content[1]
			if image.Type != message.BlockImage || image.MimeType != mime || image.Data == "" {
				t.Errorf("%s: %v", name, image)
			}
			if want := regexp.MustCompile(`^Read image file \[` + mime + `\](\n\[.*does not take images.*\])?$`); !want.MatchString(text) || strings.Contains(text, "\n") == takes {
				t.Errorf("%s, model takes images %v: %q", name, takes, text)
			}
		}
	}
	if _, err := run(t, dir, `{"path":"huge.png"}`); err == nil || !strings.Contains(err.Error(), "4.0MB") || !strings.Contains(err.Error(), "at most 3.8MB") {
		t.Errorf("a huge image: %v", err)
	}
	write(t, filepath.Join(dir, "webp.txt"), "RIFF is a word")
	if result, err := run(t, dir, `{"path":"webp.txt"}`); err != nil || message.Text(result.Content) != "RIFF is a word" {
		t.Errorf("text that begins like an image: %v, %v", result, err)
	}
}

// A huge file is counted through to its end, and never held.
func TestHugeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge")
	write(t, path, "first\n")
	if err := os.Truncate(path, 512<<20); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	defer func() {
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("%d bytes of memory were used", used)
		}
	}()
	result, err := run(t, filepath.Dir(path), `{"path":"huge","limit":1}`)
	if got := message.Text(result.Content); err != nil || got != "first\n\n[The file has 1 more lines. Go on with offset=2]" {
		t.Errorf("%.100q, %v", got, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	show := read.New(read.Options{Cwd: func() string { return "" }})
	if _, err := show.Run(ctx, tool.Call{Arguments: json.RawMessage(`{"path":` + quote(path) + `}`)}, nil); !errors.Is(err, stop) {
		t.Errorf("when cancelled: %v", err)
	}
}

func run(t *testing.T, dir, args string) (tool.Result, error) {
	t.Helper()
	show := read.New(read.Options{Cwd: func() string { return dir }})
	checked, err := tool.Validate(show.Spec(), json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return show.Run(t.Context(), tool.Call{Name: "read", Arguments: checked}, func(tool.Result) { t.Error("read has nothing to say before its end") })
}

func quote(s string) string {
	data, _ := message.Marshal(s)
	return string(data)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
