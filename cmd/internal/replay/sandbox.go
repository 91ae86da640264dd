package replay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// usualModels is agent/models.json unless a scenario has its own.
const usualModels = `{"providers": {
  "mock": {"baseUrl": "${MOCK}", "api": "anthropic-messages", "apiKey": "x", "models": [
    {"id": "m1", "name": "Mock 1", "reasoning": true, "input": ["text", "image"], "contextWindow": 200000, "maxTokens": 16000,
     "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}},
    {"id": "m2", "name": "Mock 2", "reasoning": false}]},
  "mocko": {"baseUrl": "${MOCK}/v1", "api": "openai-completions", "apiKey": "x", "models": [
    {"id": "o1", "reasoning": false}]}}}`

// usualBase are the arguments before those of the scenario.
var usualBase = []string{"--mode", "rpc", "--provider", "mock", "--model", "m1"}

// sandbox is the run's own set of folders.
type sandbox struct {
	root string
	vars variables
}

// newSandbox makes the folders. The model server's address is filled in for
// ${MOCK}.
func newSandbox(server string) (*sandbox, error) {
	root, err := os.MkdirTemp("", "replay-")
	if err != nil {
		return nil, err
	}
	// The agent sees the real path, so the normal form must know it.
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	s := &sandbox{root: root, vars: variables{"MOCK": server}}
	for _, dir := range []string{"home", "agent", "work", "tmp"} {
		if err := os.Mkdir(s.dir(dir), 0o755); err != nil {
			return nil, errors.Join(err, s.remove())
		}
		s.vars[strings.ToUpper(dir)] = s.dir(dir)
	}
	return s, nil
}

func (s *sandbox) dir(name string) string { return filepath.Join(s.root, name) }

// remove deletes the folders, also those that a tool made read-only.
func (s *sandbox) remove() error { return os.RemoveAll(s.root) }

// fill writes the scenario's files. Each extension in TypeScript is replaced
// by a link to the program that programs has for it; with no programs at all
// the file itself is written.
func (s *sandbox) fill(sc *Scenario, programs map[string]string) error {
	files := map[string]json.RawMessage{}
	for name, content := range sc.Files {
		files[name] = content
	}
	for name, content := range map[string]json.RawMessage{
		"agent/models.json":   sc.models(),
		"agent/settings.json": sc.settings(),
	} {
		if _, own := files[name]; !own {
			files[name] = content
		}
	}
	extensions := sc.Extensions()
	for name, raw := range files {
		if programs != nil && slices.Contains(extensions, name) {
			if err := s.link(name, programs[name]); err != nil {
				return err
			}
			continue
		}
		content, err := s.content(raw)
		if err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
		if err := s.write(name, content); err != nil {
			return err
		}
	}
	return nil
}

func (s *sandbox) link(name, program string) error {
	if program == "" {
		return fmt.Errorf("no program stands for the extension %s", name)
	}
	target := filepath.Join(s.root, filepath.FromSlash(strings.TrimSuffix(name, path.Ext(name))))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.Symlink(program, target)
}

func (s *sandbox) write(name string, content []byte) error {
	target := filepath.Join(s.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, content, 0o644)
}

// content reads the forms that Scenario.Files allows.
func (s *sandbox) content(raw json.RawMessage) ([]byte, error) {
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return []byte(s.vars.text(plain)), nil
	}
	var form struct {
		B64   *string           `json:"b64"`
		Lines []json.RawMessage `json:"lines"`
	}
	_ = json.Unmarshal(raw, &form) // anything else is JSON to write
	switch {
	case form.B64 != nil:
		return base64.StdEncoding.DecodeString(*form.B64)
	case form.Lines != nil:
		var out []byte
		for _, line := range form.Lines {
			text, err := s.content(line)
			if err != nil {
				return nil, err
			}
			out = append(append(out, text...), '\n')
		}
		return out, nil
	}
	return compact(s.vars.json(raw)), nil
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		panic(fmt.Sprintf("replay: %v in %s", err, raw)) // it was decoded before
	}
	return b.Bytes()
}

func (sc *Scenario) models() json.RawMessage {
	if sc.Models != nil {
		return sc.Models
	}
	return json.RawMessage(usualModels)
}

// settings shortens the waits between retries, unless the scenario says
// otherwise.
func (sc *Scenario) settings() json.RawMessage {
	settings := object{"retry": object{"baseDelayMs": 200}}
	for name, raw := range sc.Settings {
		v, err := decode(raw)
		if err != nil {
			panic(err) // it was decoded before
		}
		if usual, ok := settings[name].(object); ok {
			if own, ok := v.(object); ok {
				for k, x := range own {
					usual[k] = x
				}
				continue
			}
		}
		settings[name] = v
	}
	return encode(settings)
}

// arguments are the command line of the scenario. Where programs stand for
// extensions, -e names them.
func (s *sandbox) arguments(sc *Scenario, programs map[string]string) []string {
	base := sc.Base
	if base == nil {
		base = usualBase
	}
	args := slices.Clone(sc.Args)
	for i := range args {
		if programs != nil && i > 0 && isExtensionFlag(args[i-1]) && path.Ext(args[i]) == ".ts" {
			args[i] = strings.TrimSuffix(args[i], ".ts")
		}
	}
	return s.vars.all(append(slices.Clone(base), args...))
}

// environment is all that the agent sees of the machine.
func (s *sandbox) environment(sc *Scenario, agent Agent) []string {
	search := []string{"/usr/local/bin", "/usr/bin", "/bin"}
	if sc.Tools == nil || *sc.Tools {
		search = append(slices.Clone(agent.Path), search...)
	}
	env := []string{
		"PATH=" + strings.Join(search, string(os.PathListSeparator)),
		"HOME=" + s.dir("home"), "TMPDIR=" + s.dir("tmp"), "LANG=C.UTF-8", "TERM=dumb",
		"PI_CODING_AGENT_DIR=" + s.dir("agent"), "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1",
	}
	return append(env, agent.Env...)
}
