package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Remove deletes a session file, with what a migration kept of it. The error
// wraps ErrNotSession for a file that holds something else, is a *LockedError
// when a process has it open, and wraps fs.ErrNotExist for a missing file. The
// file is still there then.
func Remove(path string) error {
	if err := remove(path); err != nil {
		return fmt.Errorf("remove session %s: %w", path, err)
	}
	return nil
}

func remove(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := readHead(path); err != nil && !errors.Is(err, errEmpty) {
		return err
	}
	name, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	lock, err := acquireLock(name)
	if err != nil {
		return err
	}
	defer lock.release()
	if err := os.Remove(name); err != nil {
		return err
	}
	for _, rest := range []string{path, name + backupSuffix} {
		if err := os.Remove(rest); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// abandoned is how old a half of a migration is that nobody works on.
const abandoned = time.Hour

// Sweep removes what processes that were killed left in a folder of sessions
// and in its subfolders one level down: locks that nobody holds, and halves of
// migrations. It gives their paths. Sessions themselves stay.
func Sweep(root string) ([]string, error) {
	var swept []string
	for _, pattern := range []string{".*" + sessionSuffix + ".*", "*/.*" + sessionSuffix + ".*"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return swept, fmt.Errorf("sweep the sessions of %s: %w", root, err)
		}
		for _, path := range found {
			if sweep(path) {
				swept = append(swept, path)
			}
		}
	}
	return swept, nil
}

func sweep(path string) bool {
	dir, base := filepath.Split(path)
	if session, ok := strings.CutSuffix(strings.TrimPrefix(base, "."), ".lock"); ok {
		lock, err := acquireLock(filepath.Join(dir, session))
		if err != nil || lock == nil {
			return false
		}
		lock.release()
		return true
	}
	info, err := os.Stat(path)
	if err != nil || !strings.HasSuffix(base, ".tmp") || time.Since(info.ModTime()) < abandoned {
		return false
	}
	return os.Remove(path) == nil
}
