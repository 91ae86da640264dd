package files

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Replace makes data the content of the file at a target, as Target gives it,
// in one step: the data is written beside it and renamed over it. Mode and
// owner stay; a file that is new gets the mode that the process gives files.
// Where that cannot be done, since the folder takes no new file, the owner
// cannot be kept, or the file is mounted on its own, it is written in place.
func Replace(target string, data []byte) error {
	old, err := os.Stat(target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Explain(err, target)
	}
	exists := err == nil
	if exists {
		if err := writable(target, old); err != nil {
			return err
		}
	}
	err = replace(target, old, data)
	if exists && errors.Is(err, errInPlace) {
		err = writeInPlace(target, data)
	}
	return Explain(err, target)
}

// errInPlace is behind what makes replacing a file impossible though it could
// be written. A full disk is not of that kind: there the old content must stay.
var errInPlace = errors.New("the file cannot be replaced")

// writable refuses what renaming would replace though the user protected it.
func writable(target string, old fs.FileInfo) error {
	if old.IsDir() {
		return Explain(&fs.PathError{Op: "write", Path: target, Err: syscall.EISDIR}, target)
	}
	if !old.Mode().IsRegular() {
		return NotRegular(target)
	}
	file, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return Explain(err, target)
	}
	return Explain(file.Close(), target)
}

func replace(target string, old fs.FileInfo, data []byte) (err error) {
	file, err := createBeside(target)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // what went wrong before counts
		}
	}()
	_, err = file.Write(data)
	if err == nil && old != nil && keepOwner(file, old) != nil {
		err = errInPlace
	}
	if err == nil && old != nil {
		err = file.Chmod(old.Mode().Perm() | old.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
	}
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	if renaming := os.Rename(file.Name(), target); renaming != nil {
		return fmt.Errorf("%w: %w", errInPlace, renaming)
	}
	return nil
}

func createBeside(target string) (*os.File, error) {
	var name [8]byte
	if _, err := rand.Read(name[:]); err != nil {
		return nil, fmt.Errorf("name for a temporary file: %w", err)
	}
	path := filepath.Join(filepath.Dir(target), ".pi-"+hex.EncodeToString(name[:])+".tmp")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w: %w", errInPlace, err)
	}
	return file, err
}

func writeInPlace(target string, data []byte) error {
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
}
