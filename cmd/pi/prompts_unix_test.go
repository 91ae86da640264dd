//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFileArguments(t *testing.T) {
	dir := t.TempDir()
	pipe := func(name string, bytes int) {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		written := make(chan struct{})
		go func() {
			defer close(written)
			// A reader that stops early is part of the test.
			_ = os.WriteFile(path, []byte(strings.Repeat("x", bytes)), 0o600)
		}()
		t.Cleanup(func() { <-written })
	}
	if err := os.WriteFile(filepath.Join(dir, "said.txt"), []byte("said"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe("pipe", 3)
	pipe("long", largestArgument+1)
	for _, c := range []struct{ name, text, problem string }{
		{"said.txt", "\nsaid\n", ""},
		{"pipe", "\nxxx\n", ""},
		{"long", "", "it is larger than 64 MiB"},
		{"/dev/zero", "", "it is neither a file nor a pipe but a socket or device"},
		{".", "", "is a directory"},
		{"none.txt", "", "no such file"},
	} {
		block, image, err := readFileArgument(dir, c.name)
		if c.problem == "" {
			if err != nil || image != nil || !strings.Contains(block, c.text) {
				t.Errorf("@%s: %q, %v, %v", c.name, block, image, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "@"+c.name) || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("@%s: got %v, want: %s", c.name, err, c.problem)
		}
	}
}
