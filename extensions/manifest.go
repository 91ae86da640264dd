package extensions

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/readfile"
	"github.com/seed-54e836f5/pi/proto"
)

// ManifestName is the file that makes a folder an extension.
const ManifestName = "extension.json"

// manifest is what extension.json may say. All fields are optional.
type manifest struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Command is the program and its arguments. A program with a slash is
	// meant from the folder. Missing: the folder's Go main package.
	Command []string `json:"command"`
	// Capabilities are all that the extension may do; missing: everything.
	Capabilities []proto.Capability `json:"capabilities"`
	// Env are variables it gets beside the harmless ones: NAME, passed on from
	// pi's environment, or NAME=value.
	Env []string `json:"env"`
	// FailOpen lets tools run although the extension could not check them.
	FailOpen bool `json:"failOpen"`
	// Guards names tools that must not run while the extension is not up,
	// also when it has never been; "*" is all. Without it pi only knows what
	// the extension guards once it has registered.
	Guards []string `json:"guards"`
	// Deadlines of handlers by kind, such as {"tool_call": "90s"}, and of the
	// start under "start".
	Deadlines map[string]duration `json:"deadlines"`
	// SHA256 is the checksum of the program, in hex. Any other is not run.
	SHA256 string `json:"sha256"`
}

// duration is written like "1m30s".
type duration time.Duration

// UnmarshalJSON implements json.Unmarshaler.
func (d *duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%s is no duration: write it like \"90s\"", data)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed <= 0 {
		return fmt.Errorf("%q is no duration: write it like \"90s\"", text)
	}
	*d = duration(parsed)
	return nil
}

// startDeadline is the key of Deadlines that is no kind of event.
const startDeadline = "start"

func readManifest(folder string) (*manifest, error) {
	path := filepath.Join(folder, ManifestName)
	data, err := readfile.Ordinary(path)
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var m manifest
	if err := decoder.Decode(&m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &m, nil
}

func (m *manifest) check() error {
	for _, c := range m.Capabilities {
		if known := proto.Capabilities(); !slices.Contains(known, c) {
			return fmt.Errorf("field capabilities: %q is none; there are %s", c, joinNames(known))
		}
	}
	for kind := range m.Deadlines {
		info, known := event.Lookup(event.Kind(kind))
		if kind != startDeadline && (!known || info.Hook == event.Closed) {
			return fmt.Errorf("field deadlines: extensions have no handlers for %q", kind)
		}
	}
	if m.Command != nil && strings.Join(m.Command, "") == "" {
		return fmt.Errorf("field command: it names no program")
	}
	if sum, err := hex.DecodeString(m.SHA256); m.SHA256 != "" && (err != nil || len(sum) != 32) {
		return fmt.Errorf("field sha256: it is not 64 hexadecimal digits")
	}
	return nil
}

// allows says whether the extension may do what the capability stands for.
func (m *manifest) allows(c proto.Capability) bool {
	return m == nil || m.Capabilities == nil || c == "" || slices.Contains(m.Capabilities, c)
}

func joinNames[S ~string](names []S) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}
