package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-54e836f5/pi/core/config"
)

// store keeps the content of repositories in the user's folder, each content
// once and named by its checksum. What is there is complete.
type store struct{ dir string }

const usersFile = "users.json"

func openStore(agentDir string) store { return store{filepath.Join(agentDir, "packages")} }

// folder is where a content is, if it is there.
func (s store) folder(sha256 string) string { return filepath.Join(s.dir, sha256) }

func (s store) has(sha256 string) bool {
	info, err := os.Stat(s.folder(sha256))
	return err == nil && info.IsDir()
}

// fetch brings one commit of a repository into the store. commit is empty for
// the newest of the source's ref. want is the checksum it must have; empty:
// any.
func (s store) fetch(ctx context.Context, source Source, commit, want string) (Pin, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return Pin{}, fmt.Errorf("make the folder of packages: %w", err)
	}
	s.sweep()
	dir, err := os.MkdirTemp(s.dir, ".new-")
	if err != nil {
		return Pin{}, fmt.Errorf("make room for the package: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ref := commit
	if ref == "" {
		ref = source.Ref
	}
	var pin Pin
	if pin.Commit, err = (git{dir}).checkOut(ctx, source.URL, ref); err != nil {
		return Pin{}, fmt.Errorf("fetch the package %s: %w", source.Text, err)
	}
	if commit != "" && pin.Commit != commit {
		return Pin{}, fmt.Errorf("fetch the package %s: git gave commit %s in place of %s", source.Text, pin.Commit, commit)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		return Pin{}, fmt.Errorf("fetch the package %s: %w", source.Text, err)
	}
	if pin.SHA256, err = Checksum(dir); err != nil {
		return Pin{}, err
	}
	if want != "" && pin.SHA256 != want {
		return Pin{}, &MismatchError{Source: source.Text, Where: "commit " + commit, Want: want, Found: pin.SHA256}
	}
	return pin, s.place(dir, pin.SHA256)
}

// place gives a complete folder its name. One that is there already and has
// its content stays; a damaged one is replaced.
func (s store) place(dir, sha256 string) error {
	to := s.folder(sha256)
	if s.has(sha256) {
		if found, err := Checksum(to); err == nil && found == sha256 {
			return nil
		}
		if err := os.RemoveAll(to); err != nil {
			return fmt.Errorf("replace a damaged package: %w", err)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("put the package in its place: %w", err)
	}
	if err := os.Rename(dir, to); err != nil && !s.has(sha256) { // another process may have been first
		return fmt.Errorf("put the package in its place: %w", err)
	}
	return nil
}

// sweep removes what installations left behind that were killed.
func (s store) sweep() {
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		info, err := e.Info()
		if strings.HasPrefix(e.Name(), ".new-") && err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(s.dir, e.Name()))
		}
	}
}

// use notes that a lock file needs a content.
func (s store) use(sha256, lock string) error {
	return s.changeUsers(sha256, func(users []string) []string {
		if !slices.Contains(users, lock) {
			users = append(users, lock)
		}
		return users
	})
}

// release removes a content that no lock file needs any more. Locks that are
// gone, or have moved on, do not.
func (s store) release(sha256 string) error {
	if !s.has(sha256) {
		return nil
	}
	needed := false
	err := s.changeUsers(sha256, func(users []string) []string {
		users = slices.DeleteFunc(users, func(path string) bool {
			lock, err := ReadLock(filepath.Dir(path))
			return err == nil && !lock.has(sha256) // one that cannot be read may need it
		})
		needed = len(users) > 0
		return users
	})
	if err != nil || needed {
		return err
	}
	// A new name first: what has its name is complete.
	going := filepath.Join(s.dir, ".new-going-"+sha256)
	if err := os.Rename(s.folder(sha256), going); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the package: %w", err)
	}
	if err := os.RemoveAll(going); err != nil {
		return fmt.Errorf("remove the package: %w", err)
	}
	return nil
}

func (s store) changeUsers(sha256 string, change func([]string) []string) error {
	err := config.UpdateSetting(filepath.Join(s.dir, usersFile), sha256, func(old json.RawMessage) (any, error) {
		var users []string
		if old != nil {
			if err := json.Unmarshal(old, &users); err != nil {
				return nil, err
			}
		}
		if users = change(users); len(users) == 0 {
			return nil, nil
		}
		return users, nil
	})
	if err != nil {
		return fmt.Errorf("note who uses the package: %w", err)
	}
	return nil
}

// MismatchError says that a package is not what the lock file says.
type MismatchError struct {
	Source, Where string
	Want, Found   string // SHA-256, in hex
}

// Error implements error.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("the package %s (%s) is not what it was pinned to: the lock has sha256 %s, its content has %s. Look at what changed, then run `pi update %s` to accept it",
		e.Source, e.Where, e.Want, e.Found, e.Source)
}
