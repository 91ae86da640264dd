package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// limit ends a run that does not come to an end.
const limit = 2 * time.Minute

// session is a running agent.
type session struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	cancel context.CancelFunc
	stderr bytes.Buffer
	begun  time.Time
}

func lookPath(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return name
}

// start spawns the agent in rpc mode.
func (a *agent) start(ctx context.Context, args ...string) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	s := &session{cancel: cancel}
	args = append(append(a.command[1:len(a.command):len(a.command)], "--mode", "rpc", "--provider", "mock", "--model", "m1"), args...)
	s.cmd = exec.CommandContext(ctx, a.command[0], args...)
	s.cmd.Dir, s.cmd.Stderr = a.work(), &s.stderr
	s.cmd.Env = []string{
		"PATH=" + filepath.Dir(a.command[0]) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + filepath.Join(a.home, "home"), "TMPDIR=" + filepath.Join(a.home, "tmp"), "LANG=C.UTF-8", "TERM=dumb",
		"PI_CODING_AGENT_DIR=" + filepath.Join(a.home, "agent"), "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1",
	}
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	s.stdin, s.stdout = stdin, bufio.NewReaderSize(stdout, 1<<20)
	s.begun = time.Now()
	if err := s.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	return s, nil
}

// end closes stdin and waits for the process.
func (s *session) end() error {
	defer s.cancel()
	if err := s.stdin.Close(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, s.stdout); err != nil {
		return err
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(s.stderr.Bytes()))
	}
	return nil
}

// drop ends the process after an error, which it returns.
func (s *session) drop(err error) error {
	s.cancel()
	return errors.Join(err, s.cmd.Wait())
}

func (s *session) send(command any) error {
	line, err := json.Marshal(command)
	if err != nil {
		return err
	}
	_, err = s.stdin.Write(append(line, '\n'))
	return err
}

// until reads lines up to the one that has the mark, and returns how many
// bytes they were. A look at the bytes is all that is done to them, so that
// the client is not what is measured.
func (s *session) until(mark string) (int, error) {
	total := 0
	for {
		line, err := s.stdout.ReadSlice('\n')
		found := bytes.Contains(line, []byte(mark))
		total += len(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = s.stdout.ReadSlice('\n')
			total += len(line)
		}
		if err != nil {
			return total, fmt.Errorf("waiting for %s: %w: %s", mark, err, bytes.TrimSpace(s.stderr.Bytes()))
		}
		if found {
			return total, nil
		}
	}
}

type command map[string]any

// ask sends a command and reads up to its response.
func (s *session) ask(name string) (int, error) {
	if err := s.send(command{"id": "bench-" + name, "type": name}); err != nil {
		return 0, err
	}
	return s.until(`"id":"bench-` + name + `"`)
}

// prompt sends a prompt and reads up to the end of its run.
func (s *session) prompt(text string) error {
	if err := s.send(command{"id": "bench-prompt", "type": "prompt", "message": text}); err != nil {
		return err
	}
	_, err := s.until(`{"type":"agent_settled"`)
	return err
}
