// Package builtin gives all tools that come with the agent.
//
// It imports the packages of core/tool and core/proc only.
package builtin

import (
	"github.com/seed-54e836f5/pi/core/proc"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/bash"
	"github.com/seed-54e836f5/pi/core/tool/edit"
	"github.com/seed-54e836f5/pi/core/tool/find"
	"github.com/seed-54e836f5/pi/core/tool/grep"
	"github.com/seed-54e836f5/pi/core/tool/ls"
	"github.com/seed-54e836f5/pi/core/tool/read"
	"github.com/seed-54e836f5/pi/core/tool/write"
)

// Options say where the tools work, and for whom. The functions are called
// from any goroutine, once for each call of a tool.
type Options struct {
	// Cwd is the folder that paths are meant in and commands start in. It may
	// change from call to call.
	Cwd func() string
	// TakesImages says whether the model of the moment does; nil: it does.
	TakesImages func() bool
	// Shell is the path of the shell for commands; nil or empty: the usual one.
	Shell func() string
	// CommandPrefix is put in front of every command; nil or empty: nothing is.
	CommandPrefix func() string
	// Environment is what commands find in their environment beside that of
	// this process, NAME=value each; nil: nothing.
	Environment func() []string
	// Background keeps what commands leave running; its owner closes it. nil:
	// their output is closed.
	Background *proc.Background
}

// Tools makes the tools, in the order in which models are told of them. Which
// are on is for the caller to say.
func Tools(o Options) []tool.Tool {
	return []tool.Tool{
		read.New(read.Options{Cwd: o.Cwd, TakesImages: o.TakesImages}),
		bash.New(bash.Options{
			Cwd: o.Cwd, Shell: o.Shell, Prefix: o.CommandPrefix, Environment: o.Environment, Background: o.Background,
		}),
		edit.New(o.Cwd),
		write.New(o.Cwd),
		grep.New(o.Cwd),
		find.New(o.Cwd),
		ls.New(o.Cwd),
	}
}
