package packages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"

	"github.com/seed-54e836f5/pi/core/config"
	"github.com/seed-54e836f5/pi/core/readfile"
)

// LockName is the file beside the settings that pins their packages.
const LockName = "packages.lock.json"

// Pin says what exactly a package is.
type Pin struct {
	Commit string `json:"commit,omitempty"` // of the repository; empty: a folder
	SHA256 string `json:"sha256"`           // of the content, see Checksum
}

// Lock is a lock file. Its form is
//
//	{"packages": {"<source as in the settings>": {"commit": "…", "sha256": "…"}}}
type Lock struct {
	path string
	pins map[string]Pin
}

var (
	hexSum    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	hexCommit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// ReadLock reads the lock file of a folder with settings, which need not
// exist. A file that cannot be understood, or has a pin that is none, is an
// error that wraps config.ErrUnreadable.
func ReadLock(dir string) (Lock, error) {
	l := Lock{path: filepath.Join(dir, LockName), pins: map[string]Pin{}}
	data, err := readfile.Ordinary(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("read the lock of the packages: %w", err)
	}
	var file struct {
		Packages map[string]Pin `json:"packages"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return l, fmt.Errorf("%s: %w: %w", l.path, err, config.ErrUnreadable)
	}
	for source, pin := range file.Packages {
		if !hexSum.MatchString(pin.SHA256) || pin.Commit != "" && !hexCommit.MatchString(pin.Commit) {
			return l, fmt.Errorf("%s: the pin of %s is not a commit and a sha256 in lower-case hex: %w", l.path, source, config.ErrUnreadable)
		}
		l.pins[source] = pin
	}
	return l, nil
}

// Pin gives what a package is pinned to; false: nothing.
func (l Lock) Pin(source string) (Pin, bool) {
	pin, ok := l.pins[source]
	return pin, ok
}

// has says whether any package is pinned to a content.
func (l Lock) has(sha256 string) bool {
	for _, pin := range l.pins {
		if pin.SHA256 == sha256 {
			return true
		}
	}
	return false
}

// set changes the lock file: a nil pin takes the package out.
func (l Lock) set(source string, pin *Pin) error {
	err := config.UpdateSetting(l.path, "packages", func(old json.RawMessage) (any, error) {
		pins := map[string]Pin{}
		if old != nil {
			if err := json.Unmarshal(old, &pins); err != nil {
				return nil, fmt.Errorf("packages is not what it should be: %w: %w", err, config.ErrUnreadable)
			}
		}
		delete(pins, source)
		if pin != nil {
			pins[source] = *pin
		}
		return pins, nil
	})
	if err != nil {
		return fmt.Errorf("pin the package %s: %w", source, err)
	}
	if delete(l.pins, source); pin != nil {
		l.pins[source] = *pin
	}
	return nil
}
