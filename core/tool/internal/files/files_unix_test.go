//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-54e836f5/pi/core/tool/internal/files"
)

func TestReplaceLeavesPipesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := files.Replace(path, []byte("x")); err == nil || !strings.Contains(err.Error(), "no ordinary file") {
		t.Errorf("got %v", err)
	}
	if stat(t, path).Mode().Type() != os.ModeNamedPipe {
		t.Error("the pipe was replaced")
	}
}
