package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// lockName is the file beside a session file that is locked while a process
// has the session open. It is hidden, because programs list the folder and
// count what they find. The session file itself stays unlocked: on some
// systems a lock would keep other programs from reading it, and a migration
// puts another file in its place.
func lockName(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

// sessionLock is a kernel lock: it ends with the process, however that ends. A
// lock file that a crash left behind is free for the next process.
type sessionLock struct {
	flock *flock.Flock
	// file is the same file once more, to write who has the lock. It stays open
	// because where locks are emulated, closing it would end the lock.
	file *os.File
}

// acquireLock takes the lock of a session file. It is nil without an error
// where no lock can be had, because the folder cannot be written to or the file
// system has no locks: the session can be used there all the same.
func acquireLock(path string) (*sessionLock, error) {
	name := lockName(path)
	for {
		fl := flock.New(name)
		locked, err := fl.TryLock()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil {
			return nil, nil //nolint:nilerr // see the function's comment
		}
		if !locked {
			return nil, lockedError(path)
		}
		lock := &sessionLock{flock: fl}
		if lock.isCurrent() {
			lock.sign()
			return lock, nil
		}
		// The process that had it removed the file between our opening and
		// locking it. What we locked has no name any more.
		_ = fl.Unlock()
	}
}

// isCurrent says whether the locked file is still the one of that name.
func (l *sessionLock) isCurrent() bool {
	held, err := l.flock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(l.flock.Path())
	return err == nil && os.SameFile(held, named)
}

// sign writes who has the lock, for the error that another process shows. It
// begins with a blank: on Windows the first byte is the one that is locked, and
// others cannot read it.
func (l *sessionLock) sign() {
	f, err := os.OpenFile(l.flock.Path(), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	l.file = f
	host, _ := os.Hostname()
	text := fmt.Sprintf(" %d %s\n", os.Getpid(), host)
	if f.Truncate(0) == nil {
		_, _ = f.WriteString(text)
	}
}

func lockedError(path string) error {
	e := &LockedError{Path: path}
	f, err := os.Open(lockName(path))
	if err != nil {
		return e
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.NewSectionReader(f, 1, 512))
	pid, host, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if n, err := strconv.Atoi(pid); err == nil {
		e.PID, e.Host = n, host
	}
	return e
}

// release gives the lock up and removes its file. The removal comes first, so
// that nobody can lock the file and then lose its name; where open files cannot
// be removed, it is tried again.
func (l *sessionLock) release() {
	if l == nil {
		return
	}
	if l.file != nil {
		_ = l.file.Close()
	}
	removed := os.Remove(l.flock.Path())
	_ = l.flock.Unlock()
	if removed != nil {
		_ = os.Remove(l.flock.Path())
	}
}
