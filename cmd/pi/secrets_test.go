package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// The keys that are planted, by where they come from.
var plantedKeys = map[string]string{
	"environment": "planted-in-the-environment-0001",
	"variable":    "planted&in<a>variable/+'0002", // JSON may have it in other letters
	"auth.json":   "planted-in-auth-json-0003",
	"command":     "planted-by-a-command-0004",
	"header":      "planted-in-a-header-0005",
	"flag":        "planted-by-a-flag-0006",
	"printed":     "planted-in-a-printed-header-0007",
	"login":       "planted-in-a-login-0008",
}

// leakyServer is a service that repeats the keys it is sent in what it says.
// A message with LEAK <status> gets that status; LEAK 200 fails in the stream.
type leakyServer struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]bool // values of headers
}

func startLeaky(t *testing.T, behind string) *leakyServer {
	t.Helper()
	target, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	s := &leakyServer{seen: map[string]bool{}}
	s.Server = httptest.NewServer(s.handler(httputil.NewSingleHostReverseProxy(target)))
	t.Cleanup(s.Close)
	return s
}

var leak = regexp.MustCompile(`LEAK (\d+)`)

func (s *leakyServer) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent []string
		s.mu.Lock()
		for _, values := range r.Header {
			for _, v := range values {
				s.seen[strings.TrimPrefix(v, "Bearer ")] = true
				sent = append(sent, v)
			}
		}
		s.mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		orders := leak.FindAllSubmatch(body, -1)
		w.Header().Set("X-Echo", strings.Join(sent, " "))
		if len(orders) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		told, _ := json.Marshal("you sent " + strings.Join(sent, ", "))
		var status int
		_, _ = fmt.Sscan(string(orders[len(orders)-1][1]), &status)
		if status == http.StatusOK {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":%s}}\n\n", told)
			return
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, told)
	})
}

const leakyModels = `{"providers": {
  "named": {"baseUrl": "SERVER", "api": "anthropic-messages", "apiKey": "$PLANTED_VARIABLE", "headers": {"X-Team": "$PLANTED_HEADER", "X-Printed": "!cat \"$HOME/printed\""}, "models": [{"id": "m"}]},
  "stored": {"baseUrl": "SERVER/v1", "api": "openai-completions", "models": [{"id": "m"}]},
  "printed": {"baseUrl": "SERVER", "api": "anthropic-messages", "apiKey": "!cat \"$HOME/key\"", "models": [{"id": "m"}]},
  "flagged": {"baseUrl": "SERVER", "api": "anthropic-messages", "models": [{"id": "m"}]},
  "openai": {"baseUrl": "SERVER/v1", "api": "openai-completions", "models": [{"id": "m"}]}}}
`

// TestNoKeyIsLeftBehind goes through a whole run with keys from everywhere and
// a service that repeats them, and looks for them in all that is left: stdout,
// stderr, sessions, the cache, what an extension sees, the page, the temporary
// files.
func TestNoKeyIsLeftBehind(t *testing.T) {
	h := newHome(t)
	server := startLeaky(t, h.server.URL)
	dir := t.TempDir()
	spied, temp := filepath.Join(dir, "spied"), filepath.Join(dir, "tmp")
	write(t, filepath.Join(temp, "x"), "")
	write(t, filepath.Join(h.agent, "models.json"), strings.ReplaceAll(leakyModels, "SERVER", server.URL))
	write(t, filepath.Join(h.agent, "key"), plantedKeys["command"])
	write(t, filepath.Join(h.agent, "printed"), plantedKeys["printed"])
	write(t, filepath.Join(h.agent, "auth.json"), fmt.Sprintf(`{"somebody": {"type": "oauth", "access": %q, "refresh": %[1]q, "expires": 1}}`, plantedKeys["login"]))
	write(t, filepath.Join(h.agent, "settings.json"), `{"retry": {"baseDelayMs": 1, "maxRetries": 1}}`)
	write(t, filepath.Join(h.agent, "extensions", "spy", "extension.json"), fmt.Sprintf(`{"command": [%q], "env": ["SPY=%s"]}`, spyProgram(t), spied))
	h.env = append(h.environment(t), "TMPDIR="+temp, "OPENAI_API_KEY="+plantedKeys["environment"],
		"PLANTED_VARIABLE="+plantedKeys["variable"], "PLANTED_HEADER="+plantedKeys["header"])
	var left bytes.Buffer // all that is written to stdout and stderr
	h.record = &left

	store := exec.CommandContext(t.Context(), piBinary, "auth", "set", "stored")
	store.Env, store.Stdin, store.Stdout, store.Stderr = h.env, strings.NewReader(plantedKeys["auth.json"]), &left, &left
	if err := store.Run(); err != nil {
		t.Fatal(err)
	}
	p := h.start(t, "--provider", "named", "--model", "m")
	p.settle()
	for _, provider := range []string{"named", "stored", "printed", "openai"} {
		p.ask("m", fmt.Sprintf(`{"type":"set_model","provider":%q,"modelId":"m"}`, provider))
		for _, order := range []string{"SAY fine", "LEAK 401", "LEAK 400", "LEAK 500", "LEAK 429", "LEAK 200", "SAY on"} {
			// Each order begins a session: what was said before would repeat.
			p.ask("n", `{"type":"new_session"}`)
			p.say(order)
		}
	}
	p.say(`TOOL bash {"command": "echo a tool"}`)
	p.ask("b", `{"type":"bash","command":"echo a command"}`)
	for _, command := range []string{"get_state", "get_messages", "get_available_models", "get_entries", "get_tree", "get_extensions", "get_session_stats"} {
		p.ask("q", `{"type":"`+command+`"}`)
	}
	p.ask("x", `{"type":"export_html"}`)
	p.end()
	left.WriteString(p.stderr.String())

	for _, args := range [][]string{
		{"-p", "--provider", "flagged", "--model", "m", "--api-key", plantedKeys["flag"], "LEAK 401"},
		{"--mode", "json", "--provider", "named", "--model", "m", "LEAK 500"},
		{"config"}, {"config", "--json"}, {"auth", "list"}, {"--list-models"}, {"sessions", "list"}, {"-p", "--provider", "stored", "SAY hi"},
	} {
		cmd := exec.CommandContext(t.Context(), piBinary, args...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.work, h.env, &left, &left
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !asExit(err, &exit) {
			t.Fatal(err)
		}
	}

	for from, key := range plantedKeys {
		if !server.seen[key] && from != "login" { // which is for other programs
			t.Errorf("the key of the %s never reached the service", from)
		}
	}
	report := func(where string, data []byte) {
		for from, key := range plantedKeys {
			quoted, _ := json.Marshal(key)
			again, _ := json.Marshal(string(quoted[1 : len(quoted)-1]))
			for _, form := range []string{key, string(quoted[1 : len(quoted)-1]), string(again[1 : len(again)-1]), url.QueryEscape(key), html.EscapeString(key)} {
				if at := bytes.Index(data, []byte(form)); at >= 0 {
					t.Errorf("%s has the key of the %s: …%s…", where, from, data[max(0, at-200):min(len(data), at+80)])
				}
			}
		}
	}
	report("stdout or stderr", left.Bytes())
	redacted := strings.Count(left.String(), "[redacted]")
	own := map[string]bool{filepath.Join(h.agent, "auth.json"): true, filepath.Join(h.agent, "key"): true, filepath.Join(h.agent, "printed"): true}
	files := 0
	for _, root := range []string{h.agent, h.work, dir} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || own[path] {
				return err
			}
			data, err := os.ReadFile(path)
			files++
			report(path, data)
			redacted += bytes.Count(data, []byte("[redacted]"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if spy := read(t, spied); !strings.Contains(spy, "== environment") || !strings.Contains(spy, "x-echo") || !strings.Contains(spy, "LEAK 500") {
		t.Errorf("the spy saw too little: %.500s", spy)
	}
	if redacted < 20 || files < 10 {
		t.Errorf("the run left %d files and %d places where a key was: too few to show anything", files, redacted)
	}
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

func spyProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "spy")
	if err := build(program, "./testdata/extensions/spy"); err != nil {
		t.Fatal(err)
	}
	return program
}
