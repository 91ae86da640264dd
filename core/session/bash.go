package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/hook"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/proc"
)

// BashCommand is a shell command that the client runs beside the model.
type BashCommand struct {
	ID                 json.RawMessage // of the RPC command, for its output events; nil: it had none
	Command            string
	ExcludeFromContext bool // the model is not told
}

// bashRun is one such command while it runs.
type bashRun struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when its result is stored
}

// StartBash runs a command beside whatever else runs, and any number of others.
// It takes effect before it returns, so that an AbortBash right behind it finds
// it; wait gives the outcome, and may be called once. A command that was
// aborted, or ended badly, has a result that says so; an error means that it
// could not be run at all, or is ErrClosed. A change of session stops it.
func (s *Session) StartBash(c BashCommand) (wait func() (event.BashResult, error)) {
	type outcome struct {
		result event.BashResult
		err    error
	}
	done := make(chan outcome, 1)
	b := &bashRun{done: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(s.life)
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.bashes[b] = struct{}{}
	}
	s.mu.Unlock()
	if closed {
		b.cancel()
		return func() (event.BashResult, error) { return event.BashResult{}, ErrClosed }
	}
	s.owned.run(func() {
		result, err := s.runBash(b, c)
		s.mu.Lock()
		delete(s.bashes, b)
		s.mu.Unlock()
		b.cancel()
		close(b.done)
		done <- outcome{result, err}
	})
	return func() (event.BashResult, error) {
		o := <-done
		return o.result, o.err
	}
}

// AbortBash stops all commands of StartBash. The model's own bash tool is
// stopped by Abort.
func (s *Session) AbortBash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for b := range s.bashes {
		b.cancel()
	}
}

// stopBash stops all commands and waits until their results are stored.
func (s *Session) stopBash() {
	s.AbortBash()
	s.mu.Lock()
	running := slices.Collect(maps.Keys(s.bashes))
	s.mu.Unlock()
	for _, b := range running {
		<-b.done
	}
}

func (s *Session) runBash(b *bashRun, c BashCommand) (event.BashResult, error) {
	s.mu.Lock()
	conversation, shell := s.conversation, s.settings.Shell
	s.mu.Unlock()
	result, err := s.executeBash(b, c, conversation.cwd, shell)
	if err != nil {
		return event.BashResult{}, err
	}
	m := &message.BashExecution{
		Command: c.Command, Output: result.Output, ExitCode: result.ExitCode, Cancelled: result.Cancelled,
		Truncated: result.Truncated, FullOutputPath: result.FullOutputPath, Timestamp: s.now(), ExcludeFromContext: c.ExcludeFromContext,
	}
	s.mu.Lock()
	during := s.streaming
	if during {
		conversation.hold(m)
	}
	s.mu.Unlock()
	if !during {
		s.reportWrite(conversation, conversation.add(m))
	}
	return result, nil
}

func (s *Session) executeBash(b *bashRun, c BashCommand, cwd string, shell Shell) (event.BashResult, error) {
	s.AwaitExtensions(b.ctx) // they may have a say
	if s.config.Hooks.Wanted(event.KindUserBash) {
		e := &event.UserBash{Command: c.Command, Cwd: cwd, ExcludeFromContext: c.ExcludeFromContext}
		own := hook.Decide[event.UserBashResult](b.ctx, s.config.Hooks, e)
		if own.Result != nil {
			return *own.Result, nil
		}
	}
	options := proc.Options{
		Command: withPrefix(shell.Prefix, c.Command), Dir: cwd, Env: []string{"PI_CODING_AGENT=true"}, Background: &s.background,
		OnOutput: func(delta string) {
			s.emit(s.life, &event.BashExecutionUpdate{ID: c.ID, Delta: delta})
		},
	}
	if shell.Path != "" {
		options.Shell = proc.ShellAt(shell.Path)
	}
	result, err := proc.Run(b.ctx, options)
	if err != nil {
		return event.BashResult{}, fmt.Errorf("run the command in %s: %w", cwd, err)
	}
	out := event.BashResult{
		Output: result.Output.Text, Cancelled: result.Cancelled,
		Truncated: result.Output.Truncation != nil, FullOutputPath: result.Output.FullOutputPath,
	}
	if !result.Cancelled {
		out.ExitCode = &result.ExitCode
	}
	return out, nil
}

func withPrefix(prefix, command string) string {
	if prefix == "" {
		return command
	}
	return prefix + "\n" + command
}
