// Package builtin gives all tools that pi brings along, in the order in which
// models are told of them.
//
// It imports the tools' packages and what their options need.
package builtin

import (
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/tool/bash"
	"github.com/seed-54e836f5/pi/core/tool/edit"
	"github.com/seed-54e836f5/pi/core/tool/ls"
	"github.com/seed-54e836f5/pi/core/tool/read"
	"github.com/seed-54e836f5/pi/core/tool/write"
)

// Options say where the tools work, and for whom. The functions are called
// from any goroutine, once for each call of a tool.
type Options struct {
	Cwd         func() string   // folder of the session
	ShellPath   string          // empty: the system's
	ShellPrefix string          // put in front of every command; empty: nothing is
	Env         func() []string // for commands, beside that of this process
	Images      func() bool     // whether the model takes images
}

// New makes the tools.
func New(o Options) []tool.Tool {
	return []tool.Tool{
		read.New(read.Options{Cwd: o.Cwd, TakesImages: o.Images}),
		bash.New(bash.Options{Cwd: o.Cwd, Shell: o.ShellPath, Prefix: o.ShellPrefix, Environment: o.Env}),
		edit.New(o.Cwd),
		write.New(o.Cwd),
		ls.New(o.Cwd),
	}
}
