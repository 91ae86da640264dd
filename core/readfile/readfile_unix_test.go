//go:build unix

package readfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-54e836f5/pi/core/readfile"
)

func TestWhatIsRead(t *testing.T) {
	const most = 1 << 20
	ordinary := readfile.Ordinary
	orPipe := func(path string) ([]byte, error) { return readfile.OrPipe(path, most) }
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		read func(string) ([]byte, error)
		want string // what is read, or what the error says after "error: "
	}{
		{"file", file("text"), ordinary, "text"},
		{"file where a pipe may be", file("text"), orPipe, "text"},
		{"link to a file", linked("text"), ordinary, "text"},
		{"nothing", func(*testing.T, string) {}, ordinary, "error: no such file"},
		{"folder", func(t *testing.T, path string) { check(t, os.Mkdir(path, 0o755)) }, ordinary, "error: is a directory"},
		{"endless", link("/dev/zero"), ordinary, "error: " + readfile.ErrNotOrdinary.Error()},
		{"endless where a pipe may be", link("/dev/zero"), orPipe, "error: " + readfile.ErrDevice.Error()},
		{"pipe that nobody writes to", func(t *testing.T, path string) { check(t, syscall.Mkfifo(path, 0o600)) }, ordinary, "error: " + readfile.ErrNotOrdinary.Error()},
		{"pipe", pipe("text"), orPipe, "text"},
		{"long pipe", pipe(strings.Repeat("x", most+1)), orPipe, "error: it is larger than 1 MiB"},
		{"large file", sized(readfile.Largest + 1), ordinary, "error: it is larger than 16 MiB"},
		{"large file where a pipe may be", sized(most + 1), orPipe, "error: it is larger than 1 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			c.make(t, path)
			data, err := c.read(path)
			problem, fails := strings.CutPrefix(c.want, "error: ")
			if !fails {
				if err != nil || string(data) != c.want {
					t.Errorf("%q, %v", data, err)
				}
				return
			}
			var named *fs.PathError
			if !errors.As(err, &named) || named.Path != path || !strings.Contains(err.Error(), problem) {
				t.Errorf("%q, %v; want an error of %s: %s", data, err, path, problem)
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func file(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) { check(t, os.WriteFile(path, []byte(text), 0o600)) }
}

func link(target string) func(*testing.T, string) {
	return func(t *testing.T, path string) { check(t, os.Symlink(target, path)) }
}

func linked(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		file(text)(t, path+".target")
		link(path+".target")(t, path)
	}
}

func sized(size int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		file("")(t, path)
		check(t, os.Truncate(path, size))
	}
}

// pipe has somebody write to it who minds no reader that leaves early.
func pipe(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		check(t, syscall.Mkfifo(path, 0o600))
		written := make(chan struct{})
		go func() {
			defer close(written)
			if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
				_, _ = f.WriteString(text)
				_ = f.Close()
			}
		}()
		t.Cleanup(func() { <-written })
	}
}
