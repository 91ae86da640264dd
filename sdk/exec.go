package sdk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// ExecResult is what a program gave.
type ExecResult struct {
	Stdout, Stderr string
	Code           int // 0 for success; 128 and more when a signal ended it
}

// Exec runs a program in the session's folder and waits for it. It ends when
// the context does, with everything it started. A program that fails is no
// error: see Code.
func (c *Context) Exec(name string, args ...string) (ExecResult, error) {
	cmd := exec.CommandContext(c, name, args...)
	cmd.Dir = c.cwd
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	result := ExecResult{Stdout: stdout.String(), Stderr: stderr.String()}
	if cause := context.Cause(c); cause != nil {
		return result, fmt.Errorf("run %s: %w", name, cause)
	}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return result, nil
	case errors.As(err, &exit):
		result.Code = exitCode(exit)
		return result, nil
	}
	return result, fmt.Errorf("run %s: %w", name, err)
}
