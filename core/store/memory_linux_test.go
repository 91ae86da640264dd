package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/store"
)

// Opening costs the file's bytes and little more.
func TestOpenMemory(t *testing.T) {
	peak := func(arg string) (kib int) {
		out, err := childProcess(t, "open", arg).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, rest, _ := strings.Cut(string(out), "VmHWM:")
		if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return kib >> 10
	}
	small := write(t, header, q1)
	rest, whole := peak(small), peak(largeFile(t))
	t.Logf("a process that opens a small session: %d MiB, a session of 32 MiB: %d MiB", rest, whole)
	limit := 50
	if raceEnabled {
		limit *= 3 // the detector keeps notes on all memory
	}
	if whole-rest > limit {
		t.Errorf("opening 32 MiB took %d MiB, want %d at most", whole-rest, limit)
	}
}

// Looking for a session reads the beginning of the files that might be it.
func TestSessionsAreFoundByTheirHeaders(t *testing.T) {
	root := t.TempDir()
	dir := store.DirFor(root, "/w")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c"} {
		path := filepath.Join(dir, id+".jsonl")
		if err := os.WriteFile(path, []byte(`{"type":"session","version":3,"id":"id-`+id+`","timestamp":"2025-01-02T03:04:05.000Z","cwd":"/w"}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 64<<20); err != nil {
			t.Fatal(err)
		}
	}
	before := bytesRead(t)
	for _, find := range []func() (string, error){
		func() (string, error) { return store.Find(filepath.Join(root, "sessions"), "/w", "id-b") },
		func() (string, error) { return store.FindExact(dir, "id-b") },
		func() (string, error) { return store.Latest(dir) },
	} {
		if path, err := find(); err != nil || path == "" {
			t.Errorf("found %q, %v", path, err)
		}
	}
	if read := bytesRead(t) - before; read > 1<<20 {
		t.Errorf("%d bytes were read of three headers", read)
	}
}

// bytesRead is how much this process has read so far.
func bytesRead(t *testing.T) (read int) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(data), "rchar: %d", &read); err != nil {
		t.Fatal(err)
	}
	return read
}
