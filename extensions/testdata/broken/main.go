// Broken is a program that goes wrong before it has become an extension, in
// the way that its argument names.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ways[os.Args[1]]()
}

var ways = map[string]func(){
	"exit": func() {
		fmt.Fprintln(os.Stderr, "the configuration is missing")
		os.Exit(3)
	},
	"exit-silently": func() {},
	"print-and-exit": func() {
		fmt.Println("usage: broken [flags]")
	},
	"panic": func() {
		panic("no luck today")
	},
	"never-answer": func() {
		wait()
	},
	"never-answer-nor-end": func() {
		signal.Ignore(syscall.SIGTERM)
		wait()
	},
	"close-stdout": func() {
		_ = os.Stdout.Close()
		wait()
	},
	"older": func() {
		fmt.Println("1|0|unix|/nowhere|grpc|")
		wait()
	},
	"newer": func() {
		fmt.Println("1|7|unix|/nowhere|grpc|")
		wait()
	},
	"netrpc": func() {
		fmt.Println("1|1|unix|/nowhere|netrpc|")
		wait()
	},
	"nobody-listens": func() {
		fmt.Println("1|1|unix|/nowhere|grpc|")
		wait()
	},
	"flood": func() {
		fmt.Print(strings.Repeat("x", 1<<20))
		fmt.Fprint(os.Stderr, strings.Repeat("y", 1<<20))
		os.Exit(4)
	},
}

// wait lasts for ever without being a deadlock that Go would notice.
func wait() {
	r, _, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	_, _ = r.Read(make([]byte, 1))
}
