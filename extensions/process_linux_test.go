package extensions_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestOthersCannotLookIntoPi asks the kernel whether /proc shows the
// environment and the streams of this process to others.
func TestOthersCannotLookIntoPi(t *testing.T) {
	startKit(t, fixture("hello"))
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil || dumpable != 0 {
		t.Errorf("they can: %d, %v", dumpable, err)
	}
}
