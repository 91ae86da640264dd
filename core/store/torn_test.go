package store_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/store"
)

// A file that ends anywhere opens with the entries that are whole, goes on
// behind what is left of the last line, and keeps that.
func TestFileThatEndsAnywhere(t *testing.T) {
	l := create(t)
	must(t, l, said("a question with ümlauts and \"quotes\""))
	must(t, l, answered("an answer"))
	must(t, l, store.Label{TargetID: l.Leaf(), Label: "mark"})
	if err := l.Persist(); err != nil {
		t.Fatal(err)
	}
	whole := read(t, l.Path())
	headerEnd := strings.Index(whole, "\n")
	path := t.TempDir() + "/torn.jsonl"
	for end := headerEnd; end <= len(whole); end++ {
		torn := whole[:end]
		if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		checkTorn(t, path, torn, l.Entries())
	}
}

func checkTorn(t *testing.T, path, torn string, all []store.Entry) {
	t.Helper()
	l, err := store.Open(path)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(torn), err)
	}
	defer func() { _ = l.Close() }()
	// The last line counts when it is whole, with or without its line feed.
	want := strings.Count(torn, "\n") - 1
	if want < 0 {
		want = 0
	} else if want < len(all) && strings.HasSuffix(torn, string(all[want].Raw)) {
		want++
	}
	if got := len(l.Entries()); got != want {
		t.Errorf("%d bytes: %d entries, want %d", len(torn), got, want)
	}
	if read(t, path) != torn {
		t.Errorf("%d bytes: opening changed the file", len(torn))
	}
	must(t, l, said("next"))
	must(t, l, said("and next"))
	got := read(t, path)
	rest, kept := strings.CutPrefix(got, torn)
	if !kept {
		t.Fatalf("%d bytes: what was there was changed:\n%s", len(torn), got)
	}
	if !strings.HasSuffix(torn, "\n") && !strings.HasPrefix(rest, "\n") {
		t.Errorf("%d bytes: the next entry stands on the torn line: %s", len(torn), rest)
	}
	checkReload(t, l)
}

// Whatever is on disk when the process is killed can be opened, and has every
// entry that Append had returned.
func TestKilledWhileAppending(t *testing.T) {
	for round := range 3 {
		cmd := childProcess(t, "append", t.TempDir())
		out, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		path := lines.Text()
		var ids []string
		for len(ids) < 50*(round+1) && lines.Scan() {
			ids = append(ids, lines.Text())
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			ids = append(ids, lines.Text())
		}
		_ = cmd.Wait()
		if last := ids[len(ids)-1]; len(last) < 8 {
			ids = ids[:len(ids)-1] // the id itself was cut off
		}
		l := open(t, path)
		for _, id := range ids {
			if _, ok := l.Entry(id); !ok {
				t.Fatalf("entry %s of %d is missing", id, len(ids))
			}
		}
		must(t, l, said("after the crash"))
		checkReload(t, l)
	}
}
