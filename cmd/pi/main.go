// Command pi is a coding agent that other programs drive: with JSON lines in
// rpc mode, as a stream of events in json mode, or with a prompt on the
// command line. It is the one package that knows all others and wires them,
// and no package imports it. It must not import sdk, or a vendor's library: those
// stay in their adapters.
package main

import (
	"context"
	"fmt"
	"os"
)

// version is what --version prints. Clients compare it with the reference
// agent's numbers, so it has three of them and nothing else.
const version = "1.0.0"

func main() {
	streams, err := takeOver()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pi:", err)
		os.Exit(1)
	}
	code := run(context.Background(), streams, os.Args)
	if code == interruptedCode {
		interrupt()
	}
	os.Exit(code)
}
