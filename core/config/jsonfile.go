package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-54e836f5/pi/core/readfile"
)

// ErrUnreadable marks a file that is there and cannot be understood. It is
// never written over.
var ErrUnreadable = errors.New("the file cannot be read, so it was left as it is")

const lockWait = 5 * time.Second

// readObject reads a file that holds one JSON object. A file that is missing
// or empty gives nil and no error; one that is no JSON object gives an error
// that wraps ErrUnreadable and names line and column, as is one that is no
// ordinary file.
func readObject(path string) ([]byte, error) {
	data, err := readfile.Ordinary(path)
	return objectOf(path, data, err)
}

// readObjectOrPipe is readObject for files that others may serve through a
// pipe, to keep what is in them off the disk.
func readObjectOrPipe(path string) ([]byte, error) {
	data, err := readfile.OrPipe(path, readfile.Largest)
	return objectOf(path, data, err)
}

func objectOf(path string, data []byte, err error) ([]byte, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if w, ok := checkObject(source{path, data}); !ok {
		return nil, fmt.Errorf("%s: %w", w, ErrUnreadable)
	}
	return data, nil
}

// checkObject says whether the file is one JSON object, and if not, what is
// wrong with it and where.
func checkObject(s source) (Warning, bool) {
	var object map[string]json.RawMessage
	err := json.Unmarshal(s.data, &object)
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil && object == nil, errors.As(err, &mistyped):
		return s.warn(0, "", "expected a JSON object"), false
	case err != nil:
		return s.warn(syntaxOffset(s.data, err), "", "not JSON: %v", err), false
	}
	return Warning{}, true
}

// updateObject changes a file that holds one JSON object, alone among the
// processes that use this package, in one atomic step. change gets the file
// as it is, {} for none, and gives what it shall be. A file that cannot be
// read is an error that wraps ErrUnreadable, and stays; so does a pipe, as a
// file in its place would hold what its owner keeps elsewhere.
func updateObject(path string, mode fs.FileMode, change func(data []byte) ([]byte, error)) error {
	path = resolveLink(path)
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, folderMode(mode)); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer unlock()
	data, err := readObject(path)
	if err != nil {
		return err
	}
	if data == nil {
		data = []byte("{}")
	}
	if data, err = change(data); err != nil {
		return err
	}
	return replaceFile(path, data, mode)
}

// lock locks the folder itself, where that can be done, so that nothing is
// left behind in a project. A file named like the one to change plus .lock it
// must not be: the reference agents make a folder of that name to lock theirs,
// and a file there would keep them out for good.
func lock(dir string) (unlock func(), err error) {
	l := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	if runtime.GOOS == "windows" {
		l = flock.New(filepath.Join(dir, ".pi-config.lock"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if ok, err := l.TryLockContext(ctx, 10*time.Millisecond); err != nil || !ok {
		return nil, fmt.Errorf("lock %s: another process is writing there: %w", dir, err)
	}
	return func() { _ = l.Unlock() }, nil // closing the file unlocks it in any case
}

// replaceFile writes a file beside the old one and puts it in its place. An
// existing file keeps its mode unless that lets others read what mode hides.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil {
		mode &= info.Mode().Perm() | 0o600
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(temp.Name()))
	}
	return nil
}

// resolveLink follows a symbolic link, so that replacing the file keeps it.
func resolveLink(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// folderMode lets those into a folder who may read the file in it.
func folderMode(mode fs.FileMode) fs.FileMode {
	return mode | mode>>2&0o111
}
