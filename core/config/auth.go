package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-54e836f5/pi/core/message"
)

// CredentialType says what kind of credential auth.json holds.
type CredentialType string

// The credentials of the reference format. Others are kept and listed.
const (
	CredentialKey   CredentialType = "api_key"
	CredentialOAuth CredentialType = "oauth" // kept for the programs that log in; not used here
)

// Credential is one entry of auth.json, in the form of the reference agents.
type Credential struct {
	Provider string         `json:"-"`
	Type     CredentialType `json:"type"`
	// Key is a literal, has $NAME or ${NAME} in it, or is !command.
	Key string `json:"key,omitempty"`
	// Env has values that count before the environment's for this provider.
	Env map[string]string `json:"env,omitempty"`
}

// Describe says what the credential is without telling it, for lists.
func (c Credential) Describe() string {
	switch {
	case c.Type == CredentialOAuth:
		return "a login of another program"
	case c.Type != CredentialKey || c.Key == "":
		return "an entry of another kind"
	case isCommand(c.Key):
		return "what a command prints"
	case strings.Contains(c.Key, "$"):
		return "made of " + c.Key
	case len(c.Key) < 20:
		return "a stored key"
	default:
		return "a stored key that ends in " + c.Key[len(c.Key)-4:]
	}
}

// Auth reads and changes auth.json. The file is read when it is needed and
// again after it changed, so a key that another process stores is used by the
// next request. Methods may be called from any goroutine.
type Auth struct {
	path string

	mu    sync.Mutex
	stamp fileStamp
	read  map[string]Credential
	err   error
}

type fileStamp struct {
	modified time.Time
	size     int64
}

// NewAuth makes an Auth for a file, which need not exist.
func NewAuth(path string) *Auth { return &Auth{path: path} }

// Get gives the credential of a provider; false: there is none. The error
// wraps ErrUnreadable when the file cannot be read.
func (a *Auth) Get(provider string) (Credential, bool, error) {
	all, err := a.load()
	if err != nil {
		return Credential{}, false, err
	}
	c, ok := all[provider]
	return c, ok, nil
}

// List gives all credentials in the order of their providers' names.
func (a *Auth) List() ([]Credential, error) {
	all, err := a.load()
	if err != nil {
		return nil, err
	}
	list := make([]Credential, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	return list, nil
}

// check says what is wrong with the file as a whole.
func (a *Auth) check() []Warning {
	if _, err := a.load(); err != nil {
		return []Warning{{Message: fmt.Sprintf("no stored credential can be used: %v", err)}}
	}
	info, err := os.Stat(a.path)
	if err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return []Warning{{File: a.path, Message: "other users can read the keys in it; run chmod 600 on it"}}
	}
	return nil
}

// Set stores an API key for a provider in place of what it had. Other entries
// stay byte for byte as far as JSON allows.
func (a *Auth) Set(provider, key string) error {
	if provider == "" || key == "" {
		return fmt.Errorf("store a key: provider and key must not be empty")
	}
	entry, err := message.Marshal(Credential{Type: CredentialKey, Key: key})
	if err != nil {
		return err
	}
	return a.update(func(all *objectFile) bool { return all.set(provider, entry) })
}

// Remove takes the credential of a provider out; false: there was none.
func (a *Auth) Remove(provider string) (removed bool, err error) {
	if _, there, err := a.Get(provider); err != nil || !there {
		return false, err
	}
	err = a.update(func(all *objectFile) bool {
		removed = all.remove(provider)
		return removed
	})
	return removed, err
}

// update changes the file; the mode is set each time, as others than us may
// have made it.
func (a *Auth) update(change func(*objectFile) bool) error {
	err := updateObject(a.path, 0o600, func(data []byte) ([]byte, error) {
		all, err := parseObjectFile(data)
		if err != nil {
			return nil, err
		}
		change(all)
		return all.encode()
	})
	if err != nil {
		return fmt.Errorf("change %s: %w", a.path, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read, a.err = nil, nil
	return nil
}

func (a *Auth) load() (map[string]Credential, error) {
	stamp := stampOf(a.path)
	a.mu.Lock()
	if (a.read != nil || a.err != nil) && a.stamp == stamp {
		defer a.mu.Unlock()
		return a.read, a.err
	}
	a.mu.Unlock()

	all, err := readAuth(a.path)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stamp, a.read, a.err = stamp, all, err
	return all, err
}

func readAuth(path string) (map[string]Credential, error) {
	all := map[string]Credential{}
	data, err := readObjectOrPipe(path)
	if err != nil || data == nil {
		return all, err
	}
	list, err := members(data, 0)
	if err != nil {
		return all, err
	}
	for _, m := range list {
		var c Credential
		// An entry of another shape is somebody else's: listed, never used.
		if json.Unmarshal(m.value, &c) != nil {
			c = Credential{Type: "unknown"}
		}
		c.Provider = m.name
		all[m.name] = c
	}
	return all, nil
}

func stampOf(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{size: -1}
	}
	return fileStamp{info.ModTime(), info.Size()}
}
