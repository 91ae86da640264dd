//go:build unix

package packages_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-54e836f5/pi/core/packages"
	"github.com/seed-54e836f5/pi/core/readfile"
)

func TestLockWithoutAnEnd(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), packages.LockName)
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			if _, err := packages.ReadLock(filepath.Dir(path)); !errors.Is(err, readfile.ErrNotOrdinary) {
				t.Errorf("got %v", err)
			}
		})
	}
}
