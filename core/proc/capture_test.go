package proc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/core/limit"
	"github.com/seed-54e836f5/pi/core/proc"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.String()
}

func TestCaptureKeepsWhatFits(t *testing.T) {
	dir := t.TempDir()
	c := proc.NewCapture(dir)
	c.Write(numbered(1, 1000))
	c.Write("")
	c.Write(numbered(1001, 2000))
	out := c.Output()
	if out.Text != numbered(1, 2000) || out.Truncation != nil || out.FullOutputPath != "" || out.Notice() != "" {
		t.Errorf("2000 lines came out as %d bytes, %+v, %q", len(out.Text), out.Truncation, out.FullOutputPath)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("a file was made though all fits: %v", entries)
	}
}

func TestCaptureCuts(t *testing.T) {
	long := strings.Repeat("x", 60000)
	for _, c := range []struct {
		name   string
		pieces []string
		text   string
		lines  int
		notice string
	}{
		{"lines", []string{numbered(1, 1500), numbered(1501, 3000)}, strings.TrimSuffix(numbered(1001, 3000), "\n"), 3000,
			`^These are lines 1001-3000 of 3000\. The whole output is in `},
		{"lines, one piece", []string{numbered(1, 3000)}, strings.TrimSuffix(numbered(1001, 3000), "\n"), 3000,
			`^These are lines 1001-3000 of 3000\. `},
		{"lines, the last one open", []string{numbered(1, 2000), "end"}, numbered(2, 2000) + "end", 2001,
			`^These are lines 2-2001 of 2001\. `},
		{"one long line in pieces", []string{long[:40000], long[:10000], long[:10000]}, long[:limit.Bytes], 1,
			`^These are the last 50\.0KB of line 1, which is 58\.6KB long\. `},
		{"one long line and its end", []string{long, "\n"}, long[:limit.Bytes], 1,
			`^These are the last 50\.0KB of line 1, which is 58\.6KB long\. `},
		{"long line behind others", []string{"a\nb\n", long[:30000], long[:30000] + "\n"}, long[:limit.Bytes], 3,
			`^These are the last 50\.0KB of line 3, which is 58\.6KB long\. `},
		{"bytes", []string{long, "\nend\n"}, "end", 2,
			`^These are lines 2-2 of 2 \(limit of 50\.0KB\)\. `},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			capture := proc.NewCapture(dir)
			for _, piece := range c.pieces {
				capture.Write(piece)
			}
			out := capture.Output()
			if out.Text != c.text || out.Truncation == nil || out.Truncation.Content != c.text || out.Truncation.TotalLines != c.lines {
				t.Errorf("kept %d bytes %.30q, want %d %.30q; %d lines, want %d", len(out.Text), out.Text, len(c.text), c.text, out.Truncation.TotalLines, c.lines)
			}
			if !regexp.MustCompile(c.notice).MatchString(out.Notice()) {
				t.Errorf("notice %q does not match %s", out.Notice(), c.notice)
			}
			checkLog(t, out, dir, strings.Join(c.pieces, ""))
		})
	}
}

func checkLog(t *testing.T, out proc.Output, dir, want string) {
	t.Helper()
	if !regexp.MustCompile(`^pi-bash-[0-9a-f]{16}\.log$`).MatchString(filepath.Base(out.FullOutputPath)) || filepath.Dir(out.FullOutputPath) != dir {
		t.Errorf("whole output is in %s", out.FullOutputPath)
	}
	whole, err := os.ReadFile(out.FullOutputPath)
	if err != nil || string(whole) != want {
		t.Errorf("the file has %d bytes, want %d (%v)", len(whole), len(want), err)
	}
	if info, err := os.Stat(out.FullOutputPath); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v (%v)", info.Mode(), err)
	}
}

func TestCaptureSaysWhenTheRestIsLost(t *testing.T) {
	c := proc.NewCapture(filepath.Join(t.TempDir(), "gone"))
	c.Write(numbered(1, 3000))
	c.Write(numbered(3001, 6000))
	out := c.Output()
	if out.SpillError == nil || out.FullOutputPath != "" || !strings.Contains(out.Notice(), "could not be kept") {
		t.Errorf("error %v, path %q, notice %q", out.SpillError, out.FullOutputPath, out.Notice())
	}
	if out.Truncation.TotalLines != 6000 {
		t.Errorf("counted %d lines, want 6000", out.Truncation.TotalLines)
	}
}

func FuzzCapture(f *testing.F) {
	f.Add("line\n", 3000, "x", 60000)
	f.Add("é", 40000, "\n", 2)
	f.Fuzz(func(t *testing.T, a string, n int, b string, m int) {
		if n < 0 || m < 0 || len(a)*n > 1<<18 || len(b)*m > 1<<18 {
			return
		}
		c := proc.NewCapture(t.TempDir())
		whole := strings.Repeat(a, n) + strings.Repeat(b, m)
		c.Write(strings.Repeat(a, n))
		for range min(m, 1000) {
			c.Write(b)
		}
		c.Write(strings.Repeat(b, max(0, m-1000)))
		want, cut := limit.TailOf(whole, limit.CountLines(whole), len(whole), limit.Lines, limit.Bytes)
		out := c.Output()
		if out.Text != want || (out.Truncation == nil) != (cut == nil) || cut != nil && *out.Truncation != *cut {
			t.Fatalf("%d x %q, %d x %q: %+v, want %+v", n, a, m, b, out.Truncation, cut)
		}
		if cut != nil {
			if log, err := os.ReadFile(out.FullOutputPath); err != nil || string(log) != whole {
				t.Fatalf("the file has %d bytes, want %d (%v)", len(log), len(whole), err)
			}
		}
	})
}
