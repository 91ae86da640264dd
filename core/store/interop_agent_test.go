//go:build interop

package store_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// How to run: these tests start the reference agents, which are not part of
// the repository, and so not part of its usual tests.
//
//	INTEROP_AGENTS='pi-0.84.0=node /path/to/pi-coding-agent/dist/cli.js;…' \
//		go test -tags interop -run Interop ./core/store
//
// With INTEROP_RECORD=1 the sessions that the agents write become the files in
// testdata/sessions, without what belongs to the machine or to the agents.

// referenceAgent is one entry of INTEROP_AGENTS.
type referenceAgent struct {
	name    string
	command []string
}

func referenceAgents(t *testing.T) []referenceAgent {
	t.Helper()
	var agents []referenceAgent
	for part := range strings.SplitSeq(os.Getenv("INTEROP_AGENTS"), ";") {
		if name, command, ok := strings.Cut(part, "="); ok {
			agents = append(agents, referenceAgent{name, strings.Fields(command)})
		}
	}
	if len(agents) == 0 {
		t.Fatal("INTEROP_AGENTS names no agent: name=command, separated by semicolons")
	}
	return agents
}

// modelServer starts the scripted model server and gives its address.
func modelServer(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "modelserver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/modelserver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), binary)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context has ended by then
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// place is where an agent lives in a test.
type place struct {
	agent referenceAgent
	root  string
}

func newPlace(t *testing.T, agent referenceAgent) place {
	t.Helper()
	p := place{agent: agent, root: t.TempDir()}
	for _, dir := range []string{"agent/extensions", "work", "home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(p.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write(t, "agent/extensions/interop.ts", interopExtension)
	p.write(t, "agent/settings.json", `{"retry":{"baseDelayMs":1},"compaction":{"enabled":true,"reserveTokens":2000,"keepRecentTokens":60}}`)
	p.write(t, "agent/models.json", `{"providers":{"mock":{"baseUrl":"`+modelServer(t)+`","api":"anthropic-messages","apiKey":"x","models":[
		{"id":"m1","reasoning":true,"input":["text","image"],"contextWindow":200000,"maxTokens":16000},{"id":"m2"}]}}}`)
	p.write(t, "work/a.txt", "one\ntwo\n")
	return p
}

func (p place) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.root, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// interopExtension gives the agent commands for what its protocol has none for.
const interopExtension = `
export default function (pi) {
  const nth = (ctx, n) => ctx.sessionManager.getEntries().filter((e) => e.type === "message" && e.message.role === "user")[Number(n)].id;
  pi.registerCommand("nav", { handler: async (args, ctx) => { const [n, how] = args.split(" "); await ctx.navigateTree(nth(ctx, n), { summarize: how === "sum" }); } });
  pi.registerCommand("mark", { handler: async (args, ctx) => { const [n, label] = args.split(" "); pi.setLabel(nth(ctx, n), label); } });
  pi.registerCommand("note", { handler: async (args, ctx) => { pi.sendMessage({ customType: "note", content: args, display: true, details: { n: 1 } }); pi.appendEntry("state", { seen: [1, 2] }); } });
}
`

// running is an agent that speaks its protocol.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	count int
}

func (p place) start(t *testing.T, args ...string) *running {
	t.Helper()
	argv := append(append(p.agent.command[1:len(p.agent.command):len(p.agent.command)], "--mode", "rpc", "--provider", "mock", "--model", "m1"), args...)
	cmd := exec.CommandContext(t.Context(), p.agent.command[0], argv...)
	cmd.Dir = filepath.Join(p.root, "work")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(p.root, "home"), "TMPDIR=" + filepath.Join(p.root, "tmp"), "LANG=C.UTF-8",
		"PI_CODING_AGENT_DIR=" + filepath.Join(p.root, "agent"), "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1",
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, cmd: cmd, in: in, out: bufio.NewScanner(out)}
	r.out.Buffer(nil, 64<<20)
	return r
}

// stop ends the agent by the end of its input.
func (r *running) stop() {
	r.t.Helper()
	_ = r.in.Close()
	for r.out.Scan() {
	}
	if err := r.cmd.Wait(); err != nil {
		r.t.Fatalf("the agent ended with %v", err)
	}
}

// ask sends a command and gives the data of its response. A prompt is waited
// for until it has settled.
func (r *running) ask(command string, fields map[string]any) json.RawMessage {
	r.t.Helper()
	r.count++
	id := fmt.Sprintf("c%d", r.count)
	message := map[string]any{"id": id, "type": command}
	for name, value := range fields {
		message[name] = value
	}
	line, err := json.Marshal(message)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.in.Write(append(line, '\n')); err != nil {
		r.t.Fatal(err)
	}
	text, _ := fields["message"].(string)
	settled := command != "prompt" || strings.HasPrefix(text, "/")
	var data json.RawMessage
	for answered := false; !answered || !settled; {
		if !r.out.Scan() {
			r.t.Fatalf("%s: the agent's output ended: %v", command, r.out.Err())
		}
		var out struct {
			ID, Type, Error string
			Success         bool
			Data            json.RawMessage
		}
		if err := json.Unmarshal(r.out.Bytes(), &out); err != nil {
			r.t.Fatal(err)
		}
		switch {
		case out.Type == "agent_settled":
			settled = true
		case out.Type == "response" && out.ID == id:
			if !out.Success {
				r.t.Fatalf("%s: %s", command, out.Error)
			}
			answered, data = true, append(json.RawMessage(nil), out.Data...)
		}
	}
	return data
}

func (r *running) prompt(text string) {
	r.t.Helper()
	r.ask("prompt", map[string]any{"message": text})
}

// view is what an agent says about the session it has open.
type view struct {
	Name     string            `json:"name,omitempty"`
	LeafID   string            `json:"leafId"`
	Entries  []json.RawMessage `json:"-"` // the file has them
	Messages []json.RawMessage `json:"messages"`
	Tree     json.RawMessage   `json:"tree"`
}

func (r *running) view() view {
	r.t.Helper()
	var v view
	var state struct{ SessionName string }
	for command, into := range map[string]any{"get_state": &state, "get_entries": &v, "get_messages": &v, "get_tree": &v} {
		if command == "get_entries" {
			into = &struct {
				Entries *[]json.RawMessage
				LeafID  *string
			}{&v.Entries, &v.LeafID}
		}
		if err := json.Unmarshal(r.ask(command, nil), into); err != nil {
			r.t.Fatalf("%s: %v", command, err)
		}
	}
	v.Name = state.SessionName
	return v
}

// file is where the agent keeps its session.
func (r *running) file() string {
	r.t.Helper()
	var state struct{ SessionFile string }
	if err := json.Unmarshal(r.ask("get_state", nil), &state); err != nil {
		r.t.Fatal(err)
	}
	return state.SessionFile
}
