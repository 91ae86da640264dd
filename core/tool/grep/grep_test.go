package grep

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
)

func ExampleNew() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	_ = os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nfunc A() {}\n"), 0o644)

	look := New(func() string { return dir })
	result, err := look.Run(context.Background(), tool.Call{Arguments: json.RawMessage(`{"pattern":"func \\w+"}`)}, nil)
	fmt.Println(message.Text(result.Content), err)
	// Output: a.go:3: func A() {} <nil>
}

var planted = map[string]string{
	"src/a.js": "const foo = 1;\nfunction bar() {}\nfoo();\n", "src/b.ts": "export const Foo = 2;\n", "src/deep/c.ts": "// nothing\nlet foo = 3;\n",
	"readme.md": "foo. bar\n", ".hidden": "foo\n", ".git/config": "foo\n", "node_modules/m/i.js": "foo\n", ".gitignore": "ignored.txt\nnode_modules/\n", "ignored.txt": "foo\n",
	"ctx.txt": "1\n2\nhitA\n4\n5\nhitB\n7\n8\n9\n10\n11\nhitC\n13\n", "crlf.txt": "win\r\ndows\r\n", "bin.dat": "win\n\x00win\n", "bad.txt": "xyz \xff bar\n",
	"long.txt": strings.Repeat("y", 3000) + "\n" + strings.Repeat("é", 500) + "\n", "end.txt": "last", "empty.txt": "", "repo/migrations/1.js": "sql\n", "repo/x/migrations/2.js": "sql\n",
}

func TestGrep(t *testing.T) {
	dir := t.TempDir()
	for name, content := range planted {
		plant(t, filepath.Join(dir, name), content)
	}
	const srcFoo = "a.js:1: const foo = 1;\na.js:3: foo();\n"
	for _, c := range []struct{ args, text, notice, details string }{
		{`"function"`, "src/a.js:2: function bar() {}", "", ""},
		{`"foo"`, ".hidden:1: foo\nreadme.md:1: foo. bar\nsrc/a.js:1: const foo = 1;\nsrc/a.js:3: foo();\nsrc/deep/c.ts:2: let foo = 3;", "", ""},
		{`"foo","path":"src"`, srcFoo + "deep/c.ts:2: let foo = 3;", "", ""},
		{`"foo","path":"src/a.js"`, strings.TrimSuffix(srcFoo, "\n"), "", ""},
		{`"foo","path":"ignored.txt"`, "ignored.txt:1: foo", "", ""},
		{`"foo","path":"node_modules"`, "m/i.js:1: foo", "", ""},
		{`"foo","path":"node_modules/m"`, "i.js:1: foo", "", ""},
		{`"foo","path":"@src/deep"`, "c.ts:2: let foo = 3;", "", ""},
		{`"FOO","ignoreCase":true,"path":"src"`, srcFoo + "b.ts:1: export const Foo = 2;\ndeep/c.ts:2: let foo = 3;", "", ""},
		{`"F[o]+ ","ignoreCase":true,"path":"src/b.ts"`, "b.ts:1: export const Foo = 2;", "", ""},
		{`"foo.","literal":true,"glob":"*.md"`, "readme.md:1: foo. bar", "", ""},
		{`"FOO. B","literal":true,"ignoreCase":true`, "readme.md:1: foo. bar", "", ""},
		{`"^foo\\b","path":"src"`, "a.js:3: foo();", "", ""},
		{`"[[:alpha:]]oo \\=","path":"src"`, "a.js:1: const foo = 1;\nb.ts:1: export const Foo = 2;\ndeep/c.ts:2: let foo = 3;", "", ""},
		{`"","path":"src/b.ts"`, "b.ts:1: export const Foo = 2;", "", ""},
		{`"zzzz"`, "No matches found", "", ""},
		{`"-e"`, "No matches found", "", ""},

		{`"foo","glob":"*.ts"`, "src/deep/c.ts:2: let foo = 3;", "", ""},
		{`"foo","glob":"src/*.js"`, "src/a.js:1: const foo = 1;\nsrc/a.js:3: foo();", "", ""},
		{`"foo","glob":"./src/*.js"`, "src/a.js:1: const foo = 1;\nsrc/a.js:3: foo();", "", ""},
		{`"foo","glob":"deep/*.ts","path":"src"`, "deep/c.ts:2: let foo = 3;", "", ""},
		{`"foo","glob":"!*.js","path":"src"`, "deep/c.ts:2: let foo = 3;", "", ""},
		{`"foo","glob":"!src"`, ".hidden:1: foo\nreadme.md:1: foo. bar", "", ""},
		{`"foo","glob":"*.{js,md}"`, "readme.md:1: foo. bar\nsrc/a.js:1: const foo = 1;\nsrc/a.js:3: foo();", "", ""},
		{`"sql","glob":"migrations/*.js","path":"repo"`, "migrations/1.js:1: sql", "", ""},

		{`"bar\\(","context":1,"path":"src/a.js"`, "a.js-1- const foo = 1;\na.js:2: function bar() {}\na.js-3- foo();", "", ""},
		{`"hit","context":1,"path":"ctx.txt"`, "ctx.txt-2- 2\nctx.txt:3: hitA\nctx.txt-4- 4\nctx.txt-5- 5\nctx.txt:6: hitB\nctx.txt-7- 7\nctx.txt-11- 11\nctx.txt:12: hitC\nctx.txt-13- 13", "", ""},
		{`"hit","context":2,"path":"ctx.txt"`, "ctx.txt-1- 1\nctx.txt-2- 2\nctx.txt:3: hitA\nctx.txt-4- 4\nctx.txt-5- 5\nctx.txt:6: hitB\nctx.txt-7- 7\nctx.txt-8- 8\nctx.txt-10- 10\nctx.txt-11- 11\nctx.txt:12: hitC\nctx.txt-13- 13", "", ""},
		{`"hit","context":3,"limit":1,"path":"ctx.txt"`, "ctx.txt-1- 1\nctx.txt-2- 2\nctx.txt:3: hitA\nctx.txt-4- 4\nctx.txt-5- 5\nctx.txt-6- hitB", "Only the first 1 matches; there are more. Use limit=2, or a narrower pattern", `{"matchLimitReached":1}`},
		{`"hit","context":-2,"path":"ctx.txt"`, "ctx.txt:3: hitA\nctx.txt:6: hitB\nctx.txt:12: hitC", "", ""},
		{`"hit","context":1.9,"glob":"ctx.txt","limit":1`, "ctx.txt-2- 2\nctx.txt:3: hitA\nctx.txt-4- 4", "Only the first 1 matches; there are more. Use limit=2, or a narrower pattern", `{"matchLimitReached":1}`},
		{`"hit","context":1e300,"limit":1,"path":"ctx.txt"`, "ctx.txt-1- 1\nctx.txt-2- 2\nctx.txt:3: hitA\nctx.txt-4- 4\nctx.txt-5- 5\nctx.txt-6- hitB\nctx.txt-7- 7\nctx.txt-8- 8\nctx.txt-9- 9\nctx.txt-10- 10\nctx.txt-11- 11\nctx.txt-12- hitC\nctx.txt-13- 13", "Only the first 1 matches; there are more. Use limit=2, or a narrower pattern", `{"matchLimitReached":1}`},

		{`"hit","limit":3,"path":"ctx.txt"`, "ctx.txt:3: hitA\nctx.txt:6: hitB\nctx.txt:12: hitC", "", ""},
		{`"hit","limit":2,"path":"ctx.txt"`, "ctx.txt:3: hitA\nctx.txt:6: hitB", "Only the first 2 matches; there are more. Use limit=4, or a narrower pattern", `{"matchLimitReached":2}`},
		{`"foo","limit":5`, ".hidden:1: foo\nreadme.md:1: foo. bar\nsrc/a.js:1: const foo = 1;\nsrc/a.js:3: foo();\nsrc/deep/c.ts:2: let foo = 3;", "", ""},
		{`"foo","limit":3`, ".hidden:1: foo\nreadme.md:1: foo. bar\nsrc/a.js:1: const foo = 1;", "Only the first 3 matches; there are more. Use limit=6, or a narrower pattern", `{"matchLimitReached":3}`},
		{`"foo","limit":2,"context":1`, ".hidden:1: foo\nreadme.md:1: foo. bar", "Only the first 2 matches; there are more. Use limit=4, or a narrower pattern", `{"matchLimitReached":2}`},
		{`"foo","limit":0,"path":"src"`, "a.js:1: const foo = 1;", "Only the first 1 matches; there are more. Use limit=2, or a narrower pattern", `{"matchLimitReached":1}`},

		{`"win$"`, "crlf.txt:1: win", "", ""},
		{`"win","path":"bin.dat"`, "bin.dat:1: win\nbin.dat:2: \x00win", "", ""},
		{`"xyz"`, "bad.txt:1: xyz \ufffd bar", "", ""},
		{`"last"`, "end.txt:1: last", "", ""},
		{`"","path":"empty.txt"`, "No matches found", "", ""},
		{`"yyy"`, "long.txt:1: " + strings.Repeat("y", 500) + "... [truncated]", "Only 500 characters are shown of longer lines; read shows them whole", `{"linesTruncated":true}`},
		{`"ééé"`, "long.txt:2: " + strings.Repeat("é", 500), "", ""},
		{`"y","context":1,"limit":1,"glob":"long.txt"`, "long.txt:1: " + strings.Repeat("y", 500) + "... [truncated]\nlong.txt-2- " + strings.Repeat("é", 500), "Only 500 characters are shown of longer lines; read shows them whole", `{"linesTruncated":true}`},
	} {
		t.Run(c.args, func(t *testing.T) {
			result, err := run(t, t.Context(), dir, `{"pattern":`+c.args+`}`)
			want := c.text
			if c.notice != "" {
				want += "\n\n[" + c.notice + "]"
			}
			if got := message.Text(result.Content); err != nil || got != want || string(result.Details) != c.details {
				t.Errorf("got %q, %v, details %s\nwant %q, details %s", got, err, result.Details, want, c.details)
			}
		})
	}
}

func TestGrepRefuses(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		`"foo("`:                 "pattern: it is no regular expression: missing closing ) at \"foo(\" (to look for it as text, set literal to true)",
		`"(?=foo)"`:              "pattern: it is no regular expression: look-around and other such groups are not supported at \"(?=\"",
		`"(a)\\1"`:               "pattern: it is no regular expression: invalid escape sequence at \"\\\\1\"",
		`"a\nb"`:                 "pattern: it has a line break in it, but files are searched line by line",
		`"foo.*\\n"`:             "pattern: it has a line break in it",
		`"a\nb","literal":true`:  "pattern: it has a line break in it",
		`"x","path":"none"`:      "no such file or folder: " + filepath.Join(dir, "none"),
		`"x","glob":"["`:         `glob: "[" is not a glob`,
		`"x","path":"/dev/null"`: "no ordinary file",
	} {
		if _, err := run(t, t.Context(), dir, `{"pattern":`+args+`}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// Settings of other programs change nothing.
func TestGrepIgnoresRipgrepSettings(t *testing.T) {
	dir := t.TempDir()
	plant(t, filepath.Join(dir, "a.txt"), "f.o\nfoo\n")
	plant(t, filepath.Join(dir, "rc"), "--fixed-strings\n")
	t.Setenv("RIPGREP_CONFIG_PATH", filepath.Join(dir, "rc"))
	if result, err := run(t, t.Context(), dir, `{"pattern":"f.o","glob":"*.txt"}`); err != nil || message.Text(result.Content) != "a.txt:1: f.o\na.txt:2: foo" {
		t.Errorf("got %v, %v", result, err)
	}
}

func TestGrepBytes(t *testing.T) {
	dir := t.TempDir()
	var wide strings.Builder
	for i := range 800 {
		fmt.Fprintf(&wide, "%05d %s\n", i+1, strings.Repeat("w", 93))
	}
	plant(t, filepath.Join(dir, "wide.txt"), wide.String())
	result, err := run(t, t.Context(), dir, `{"pattern":"w","limit":2000}`)
	if err != nil {
		t.Fatal(err)
	}
	var details struct {
		Truncation struct {
			Content                                          string
			TruncatedBy                                      string
			TotalLines, TotalBytes, OutputLines, OutputBytes int
			MaxLines                                         int64
		}
	}
	if err := json.Unmarshal(result.Details, &details); err != nil {
		t.Fatal(err)
	}
	cut := details.Truncation
	if cut.TruncatedBy != "bytes" || cut.TotalLines != 800 || cut.OutputBytes > 51200 || cut.MaxLines != 9007199254740991 || len(cut.Content) != cut.OutputBytes {
		t.Errorf("truncation %+v", cut)
	}
	if text := message.Text(result.Content); !strings.HasPrefix(text, cut.Content+"\n\n[Cut after ") {
		t.Errorf("text ends %q", text[len(text)-100:])
	}
}

// Many files are searched at once, and what is found comes in order.
func TestGrepOrder(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 300 {
		name := fmt.Sprintf("d%02d/f%03d.txt", i/20, i)
		plant(t, filepath.Join(dir, name), strings.Repeat("filler\n", i%7*1000)+"needle\n")
		want = append(want, fmt.Sprintf("%s:%d: needle", name, i%7*1000+1))
	}
	for range 3 {
		result, err := run(t, t.Context(), dir, `{"pattern":"needle","limit":300}`)
		if got := message.Text(result.Content); err != nil || got != strings.Join(want, "\n") {
			t.Fatalf("%v\n%s", err, got)
		}
		result, err = run(t, t.Context(), dir, `{"pattern":"NEEDLE","ignoreCase":true,"limit":41}`)
		if got := message.Text(result.Content); err != nil || !strings.HasPrefix(got, strings.Join(want[:41], "\n")+"\n\n[") {
			t.Fatalf("%v\n%s", err, got)
		}
	}
}

func TestGrepCancelled(t *testing.T) {
	dir := t.TempDir()
	plant(t, filepath.Join(dir, "a"), "x\n")
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	for _, path := range []string{".", "a"} {
		if _, err := run(t, ctx, dir, `{"pattern":"x","path":"`+path+`"}`); !errors.Is(err, stop) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func run(t *testing.T, ctx context.Context, dir, args string) (tool.Result, error) {
	t.Helper()
	g := New(func() string { return dir })
	checked, err := tool.Validate(g.Spec(), json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return g.Run(ctx, tool.Call{Name: "grep", Arguments: checked}, nil)
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
