package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-54e836f5/pi/cmd/internal/modelserver"
)

// home is an agent folder with a model server, and a folder to work in.
type home struct {
	server *modelserver.Server
	agent  string
	work   string
	env    []string  // nil: the usual one
	record io.Writer // gets what is read of stdout; nil: nobody does
	stderr *os.File  // takes the place of what a process keeps; nil: nothing does
}

func newHome(t *testing.T) home {
	t.Helper()
	h := home{server: modelserver.Start(t), agent: t.TempDir(), work: t.TempDir()}
	models := strings.ReplaceAll(scriptModels, "SERVER", h.server.URL)
	if err := os.WriteFile(filepath.Join(h.agent, "models.json"), []byte(models), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// process is a running binary in rpc mode and the client's ends of its pipes.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *lockedBuffer
}

// start spawns the binary. The test ends it, if nobody else does.
func (h home) start(t *testing.T, args ...string) *process {
	t.Helper()
	args = append([]string{"--mode", "rpc", "--provider", "mock", "--model", "m1"}, args...)
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), piBinary, args...), stderr: &lockedBuffer{}}
	p.cmd.Dir, p.cmd.Stderr = h.work, p.stderr
	if h.stderr != nil {
		p.cmd.Stderr = h.stderr
	}
	p.cmd.Env = h.environment(t)
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	from := io.Reader(stdout)
	if h.record != nil {
		from = io.TeeReader(stdout, h.record)
	}
	p.stdout = bufio.NewReaderSize(from, 1<<16)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

func (h home) environment(t *testing.T) []string {
	if h.env != nil {
		return h.env
	}
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.agent, "PI_CODING_AGENT_DIR=" + h.agent, "TMPDIR=" + t.TempDir()}
}

// send writes one command.
func (p *process) send(command string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, command+"\n"); err != nil {
		p.t.Fatalf("%v; stderr: %s", err, p.stderr.String())
	}
}

// frame is a line of stdout, as far as these tests look at it.
type frame struct {
	Type    string
	ID      any
	Command string
	Success bool
	Error   string
	Data    json.RawMessage
	Message json.RawMessage
	Event   struct {
		Type  string
		Delta string
	} `json:"assistantMessageEvent"`

	raw []byte // the line as it came
}

// next reads the next line.
func (p *process) next() (frame, error) {
	line, err := p.stdout.ReadBytes('\n')
	if err != nil {
		return frame{}, err
	}
	f := frame{raw: line}
	if err := json.Unmarshal(line, &f); err != nil {
		return frame{}, fmt.Errorf("%w: %.200s", err, line)
	}
	return f, nil
}

// until reads lines up to the first that fits.
func (p *process) until(fits func(frame) bool) frame {
	p.t.Helper()
	for {
		f, err := p.next()
		if err != nil {
			p.t.Fatalf("%v; stderr: %s", err, p.stderr.String())
		}
		if fits(f) {
			return f
		}
	}
}

func (p *process) response(id string) frame {
	p.t.Helper()
	return p.until(func(f frame) bool { return f.Type == "response" && f.ID == id })
}

func (p *process) event(name string) frame {
	p.t.Helper()
	return p.until(func(f frame) bool { return f.Type == name })
}

// end closes stdin, reads what is left, and checks that the exit code is 0.
func (p *process) end() {
	p.t.Helper()
	if err := p.stdin.Close(); err != nil {
		p.t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, p.stdout); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatalf("%v; stderr: %s", err, p.stderr.String())
	}
}

// kill ends the process at once, as kill -9 does.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // it says that it was killed
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
