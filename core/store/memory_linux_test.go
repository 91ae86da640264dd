package store_test

import (
	"syscall"
	"testing"
)

// Opening costs the file's bytes and little more.
func TestOpenMemory(t *testing.T) {
	peak := func(arg string) int64 {
		cmd := childProcess(t, "open", arg)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	}
	small := write(t, header, q1)
	rest, whole := peak(small), peak(largeFile(t))
	t.Logf("a process that opens a small session: %d MiB, a session of 32 MiB: %d MiB", rest, whole)
	if whole-rest > 50 {
		t.Errorf("opening 32 MiB took %d MiB, want 50 at most", whole-rest)
	}
}
