package resource

import (
	"errors"
	"fmt"
	"os"
)

// largestFile bounds what is read of a project that nobody has looked at yet;
// no model takes as much.
const largestFile = 16 << 20

var errNoFile = errors.New("it is no ordinary file but a pipe, socket or device")

// readFile is os.ReadFile for what a repository may hold: a link to a device
// or a pipe there would have pi read for ever, before anyone could trust it.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, errNoFile
	case info.Size() > largestFile:
		return nil, fmt.Errorf("it is larger than %d MiB", largestFile>>20)
	}
	return os.ReadFile(path)
}
