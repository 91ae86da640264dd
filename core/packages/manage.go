package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/core/config"
)

// Manager installs, updates and removes the packages of one scope: of a user,
// or of a project. It is for one goroutine.
type Manager struct {
	// Paths are where things are; the project is that of Cwd.
	Paths config.Paths
	// Scope says whose settings and lock file are changed.
	Scope config.Scope
}

// ErrNotListed says that the settings do not have a package.
var ErrNotListed = errors.New("the settings do not have this package")

// dir is the folder of settings and lock file, which relative sources are
// relative to.
func (m *Manager) dir() string {
	if m.Scope == config.ScopeProject {
		return m.Paths.ProjectDir()
	}
	return m.Paths.AgentDir
}

func (m *Manager) settingsFile() string {
	if m.Scope == config.ScopeProject {
		return m.Paths.ProjectSettingsFile()
	}
	return m.Paths.SettingsFile()
}

// Entries lists the packages that the settings of the scope have, whether or
// not the project is trusted. The error is that of a file that cannot be read.
func (m *Manager) Entries() ([]config.PackageEntry, error) {
	loaded := config.LoadSettings(config.SettingsOptions{Paths: m.Paths, Trusted: m.Scope == config.ScopeProject})
	for _, w := range loaded.Warnings {
		if w.File == m.settingsFile() && (w.Key == "" || w.Key == "packages") {
			return nil, fmt.Errorf("%s: %w", w, config.ErrUnreadable)
		}
	}
	return slices.DeleteFunc(loaded.Settings.Packages, func(e config.PackageEntry) bool { return e.Scope != m.Scope }), nil
}

// Install adds a package to settings and lock file, or another ref of one that
// is there. text is as a person writes it, with folders relative to Cwd.
func (m *Manager) Install(ctx context.Context, text string) (Installed, error) {
	text, err := m.fromHere(text)
	if err != nil {
		return Installed{}, err
	}
	source, err := Parse(text, m.dir(), m.Paths.Home)
	if err != nil {
		return Installed{}, err
	}
	entries, err := m.Entries()
	if err != nil {
		return Installed{}, err
	}
	lock, err := ReadLock(m.dir())
	if err != nil {
		return Installed{}, err
	}
	pin, err := m.bring(ctx, source, "", "")
	if err != nil {
		return Installed{}, err
	}
	// The pin first: a package of the settings always has one.
	if err := m.pin(lock, source, pin); err != nil {
		return Installed{}, err
	}
	replaced := m.sameAs(entries, source)
	if err := m.list(text, replaced); err != nil {
		return Installed{}, err
	}
	for _, old := range replaced {
		if old.Source != text {
			if err := m.unpin(lock, old.Source); err != nil {
				return Installed{}, err
			}
		}
	}
	return m.installed(text)
}

// fromHere makes a folder relative to the working folder one that is relative
// to the settings: the project's stay relative, so that they mean the same in
// every checkout, and the user's become absolute.
func (m *Manager) fromHere(text string) (string, error) {
	source, err := Parse(text, m.Paths.Cwd, m.Paths.Home)
	if err != nil {
		return "", err
	}
	prefix, path, ref := "", source.Folder, ""
	switch {
	case path != "":
	case filepath.IsAbs(source.URL):
		path = source.URL
		if strings.HasPrefix(text, "git:") {
			prefix = "git:"
		}
		if source.Ref != "" {
			ref = "@" + source.Ref
		}
	default:
		return text, nil
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the package %s cannot be used: %w", text, err)
	}
	written := strings.TrimPrefix(text, "git:")
	if filepath.IsAbs(written) || strings.HasPrefix(written, "~") {
		return text, nil
	}
	if m.Scope == config.ScopeProject {
		if path, err = filepath.Rel(m.dir(), path); err != nil {
			return "", fmt.Errorf("name the package %s from the project: %w", text, err)
		}
		if path = filepath.ToSlash(path); !strings.HasPrefix(path, ".") {
			path = "./" + path
		}
	}
	return prefix + path + ref, nil
}

// bring makes the content of a package be there, and says what it is. commit
// and want are what it is pinned to; empty: what is newest.
func (m *Manager) bring(ctx context.Context, source Source, commit, want string) (Pin, error) {
	if source.Folder == "" {
		return openStore(m.Paths.AgentDir).fetch(ctx, source, commit, want)
	}
	sum, err := Checksum(source.Folder)
	if err == nil && want != "" && sum != want {
		err = &MismatchError{Source: source.Text, Where: source.Folder, Want: want, Found: sum}
	}
	return Pin{SHA256: sum}, err
}

// pin writes what a package is into the lock file, and lets go of what it was.
func (m *Manager) pin(lock Lock, source Source, pin Pin) error {
	s := openStore(m.Paths.AgentDir)
	if source.Folder == "" {
		if err := s.use(pin.SHA256, lock.path); err != nil {
			return err
		}
	}
	was, had := lock.Pin(source.Text)
	if had && was == pin {
		return nil
	}
	if err := lock.set(source.Text, &pin); err != nil {
		return err
	}
	if had {
		return s.release(was.SHA256)
	}
	return nil
}

func (m *Manager) unpin(lock Lock, source string) error {
	was, had := lock.Pin(source)
	if !had {
		return nil
	}
	if err := lock.set(source, nil); err != nil {
		return err
	}
	return openStore(m.Paths.AgentDir).release(was.SHA256)
}

// sameAs lists the entries that mean the same package as a source.
func (m *Manager) sameAs(entries []config.PackageEntry, source Source) []config.PackageEntry {
	var same []config.PackageEntry
	for _, e := range entries {
		other, err := Parse(e.Source, m.dir(), m.Paths.Home)
		if e.Source == source.Text || err == nil && other.Identity() == source.Identity() {
			same = append(same, e)
		}
	}
	return same
}

// list puts a package into the settings in the place of others; what they
// filtered stays filtered. text "" only takes them out.
func (m *Manager) list(text string, others []config.PackageEntry) error {
	return config.UpdateSetting(m.settingsFile(), "packages", func(old json.RawMessage) (any, error) {
		var list []json.RawMessage
		if old != nil {
			if err := json.Unmarshal(old, &list); err != nil {
				return nil, fmt.Errorf("packages is no list: %w", config.ErrUnreadable)
			}
		}
		kept, placed := []any{}, text == ""
		for _, raw := range list {
			var entry config.PackageEntry
			isOther := json.Unmarshal(raw, &entry) == nil &&
				slices.ContainsFunc(others, func(o config.PackageEntry) bool { return o.Source == entry.Source })
			switch {
			case !isOther:
				kept = append(kept, raw)
			case !placed:
				kept, placed = append(kept, renamed(raw, text)), true
			}
		}
		if !placed {
			kept = append(kept, text)
		}
		if len(kept) == 0 {
			return nil, nil
		}
		return kept, nil
	})
}

// renamed gives an entry another source.
func renamed(raw json.RawMessage, text string) any {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return text
	}
	source, err := json.Marshal(text)
	if err != nil {
		return text
	}
	fields["source"] = source
	return fields
}

func (m *Manager) installed(text string) (Installed, error) {
	entries, err := m.Entries()
	if err != nil {
		return Installed{}, err
	}
	for _, p := range Find(m.Paths, entries) {
		if p.Entry.Source == text {
			return p.Verify(), nil
		}
	}
	return Installed{}, fmt.Errorf("%s: %w", text, ErrNotListed)
}

// Restore brings the packages that the lock file pins and that are not there,
// as on a machine that has just checked a project out. A package without a pin
// gets one. It goes on after a failure; the error has all of them.
func (m *Manager) Restore(ctx context.Context) (brought []Installed, err error) {
	entries, err := m.Entries()
	if err != nil {
		return nil, err
	}
	lock, err := ReadLock(m.dir())
	if err != nil {
		return nil, err
	}
	var failed error
	for _, p := range Find(m.Paths, entries) {
		if p.State == Broken {
			failed = errors.Join(failed, errors.New(p.Problem))
			continue
		}
		if p = p.Verify(); p.State == Ready {
			if p.Source.Folder == "" {
				failed = errors.Join(failed, openStore(m.Paths.AgentDir).use(p.Pin.SHA256, lock.path))
			}
			continue
		}
		pin, err := m.bring(ctx, p.Source, p.Pin.Commit, p.Pin.SHA256)
		if err == nil {
			err = m.pin(lock, p.Source, pin)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		now, err := m.installed(p.Entry.Source)
		failed = errors.Join(failed, err)
		brought = append(brought, now)
	}
	return brought, failed
}

// Update is what an update of a package came to.
type Update struct {
	Installed
	Was Pin
}

// Update brings packages to the newest commit of their ref, or pins a folder
// to what it is now. text names one as in the settings or as a person writes
// it; empty: all. It goes on after a failure; the error has all of them.
func (m *Manager) Update(ctx context.Context, text string) ([]Update, error) {
	entries, err := m.entriesOf(text)
	if err != nil {
		return nil, err
	}
	lock, err := ReadLock(m.dir())
	if err != nil {
		return nil, err
	}
	var updates []Update
	var failed error
	for _, e := range entries {
		source, err := Parse(e.Source, m.dir(), m.Paths.Home)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		was, _ := lock.Pin(e.Source)
		pin, err := m.bring(ctx, source, "", "")
		if err == nil {
			err = m.pin(lock, source, pin)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		now, err := m.installed(e.Source)
		failed = errors.Join(failed, err)
		updates = append(updates, Update{now, was})
	}
	return updates, failed
}

// Remove takes a package out of settings and lock file, and its copy away when
// nobody else needs it. text is as for Update.
func (m *Manager) Remove(text string) error {
	entries, err := m.entriesOf(text)
	if err != nil {
		return err
	}
	lock, err := ReadLock(m.dir())
	if err != nil {
		return err
	}
	if err := m.list("", entries); err != nil {
		return err
	}
	for _, e := range entries {
		if err := m.unpin(lock, e.Source); err != nil {
			return err
		}
	}
	return nil
}

// entriesOf lists the entries that a person means; all with an empty text.
func (m *Manager) entriesOf(text string) ([]config.PackageEntry, error) {
	entries, err := m.Entries()
	if err != nil || text == "" {
		return entries, err
	}
	for _, base := range []string{m.Paths.Cwd, m.dir()} {
		source, err := Parse(text, base, m.Paths.Home)
		if err != nil {
			return nil, err
		}
		if same := m.sameAs(entries, source); len(same) > 0 {
			return same, nil
		}
	}
	return nil, fmt.Errorf("%s: %w of the %s: see `pi list`", text, ErrNotListed, m.Scope)
}
