// Package readfile reads files that somebody else may have put there: what has
// no end, or would have pi wait for one, is refused in place of being read.
//
// It imports the standard library only. All functions may be called from any
// goroutine.
package readfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Largest is how many bytes of a file are read that pi looks for by itself:
// its settings, and what a project holds for models. No model takes as much.
const Largest = 16 << 20

var (
	// ErrNotOrdinary is wrapped by the error for a pipe, a socket or a device.
	ErrNotOrdinary = errors.New("it is no ordinary file but a pipe, socket or device")
	// ErrDevice is wrapped by the error of OrPipe for a socket or a device.
	ErrDevice = errors.New("it is neither a file nor a pipe but a socket or device")
)

// Ordinary is os.ReadFile for ordinary files of up to Largest bytes. What else
// a path leads to is an error that wraps ErrNotOrdinary or says what is read
// at most. All errors are a *fs.PathError, as those of the system.
func Ordinary(path string) ([]byte, error) {
	return read(path, 0, ErrNotOrdinary, Largest)
}

// OrPipe reads an ordinary file, or a pipe to its end, as somebody may have
// set up on purpose who keeps secrets out of files. It waits for the one who
// writes to the pipe. More than most bytes are an error, and so is a device,
// which wraps ErrDevice.
func OrPipe(path string, most int64) ([]byte, error) {
	return read(path, fs.ModeNamedPipe, ErrDevice, most)
}

func read(path string, also fs.FileMode, refused error, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// Reading a folder gives the system's own error, which names it.
	if info.Mode().Type()&^(fs.ModeDir|also) != 0 {
		return nil, &fs.PathError{Op: "read", Path: path, Err: refused}
	}
	if info.Mode().IsRegular() && info.Size() > most {
		return nil, tooLarge(path, most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	// The size says nothing of a pipe, nor of a file that grows meanwhile.
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	_ = f.Close() // nothing was written
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, tooLarge(path, most)
	}
	return data, nil
}

func tooLarge(path string, most int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d MiB", most>>20)}
}
