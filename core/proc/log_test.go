package proc

import (
	"os"
	"strings"
	"testing"
)

func TestCaptureDoesNotFillTheDisk(t *testing.T) {
	c := NewCapture(t.TempDir())
	c.room = 100_000
	for range 3 {
		c.Write(strings.Repeat("x", 40_000))
	}
	out := c.Output()
	if out.SpillError == nil || !strings.Contains(out.Notice(), "could not be kept: there is more than 1.0GB of it; its beginning is in "+out.FullOutputPath) {
		t.Errorf("notice %q", out.Notice())
	}
	if info, err := os.Stat(out.FullOutputPath); err != nil || info.Size() != 80_000 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if out.Truncation.TotalBytes != 120_000 {
		t.Errorf("counted %d bytes", out.Truncation.TotalBytes)
	}
}
