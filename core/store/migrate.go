package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-54e836f5/pi/core/message"
)

// migration turns the lines of a file of version 1 or 2 into version 3, one
// after the other. Version 1 has no ids: each entry's parent is the one before
// it. Version 2 calls the role custom hookMessage. Lines are changed in place,
// not encoded anew, so that everything else in them stays. A nil migration
// changes nothing.
type migration struct {
	version int
	session string
	lines   [][]byte // the file's new content
	ids     []string // of the header ("") and the entries, by their place among them
	taken   map[string]bool
}

// newMigration is nil for a header that needs no migration.
func newMigration(head line) *migration {
	if head.header.Version >= Version {
		return nil
	}
	raw := head.entry.Raw
	if v := head.version; v.end > 0 {
		raw = replaced(raw, v, []byte(strconv.Itoa(Version)))
	} else {
		raw = withMembers(raw, `"version":`+strconv.Itoa(Version))
	}
	return &migration{version: head.header.Version, session: head.header.ID, lines: [][]byte{raw}, ids: []string{""}, taken: map[string]bool{}}
}

// entry migrates one entry. It gives false for one that cannot be read.
func (m *migration) entry(l *line) bool {
	if m == nil {
		return true
	}
	raw := l.entry.Raw
	if l.entry.role == "hookMessage" {
		raw = replaced(raw, l.roleSpan, []byte(`"`+string(message.RoleCustom)+`"`))
	}
	if m.version < 2 {
		raw = m.link(raw, l.entry.Type)
	}
	migrated, ok := parseLine(raw)
	if ok {
		*l = migrated
	}
	return ok
}

// link gives an entry of version 1 its id and parent.
func (m *migration) link(raw []byte, entryType string) []byte {
	id, parent := m.newID(), "null"
	if last := m.ids[len(m.ids)-1]; last != "" {
		parent = `"` + last + `"`
	}
	members := `"id":"` + id + `","parentId":` + parent
	if entryType == TypeCompaction {
		members += m.firstKept(raw)
	}
	m.ids = append(m.ids, id)
	return withMembers(raw, members)
}

// firstKept names the first kept entry of a compaction, which version 1 gives
// as a place among the lines of the file.
func (m *migration) firstKept(compaction []byte) string {
	var b struct {
		Index *int `json:"firstKeptEntryIndex"`
	}
	if json.Unmarshal(compaction, &b) != nil || b.Index == nil || *b.Index < 1 || *b.Index >= len(m.ids) {
		return ""
	}
	return `,"firstKeptEntryId":"` + m.ids[*b.Index] + `"`
}

// newID makes the same id whenever the same file is read, so that ids that were
// given out stay good until the file is written.
func (m *migration) newID() string {
	for salt := len(m.lines); ; salt += 1_000_003 {
		sum := sha256.Sum256([]byte(m.session + "/" + strconv.Itoa(salt)))
		id := hex.EncodeToString(sum[:4])
		if !m.taken[id] {
			m.taken[id] = true
			return id
		}
	}
}

// keep adds a line to the new content of the file.
func (m *migration) keep(raw []byte, parsed line, ok bool) {
	if m == nil {
		return
	}
	if ok {
		raw = parsed.entry.Raw
	}
	m.lines = append(m.lines, raw)
}

func replaced(raw []byte, s span, by []byte) []byte {
	out := make([]byte, 0, len(raw)+len(by))
	out = append(out, raw[:s.start]...)
	out = append(out, by...)
	return append(out, raw[s.end:]...)
}

// withMembers adds members to an object that has one at least.
func withMembers(object []byte, members string) []byte {
	out := make([]byte, 0, len(object)+len(members)+1)
	out = append(out, object[:len(object)-1]...)
	out = append(out, ',')
	out = append(out, members...)
	return append(out, '}')
}

// migrate puts the new content in the place of the old, with the entries
// appended since. The old file stays beside it under another name.
func (f *file) migrate(l *Log) error {
	lines := f.migrated
	if n := f.heldCount; n > 0 {
		entries := l.snapshot()
		for _, e := range entries[len(entries)-n:] {
			lines = append(lines, e.Raw)
		}
	}
	temp, err := os.CreateTemp(filepath.Dir(f.name), "."+filepath.Base(f.name)+".*.tmp")
	if err != nil {
		return err
	}
	size, err := writeLines(temp, lines)
	if err == nil {
		err = temp.Sync()
	}
	if cerr := temp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = f.replaceBy(temp.Name())
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return fmt.Errorf("migrate to version %d: %w", Version, err)
	}
	f.migrated, f.size = nil, size
	f.release()
	if f.handle, err = openHandle(f.name, 0); err != nil {
		f.handle = nil // not a typed nil; the next write tries again
	}
	return nil
}

// replaceBy moves a finished file to our name and keeps the old one.
func (f *file) replaceBy(temp string) error {
	info, err := os.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Rename(temp, f.name) // somebody deleted it: there is nothing to keep
	}
	if err != nil {
		return err
	}
	if err := os.Chmod(temp, info.Mode().Perm()); err != nil {
		return err
	}
	if err := keepCopy(f.name, f.name+backupSuffix); err != nil {
		return fmt.Errorf("keep the old file as %s: %w", f.name+backupSuffix, err)
	}
	return os.Rename(temp, f.name)
}

// backupSuffix names what a migration leaves of the old file.
const backupSuffix = ".old"

// keepCopy gives a file a second name, or makes a copy where files have only
// one. A copy that is there already stays.
func keepCopy(name, backup string) error {
	if err := os.Link(name, backup); err == nil || os.IsExist(err) {
		return nil
	}
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(backup, old, 0o600)
}
