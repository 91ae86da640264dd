package packages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-54e836f5/pi/core/config"
)

// State says how a package of the settings is.
type State string

// The states of a package.
const (
	Ready   State = "ready"
	Missing State = "not installed" // its folder or its copy is not there
	Changed State = "changed"       // a folder whose content is not what it was pinned to
	Unknown State = "not pinned"    // the lock file does not have it
	Broken  State = "unusable"      // its source or the lock file cannot be understood
)

// Installed is one package of the settings, as it is on this machine.
type Installed struct {
	Entry  config.PackageEntry
	Source Source
	Pin    Pin    // zero: it has none
	Dir    string // where its content is; empty: nowhere
	State  State
	// Problem says what is wrong and what to do; empty: nothing.
	Problem string
}

// Find finds the packages of the settings. Of one that the user and the
// project both have, the project's counts. It reads files only.
func Find(paths config.Paths, entries []config.PackageEntry) []Installed {
	var list []Installed
	byIdentity := map[string]int{}
	locks := map[string]lockOrError{}
	for _, entry := range entries {
		lock, there := locks[entry.BaseDir]
		if !there {
			lock.Lock, lock.err = ReadLock(entry.BaseDir)
			locks[entry.BaseDir] = lock
		}
		p := find(paths, entry, lock)
		identity := p.Source.Identity()
		if at, twice := byIdentity[identity]; twice && p.Source.URL+p.Source.Folder != "" {
			list[at] = p
			continue
		}
		byIdentity[identity] = len(list)
		list = append(list, p)
	}
	return list
}

type lockOrError struct {
	Lock
	err error
}

func find(paths config.Paths, entry config.PackageEntry, lock lockOrError) Installed {
	p := Installed{Entry: entry}
	var err error
	if p.Source, err = Parse(entry.Source, entry.BaseDir, paths.Home); err == nil {
		err = lock.err
	}
	if err != nil {
		return p.is(Broken, "%v.", err)
	}
	pin, pinned := lock.Pin(entry.Source)
	p.Pin = pin
	if p.Source.Folder == "" {
		return p.findCopy(openStore(paths.AgentDir), pinned)
	}
	if info, err := os.Stat(p.Source.Folder); err != nil || !info.IsDir() {
		return p.is(Missing, "there is no folder %s.", p.Source.Folder)
	}
	p.Dir = p.Source.Folder
	if !pinned {
		return p.is(Unknown, "it is not in the lock file, so its extensions are not run: look at them, then run `pi update %s`.", entry.Source)
	}
	return p.is(Ready, "")
}

func (p Installed) findCopy(s store, pinned bool) Installed {
	if !pinned || !s.has(p.Pin.SHA256) {
		return p.is(Missing, "run `pi install`, which brings what the lock file says.")
	}
	p.Dir = s.folder(p.Pin.SHA256)
	return p.is(Ready, "")
}

func (p Installed) is(state State, format string, args ...any) Installed {
	p.State = state
	if format != "" {
		p.Problem = fmt.Sprintf("the package %s is %s: ", p.Entry.Source, state) + fmt.Sprintf(format, args...)
	}
	return p
}

// Verify compares the content of a folder with its pin. A copy needs no such
// check: it is named by its content, in the user's own folder.
func (p Installed) Verify() Installed {
	if p.State != Ready || p.Source.Folder == "" {
		return p
	}
	found, err := Checksum(p.Dir)
	switch {
	case err != nil:
		return p.is(Changed, "%v.", err)
	case found != p.Pin.SHA256:
		return p.is(Changed, "its content is not what it was pinned to, so its extensions are not run. Look at what changed, then run `pi update %s`.", p.Entry.Source)
	}
	return p
}

// Resources are the files and folders of a package that the settings take, by
// kind. All are absolute.
type Resources struct {
	Prompts, Skills, Rules []string
	// Extensions is empty unless the package is what its pin says.
	Extensions []string
}

// Resources lists what a package gives. A problem with its content is in what
// comes back with it.
func (p Installed) Resources() (Resources, Installed) {
	var r Resources
	if p.Dir == "" {
		return r, p
	}
	var failed error
	choose := func(k kind, filter []string) []string {
		list, err := k.choose(p.Dir, filter)
		failed = errors.Join(failed, err)
		return list
	}
	r.Prompts = choose(prompts, p.Entry.Prompts)
	r.Skills = choose(skills, p.Entry.Skills)
	r.Rules = choose(rules, p.Entry.Rules)
	r.Extensions = choose(extensions, p.Entry.Extensions)
	if failed != nil {
		return Resources{}, p.is(Broken, "%v.", failed)
	}
	if len(r.Extensions) == 0 {
		if p.State == Unknown { // nothing of it needs a pin
			p.State, p.Problem = Ready, ""
		}
		return r, p
	}
	if p = p.Verify(); p.State != Ready {
		r.Extensions = nil
	}
	return r, p
}

// Offers lists what a package has for those who install it, relative to its
// folder.
func (p Installed) Offers() ([]string, error) {
	var list []string
	for _, k := range []kind{prompts, skills, rules, extensions} {
		parts, err := k.choose(p.Dir, nil)
		if err != nil {
			return nil, err
		}
		for _, path := range parts {
			relative, err := filepath.Rel(p.Dir, path)
			if err != nil {
				return nil, err
			}
			list = append(list, filepath.ToSlash(relative))
		}
	}
	return list, nil
}
