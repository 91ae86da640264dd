package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
)

// TestScript runs testdata/script: the command line, exit codes, and what a
// start leaves on stdout and stderr. Each script has a home, an agent folder
// and a model server of its own; pi is on its PATH. Beside testscript's own
// commands there are
//
//	frames pattern…    each pattern, a JSON value, matches a later line of stdout
//	requests n         the model was asked n times so far
//	asked text         the last request to the model holds the text; ! asked: does not
//	sentence stderr    stderr is one line that ends
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup:               setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"asked":    askedCommand,
			"frames":   framesCommand,
			"requests": requestsCommand,
			"sentence": sentenceCommand,
		},
	})
}

type serverKey struct{}

func setUpScript(env *testscript.Env) error {
	server, err := modelserver.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = server.Close() })
	env.Values[serverKey{}] = server
	agent := filepath.Join(env.WorkDir, "agent")
	if err := os.Mkdir(agent, 0o755); err != nil {
		return err
	}
	models := strings.ReplaceAll(scriptModels, "SERVER", server.URL)
	if err := os.WriteFile(filepath.Join(agent, "models.json"), []byte(models), 0o600); err != nil {
		return err
	}
	env.Setenv("PATH", filepath.Dir(piBinary)+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("PI_CODING_AGENT_DIR", agent)
	env.Setenv("SERVER", server.URL)
	return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o755)
}

const scriptModels = `{"providers": {"mock": {"baseUrl": "SERVER", "api": "anthropic-messages", "apiKey": "x", "models": [
  {"id": "m1", "name": "Mock 1", "reasoning": true, "input": ["text", "image"], "contextWindow": 200000, "maxTokens": 16000},
  {"id": "m2", "name": "Mock 2"}]}}}
`

// framesCommand looks for lines of stdout in the order of its patterns, each
// after the one before.
func framesCommand(ts *testscript.TestScript, neg bool, patterns []string) {
	var lines []any
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var v any
		ts.Check(json.Unmarshal([]byte(line), &v))
		lines = append(lines, v)
	}
	at := 0
	for _, pattern := range patterns {
		var p any
		if err := json.Unmarshal([]byte(pattern), &p); err != nil {
			ts.Fatalf("pattern %s: %v", pattern, err)
		}
		found := false
		for ; at < len(lines) && !found; at++ {
			found = contains(lines[at], p)
		}
		if found == neg {
			ts.Fatalf("frame %s: found is %v", pattern, found)
		}
		if neg {
			at = 0
		}
	}
}

// contains reports whether v has at least what pattern has.
func contains(v, pattern any) bool {
	switch p := pattern.(type) {
	case map[string]any:
		o, ok := v.(map[string]any)
		if !ok {
			return false
		}
		for k, want := range p {
			if got, ok := o[k]; !ok || !contains(got, want) {
				return false
			}
		}
		return true
	case []any:
		list, ok := v.([]any)
		if !ok || len(list) != len(p) {
			return false
		}
		for i := range p {
			if !contains(list[i], p[i]) {
				return false
			}
		}
		return true
	}
	return v == pattern
}

func requestsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: requests n")
	}
	server := ts.Value(serverKey{}).(*modelserver.Server)
	if got := fmt.Sprint(len(server.Requests())); got != args[0] {
		ts.Fatalf("the model was asked %s times, not %s", got, args[0])
	}
}

func askedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: asked text")
	}
	requests := ts.Value(serverKey{}).(*modelserver.Server).Requests()
	if len(requests) == 0 {
		ts.Fatalf("the model was not asked")
	}
	if body := string(requests[len(requests)-1].Body); strings.Contains(body, args[0]) == neg {
		ts.Fatalf("the request holds %q: %v, in\n%s", args[0], neg, body)
	}
}

func sentenceCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: sentence file")
	}
	text := ts.ReadFile(args[0])
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") || strings.TrimSpace(text) == "" {
		ts.Fatalf("%s is not one line: %q", args[0], text)
	}
}
