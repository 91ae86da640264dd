package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-54e836f5/pi/core/message"
)

// Trust keeps the decisions about project folders. trust.json has them in the
// form of the reference agents, which refuse to start on any other: folders
// with true or false. What was trusted is remembered beside it, in
// trust-digests.json. Methods may be called from any goroutine.
type Trust struct {
	file    string
	digests string
	own     []string   // folders of the user's, which are no project's even where a project holds them
	mu      sync.Mutex // one change at a time
}

// NewTrust makes a Trust for trust.json of the agent folder, which need not
// exist.
func NewTrust(paths Paths) *Trust {
	t := &Trust{file: paths.TrustFile(), digests: filepath.Join(paths.AgentDir, "trust-digests.json")}
	t.own = []string{canonical(paths.AgentDir)}
	if paths.Home != "" {
		t.own = append(t.own, canonical(filepath.Join(paths.Home, ".agents", "skills")))
	}
	return t
}

// TrustFlags are --approve and --no-approve.
type TrustFlags struct {
	Approve   bool
	NoApprove bool
}

// Decision says whether a project's own settings, resources and extensions
// are loaded.
type Decision struct {
	Trusted bool
	// Undecided is set when nobody has decided, so that the project_trust
	// hook or a person may be asked. Trusted is false then.
	Undecided bool
	// Needed says whether the project has anything that trust is needed for.
	Needed bool
	// Reason says why, and what to do about it, in one sentence.
	Reason string
	// Found are the parts that need trust, relative to the project.
	Found []string
}

// Decide says whether a project is trusted: by the flags, by the decision
// saved for the folder or the closest one above it, or by the user's
// defaultProjectTrust. A saved yes counts only while the executable parts of
// the folder it was saved for are what they were then; a decision for a
// folder above covers what is below whatever becomes of it.
func (t *Trust) Decide(projectDir string, flags TrustFlags, defaultProjectTrust string) Decision {
	dir := canonical(projectDir)
	found := t.protectedParts(dir)
	d := Decision{Needed: len(found) > 0, Found: found}
	if flags.NoApprove {
		d.Reason = "--no-approve was given."
		return d
	}
	if flags.Approve {
		d.Trusted, d.Reason = true, "--approve was given."
		return d
	}
	allow := fmt.Sprintf("Run `pi trust %s` to allow it, or start with --approve.", dir)
	entry, changed, err := t.lookup(dir)
	switch {
	case err != nil:
		d.Undecided = true
		d.Reason = fmt.Sprintf("The saved decisions cannot be used: %v. Start with --approve to load the project's files this once.", err)
	case entry == nil:
		d.byDefault(defaultProjectTrust, allow)
	case !entry.Trusted:
		d.Reason = fmt.Sprintf("The folder %s was declined before. %s", entry.Dir, allow)
	case changed:
		d.Undecided = true
		d.Reason = fmt.Sprintf("The extensions or settings of %s have changed since it was trusted. Look at them. %s", entry.Dir, allow)
	default:
		d.Trusted, d.Reason = true, fmt.Sprintf("The folder %s is trusted.", entry.Dir)
	}
	return d
}

func (d *Decision) byDefault(setting, allow string) {
	switch setting {
	case "always":
		d.Trusted, d.Reason = true, "The setting defaultProjectTrust says always."
	case "never":
		d.Reason = "The setting defaultProjectTrust says never. " + allow
	default:
		d.Undecided = true
		d.Reason = "Nobody has decided to trust this project. " + allow
	}
}

// TrustEntry is one saved decision.
type TrustEntry struct {
	Dir     string
	Trusted bool
	// Digest is of what was trusted; empty: the decision was made elsewhere,
	// and covers what the folder holds.
	Digest string
}

// Save decides about a folder and all below it. It remembers what the folder
// holds, so that a change asks again.
func (t *Trust) Save(dir string, trusted bool) error {
	dir = canonical(dir)
	digest := ""
	if trusted {
		var err error
		if digest, err = projectDigest(dir); err != nil {
			return fmt.Errorf("look at what is to be trusted in %s: %w", dir, err)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.read(); err != nil {
		return fmt.Errorf("save the decision about %s: %w", dir, err)
	}
	// The digest first: without it a yes would cover more than was looked at.
	if err := setMember(t.digests, dir, digest, digest != ""); err != nil {
		return fmt.Errorf("save the decision about %s: %w", dir, err)
	}
	if err := setMember(t.file, dir, trusted, true); err != nil {
		return fmt.Errorf("save the decision about %s: %w", dir, err)
	}
	return nil
}

// Revoke takes the decision about a folder back; false: there was none for
// exactly this folder.
func (t *Trust) Revoke(dir string) (bool, error) {
	dir = canonical(dir)
	t.mu.Lock()
	defer t.mu.Unlock()
	entries, err := t.read()
	if err != nil {
		return false, err
	}
	_, there := entries[dir]
	if !there {
		return false, nil
	}
	if err := setMember(t.file, dir, nil, false); err != nil {
		return false, fmt.Errorf("revoke the decision about %s: %w", dir, err)
	}
	return true, setMember(t.digests, dir, nil, false)
}

// List gives all saved decisions by folder.
func (t *Trust) List() ([]TrustEntry, error) {
	entries, err := t.read()
	if err != nil {
		return nil, err
	}
	var list []TrustEntry
	for _, dir := range slices.Sorted(maps.Keys(entries)) {
		list = append(list, entries[dir])
	}
	return list, nil
}

// lookup finds the decision that counts for a folder, and whether what it was
// made about has changed; nil: there is none.
func (t *Trust) lookup(dir string) (entry *TrustEntry, changed bool, err error) {
	entries, err := t.read()
	if err != nil {
		return nil, false, err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if e, ok := entries[at]; ok {
			entry = &e
			break
		}
		if at == filepath.Dir(at) {
			return nil, false, nil
		}
	}
	if entry.Trusted && entry.Digest != "" && entry.Dir == dir {
		// What cannot be read any more is a change too.
		digest, _ := projectDigest(dir)
		return entry, digest != entry.Digest, nil
	}
	return entry, false, nil
}

func (t *Trust) read() (map[string]TrustEntry, error) {
	entries := map[string]TrustEntry{}
	data, err := readObject(t.file)
	if err != nil || data == nil {
		return entries, err
	}
	var decisions map[string]*bool
	if err := json.Unmarshal(data, &decisions); err != nil {
		return entries, fmt.Errorf("%s: expected true, false or null for each folder: %w", t.file, ErrUnreadable)
	}
	digests := map[string]string{}
	if data, err := readObject(t.digests); err != nil {
		return entries, err
	} else if data != nil && json.Unmarshal(data, &digests) != nil {
		return entries, fmt.Errorf("%s: expected a text for each folder: %w", t.digests, ErrUnreadable)
	}
	for dir, trusted := range decisions {
		if trusted != nil {
			entries[dir] = TrustEntry{Dir: dir, Trusted: *trusted, Digest: digests[dir]}
		}
	}
	return entries, nil
}

// setMember stores a member of a file or, without keep, takes it out.
func setMember(file, name string, value any, keep bool) error {
	if !keep {
		if data, err := readObject(file); err != nil || data == nil {
			return err
		}
	}
	return updateObject(file, 0o600, func(data []byte) ([]byte, error) {
		all, err := parseObjectFile(data)
		if err != nil {
			return nil, err
		}
		all.remove(name)
		if keep {
			raw, err := message.Marshal(value)
			if err != nil {
				return nil, err
			}
			all.set(name, raw)
		}
		return all.encode()
	})
}

// canonical gives a folder the name that decisions are saved under.
func canonical(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return resolveLink(dir)
}
