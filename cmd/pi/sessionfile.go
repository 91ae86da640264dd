package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-54e836f5/pi/core/store"
)

// sessionFolder is where new session files go.
func (p *process) sessionFolder() string {
	if dir := p.settings().SessionDir; dir != "" {
		return dir
	}
	return store.DirFor(p.paths.AgentDir, p.paths.Cwd)
}

// sessionsRoot is the folder with the sessions of all working folders.
func (p *process) sessionsRoot() string {
	if dir := p.settings().SessionDir; dir != "" {
		return dir
	}
	return filepath.Join(p.paths.AgentDir, "sessions")
}

// openLog opens or makes the session that the flags ask for.
func (p *process) openLog() (*store.Log, error) {
	o := p.options
	create := store.CreateOptions{Dir: p.sessionFolder(), Cwd: p.paths.Cwd}
	if o.noSession {
		return store.InMemory(create), nil
	}
	if err := checkFolder(create.Dir); err != nil {
		return nil, err
	}
	switch {
	case o.session != "":
		path, err := p.findSession(o.session)
		if err != nil {
			return nil, err
		}
		return openOrCreate(path, create)
	case o.sessionID != "":
		return p.openByID(o.sessionID, create)
	case o.continueLast:
		path, err := store.Latest(create.Dir)
		if err != nil {
			return nil, err
		}
		if path != "" {
			return openExisting(path)
		}
	case o.fork != "":
		return p.forkLog(o.fork, create)
	}
	return store.Create(create)
}

// openByID opens the session that has an id. One that nobody has is given to a
// new session, or to a fork if one was asked for.
func (p *process) openByID(id string, create store.CreateOptions) (*store.Log, error) {
	path, err := store.FindExact(create.Dir, id)
	forks := p.options.fork != ""
	switch {
	case err == nil && forks:
		return nil, fmt.Errorf("there is a session %s already: leave --fork out to open it, or give the fork another --session-id", id)
	case err == nil:
		return openExisting(path)
	case !errors.Is(err, store.ErrNoSession):
		return nil, err
	}
	create.ID = id
	if forks {
		return p.forkLog(p.options.fork, create)
	}
	return store.Create(create)
}

func (p *process) findSession(idOrPath string) (string, error) {
	return store.Find(p.sessionsRoot(), p.paths.Cwd, idOrPath)
}

func openOrCreate(path string, create store.CreateOptions) (*store.Log, error) {
	log, err := openExisting(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return log, err
	}
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	create.Path = path
	return store.Create(create)
}

// openExisting opens a session file whose working folder is still there.
func openExisting(path string) (*store.Log, error) {
	log, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	if cwd := log.Header().Cwd; cwd != "" {
		if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
			return nil, errors.Join(
				fmt.Errorf("the working folder of session %s is gone: %s; make it again, or start without the session", path, cwd), log.Close())
		}
	}
	return log, nil
}

// forkLog copies a session, which may be in use elsewhere, into a new one.
func (p *process) forkLog(idOrPath string, create store.CreateOptions) (*store.Log, error) {
	path, err := p.findSession(idOrPath)
	if err != nil {
		return nil, err
	}
	from, err := store.Read(path)
	if err != nil {
		return nil, err
	}
	log, err := from.Fork(store.ForkOptions{LeafID: from.Leaf(), Dir: create.Dir, Cwd: create.Cwd, ID: create.ID})
	if err != nil || len(log.Context(log.Leaf())) == 0 {
		return log, err
	}
	if err := log.Persist(); err != nil { // clients are told of the file, and may look into it
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// checkFolder says early what would otherwise go wrong with the first
// message: that the folder for session files cannot be made or written to.
func checkFolder(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at:
			continue
		case err != nil:
			return fmt.Errorf("the session folder %s cannot be used: %w", dir, err)
		case !info.IsDir():
			return fmt.Errorf("the session folder %s cannot be made: %s is a file", dir, at)
		case !writable(at):
			return fmt.Errorf("the session folder %s cannot be written to: choose another with --session-dir, or use --no-session", dir)
		}
		return nil
	}
}
