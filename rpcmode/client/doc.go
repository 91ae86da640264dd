// Package client drives an agent from a Go program: it speaks the RPC
// protocol over the pipes of a process that it starts, or over any pair of
// streams.
//
// Commands are methods that return the typed answer; events come in order
// from a subscription; dialogs and the host's own tools are functions. A
// program that only wants an answer needs Spawn, Ask and Close.
//
// It imports rpcmode/wire, rpcmode/jsonl, core/message, core/event, core/ui
// and core/todo: nothing of the agent itself.
package client
