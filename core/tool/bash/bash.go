// Package bash is the tool with which a model runs shell commands.
//
// It imports core/tool, core/proc, core/limit and core/message only.
package bash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-54e836f5/pi/core/limit"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/proc"
	"github.com/seed-54e836f5/pi/core/tool"
)

// Options say where and how commands run. The functions are called from any
// goroutine, once for each call of the tool.
type Options struct {
	// Cwd is the folder that commands start in.
	Cwd func() string
	// Shell is the shell's path; nil or empty: the one that proc.FindShell
	// finds.
	Shell func() string
	// Prefix is put in front of every command, on a line of its own; nil or
	// empty: nothing is.
	Prefix func() string
	// Environment is what commands find in their environment beside that of
	// this process, NAME=value each; nil: nothing.
	Environment func() []string
	// Background keeps what commands leave running; nil: its output is closed.
	Background *proc.Background
}

// New makes the tool.
func New(o Options) tool.Tool { return shell{o} }

type shell struct{ Options }

var spec = tool.Spec{
	Name:  "bash",
	Label: "Bash",
	Description: fmt.Sprintf("Run a command with bash, in the working folder, with an empty standard input. Output and errors come together, "+
		"the last %d lines or %s of them; the whole goes to a file then. Each call has a shell of its own: nothing is kept between calls.",
		limit.Lines, limit.Size(limit.Bytes)),
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"command":{"type":"string","description":"Command line to run"},` +
		`"timeout":{"type":"number","description":"Seconds after which the command is ended; without it, it may run as long as it likes"}},"required":["command"]}`),
	Snippet: "run shell commands",
}

// Spec implements tool.Tool.
func (shell) Spec() tool.Spec { return spec }

// Run implements tool.Tool.
func (s shell) Run(ctx context.Context, call tool.Call, update func(tool.Result)) (tool.Result, error) {
	var args struct {
		Command string   `json:"command"`
		Timeout *float64 `json:"timeout"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("bash: arguments: %w", err)
	}
	if update != nil {
		update(tool.Result{Content: []message.Block{}}) // clients wait for it before all else
	}
	timeout, err := duration(args.Timeout)
	if err != nil {
		return tool.Result{}, err
	}
	options := proc.Options{
		Command: args.Command, Dir: s.Cwd(), Timeout: timeout,
		Capture: proc.NewCapture(""), Background: s.Background,
	}
	if prefix := ask(s.Prefix); prefix != "" {
		options.Command = prefix + "\n" + args.Command
	}
	if path := ask(s.Shell); path != "" {
		options.Shell = proc.ShellAt(path)
	}
	if s.Environment != nil {
		options.Env = s.Environment()
	}
	ended, err := follow(ctx, options, update)
	if err != nil {
		return tool.Result{}, err
	}
	return outcome(ended, args.Timeout)
}

func ask(f func() string) string {
	if f == nil {
		return ""
	}
	return f()
}

// longest is the longest timeout in seconds: more does not fit the timers of
// the agents that share this tool's contract.
const longest = math.MaxInt32 / 1000

func duration(seconds *float64) (time.Duration, error) {
	if seconds == nil {
		return 0, nil
	}
	if *seconds <= 0 || *seconds > longest {
		return 0, fmt.Errorf("timeout must be a number of seconds above 0, at most %d, not %s", longest, number(*seconds))
	}
	return time.Duration(*seconds * float64(time.Second)), nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// outcome words how a command ended.
func outcome(ended proc.Result, timeout *float64) (tool.Result, error) {
	text := ended.Output.Text
	var notices []string
	if notice := ended.Output.Notice(); notice != "" {
		notices = append(notices, notice)
	}
	if ended.StillRunning {
		notices = append(notices, "Something that the command started is still running; what it writes from now on is not shown.")
	}
	failure := failureOf(ended, timeout)
	if text == "" && (failure == nil || len(notices) > 0) {
		text = "(no output)"
	}
	if len(notices) > 0 {
		text += "\n\n[" + strings.Join(notices, " ") + "]"
	}
	var result tool.Result
	if text != "" {
		result = tool.TextResult(text)
	}
	if failure != nil {
		return result, failure
	}
	if ended.Output.Truncation == nil {
		return result, nil
	}
	details, err := detailsOf(ended.Output)
	result.Details = details
	return result, err
}

func failureOf(ended proc.Result, timeout *float64) error {
	switch {
	case ended.TimedOut:
		return fmt.Errorf("the command was ended because it ran longer than its timeout of %s seconds", number(*timeout))
	case ended.Cancelled:
		return errors.New("the command was aborted")
	case ended.Signal != "":
		return fmt.Errorf("the command was ended by a signal (%s), exit code %d", ended.Signal, ended.ExitCode)
	case ended.ExitCode != 0:
		return fmt.Errorf("the command ended with exit code %d", ended.ExitCode)
	}
	return nil
}

// detailsOf is what clients are told about output beside its text: nothing
// where that is all.
func detailsOf(o proc.Output) (json.RawMessage, error) {
	details, err := message.Marshal(struct {
		Truncation     *limit.Truncation `json:"truncation,omitempty"`
		FullOutputPath string            `json:"fullOutputPath,omitempty"`
	}{o.Truncation, o.FullOutputPath})
	if err != nil {
		return nil, fmt.Errorf("bash: details: %w", err)
	}
	return details, nil
}
