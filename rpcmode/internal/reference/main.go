// Command reference writes the reference page of the protocol and its types
// for TypeScript, both from the one table of commands and events:
//
//	go run ./internal/reference PAGE TYPES
//
// It imports rpcmode and rpcmode/wire only.
package main

import (
	"fmt"
	"os"

	"github.com/seed-54e836f5/pi/rpcmode"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: reference PAGE TYPES")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func write(page, types string) error {
	r, err := describe()
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, r.page(), 0o644); err != nil { //nolint:gosec // a document
		return err
	}
	return os.WriteFile(types, r.typescript(), 0o644) //nolint:gosec // a document
}

// reference is what both documents are made of: the commands of the pi
// dialect, and the events and frames of both.
type reference struct {
	wire.Protocol
	xcshOnly map[string]bool // events and frames that the pi dialect does not have
	defs     map[string]*schema
	names    []string // of defs, in order
	examples map[string][]string
}

func describe() (*reference, error) {
	pi, err := rpcmode.Describe(rpcmode.Pi, "", true)
	if err != nil {
		return nil, err
	}
	xcsh, err := rpcmode.Describe(rpcmode.XCSH, "", true)
	if err != nil {
		return nil, err
	}
	r := &reference{Protocol: xcsh, xcshOnly: map[string]bool{}}
	r.Commands = pi.Commands
	known := map[string]bool{}
	for _, e := range pi.Events {
		known[e.Type] = true
	}
	for _, f := range pi.Frames {
		known[f.Type] = true
	}
	for _, e := range xcsh.Events {
		r.xcshOnly[e.Type] = !known[e.Type]
	}
	for _, f := range xcsh.Frames {
		r.xcshOnly[f.Type] = !known[f.Type]
	}
	for name, raw := range pi.Defs {
		r.Defs[name] = raw
	}
	if r.defs, r.names, err = decodeAll(r.Defs); err != nil {
		return nil, err
	}
	r.examples, err = examples()
	return r, err
}
