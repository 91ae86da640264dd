package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Scenario is one conversation to play.
//
// In every string, ${WORK}, ${AGENT}, ${HOME} and ${TMP} are the run's
// folders, ${MOCK} is the model server's address, other names are what an
// earlier step saved, and ${PAD:n} is n times x.
type Scenario struct {
	Name  string `json:"name"`
	About string `json:"about"`
	// Files are made before the start. The first part of a path names the
	// folder: home, agent (the agent's own) or work (where it runs). The
	// content is a string, {"b64": …}, {"lines": […]}, or JSON to write.
	Files map[string]json.RawMessage `json:"files"`
	// Base are the first arguments; nil means RPC mode with the model m1.
	Base []string `json:"base"`
	Args []string `json:"args"`
	// Models replaces the usual agent/models.json, Settings is merged into the
	// usual agent/settings.json.
	Models   json.RawMessage            `json:"models"`
	Settings map[string]json.RawMessage `json:"settings"`
	// Tools false leaves the agent's helper programs (see Agent.Path) away.
	Tools *bool  `json:"tools"`
	Steps []Step `json:"steps"`

	source []byte
}

// Step is one thing a client does. One of the first ten fields is set.
type Step struct {
	Send     json.RawMessage            `json:"send"`      // write the value as a line
	Raw      *string                    `json:"raw"`       // write the text as it is
	RawB64   *string                    `json:"raw_b64"`   // write the bytes
	Wait     json.RawMessage            `json:"wait"`      // wait for a line that matches (see Matches)
	Answer   map[string]json.RawMessage `json:"answer"`    // wait for a dialog and answer it; "method" picks which
	SleepMS  int                        `json:"sleep_ms"`  // let that many milliseconds pass
	Close    bool                       `json:"close"`     // close stdin
	Signal   string                     `json:"signal"`    // send SIGTERM, SIGINT or SIGHUP
	WaitExit bool                       `json:"wait_exit"` // wait for the process to end
	Note     string                     `json:"note"`      // nothing, for the reader

	// LimitMS ends a wait, in milliseconds; 0 means 10000.
	LimitMS int `json:"limit_ms"`
	// Fresh makes a wait look only at what came after the last line sent.
	Fresh bool `json:"fresh"`
	// Save keeps values of the awaited line under names, by path.
	Save map[string]string `json:"save"`
}

// LoadScenarios reads every scenario of a folder, in the order of names.
func LoadScenarios(dir fs.FS) ([]*Scenario, error) {
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var out []*Scenario
	for _, name := range names {
		sc, err := LoadScenario(dir, name)
		if err != nil {
			return nil, err
		}
		out = append(out, sc)
	}
	return out, nil
}

// LoadScenario reads one scenario.
func LoadScenario(dir fs.FS, file string) (*Scenario, error) {
	data, err := fs.ReadFile(dir, file)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	sc := &Scenario{source: data}
	if err := d.Decode(sc); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", file, err)
	}
	if want := strings.TrimSuffix(file, ".json"); sc.Name != want {
		return nil, fmt.Errorf("scenario %s: its name is %q", file, sc.Name)
	}
	return sc, nil
}

// Extensions returns the paths of files that are extensions in TypeScript, in
// the order of names: those in a folder named extensions, and those that an
// argument -e names.
func (sc *Scenario) Extensions() []string {
	var out []string
	for file := range sc.Files {
		if path.Ext(file) != ".ts" {
			continue
		}
		if path.Base(path.Dir(file)) == "extensions" || sc.namedByFlag(file) {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out
}

// namedByFlag reports whether file, a path under work, is the value of -e.
func (sc *Scenario) namedByFlag(file string) bool {
	for i, arg := range sc.Args {
		if i > 0 && isExtensionFlag(sc.Args[i-1]) && path.Join("work", strings.TrimPrefix(arg, "${WORK}/")) == file {
			return true
		}
	}
	return false
}

func isExtensionFlag(arg string) bool { return arg == "-e" || arg == "--extension" }

var placeholder = regexp.MustCompile(`\$\{([A-Za-z_0-9]+|PAD:\d+)\}`)
