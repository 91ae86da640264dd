//go:build unix

package extensions

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestManifestWithoutAnEnd(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), ManifestName)
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			if m, err := readManifest(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%+v, %v", m, err)
			}
		})
	}
}
