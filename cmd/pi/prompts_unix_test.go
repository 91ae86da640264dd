//go:build unix

package main

import (
	"context"
	"errors"
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

func TestPipedPrompt(t *testing.T) {
	pipe := func() (read, write *os.File) {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = read.Close(), write.Close() })
		return read, write
	}
	for _, c := range []struct {
		name    string
		bytes   int
		problem string
	}{
		{"a little", 3, ""},
		{"as much as is taken", largestArgument, ""},
		{"without end", largestArgument + 1, "the text on stdin is larger than 64 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			read, write := pipe()
			written := make(chan struct{})
			go func() {
				defer close(written)
				_, _ = write.WriteString(strings.Repeat("x", c.bytes)) // it may be read no further
				_ = write.Close()
			}()
			text, err := readPiped(t.Context(), read)
			if c.problem == "" && (err != nil || len(text) != c.bytes) || c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)) {
				t.Errorf("%d bytes, %v", len(text), err)
			}
			_ = read.Close()
			<-written
		})
	}
	read, _ := pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readPiped(ctx, read); !errors.Is(err, context.Canceled) {
		t.Errorf("a read that nobody waits for gave %v", err)
	}
}
