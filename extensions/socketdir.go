package extensions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// The names of sockets are short everywhere: 108 bytes on Linux, 104 on macOS,
// with the zero at the end. What go-plugin and extensions add to our folder is
// "/plugin-dir0123456789/plugin0123456789".
const (
	socketNameLimit = 103
	socketNameAdded = len("/plugin-dir0123456789/plugin0123456789")
	socketDirPrefix = "pi-ext-"
	socketLock      = "lock"
)

// socketDir makes a private folder for sockets, whatever TMPDIR is, and sweeps
// away those of hosts that were killed. release removes it.
func socketDir(env []string) (dir string, release func(), err error) {
	var reasons []error
	for _, base := range socketBases(env) {
		if limit := socketNameLimit - socketNameAdded - len("/"+socketDirPrefix+"0123456789"); len(base) > limit {
			reasons = append(reasons, fmt.Errorf("%s has %d bytes, more than the %d that leave room for a socket's name", base, len(base), limit))
			continue
		}
		sweepSocketDirs(base)
		dir, err := os.MkdirTemp(base, socketDirPrefix)
		if err != nil {
			reasons = append(reasons, err)
			continue
		}
		lock := flock.New(filepath.Join(dir, socketLock))
		if ours, err := lock.TryLock(); err != nil || !ours {
			reasons = append(reasons, fmt.Errorf("lock %s: %w", dir, err), os.RemoveAll(dir))
			continue
		}
		return dir, func() {
			_ = lock.Unlock()
			_ = os.RemoveAll(dir)
		}, nil
	}
	return "", nil, fmt.Errorf("there is no folder for the sockets of extensions: %w", errors.Join(reasons...))
}

func socketBases(env []string) []string {
	var bases []string
	if dir := lookup(env, "XDG_RUNTIME_DIR"); dir != "" {
		bases = append(bases, dir)
	}
	bases = append(bases, fmt.Sprintf("/run/user/%d", os.Getuid()))
	if dir := lookup(env, "TMPDIR"); dir != "" {
		bases = append(bases, dir)
	}
	return append(bases, "/tmp", os.TempDir())
}

// sweepSocketDirs removes folders whose host holds their lock no longer.
func sweepSocketDirs(base string) {
	found, err := filepath.Glob(filepath.Join(base, socketDirPrefix+"*", socketLock))
	if err != nil {
		return
	}
	for _, path := range found {
		lock := flock.New(path)
		if ours, err := lock.TryLock(); err != nil || !ours {
			continue
		}
		_ = os.RemoveAll(filepath.Dir(path))
		_ = lock.Unlock()
	}
}
