package sdk

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/seed-54e836f5/pi/proto"
)

// explain is for a person who starts the program: what it is, what it adds to
// pi, and what to do with it.
func explain(w io.Writer, register func(*Extension)) int {
	x := newExtension(newLogger(os.Stderr))
	if failure := guard(func() error { register(x); return nil }); failure != nil {
		fmt.Fprintf(w, "This is an extension of pi, but its registration panics: %s\n\n%s\n", failure.GetMessage(), failure.GetStack())
		return 1
	}
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	name := strings.TrimSpace(x.name + " " + x.version)
	if name == "" {
		name = filepath.Base(path)
	}
	fmt.Fprintf(w, "%s is an extension of pi. It is started by pi and does nothing by itself.\n\n", name)
	for _, line := range x.describe() {
		fmt.Fprintln(w, "  "+line)
	}
	fmt.Fprintf(w, `
Try it:      %s
Install it:  copy it to ~/.pi/agent/extensions for all projects, or to
             .pi/extensions of one project, which then has to be trusted:
             pi trust
Test it:     write a Go test with the package sdktest
Debug it:    start it under a debugger with %s=1 and follow what it prints
`, x.trial(path), proto.DebugEnv)
	return 0
}

// trial is a command that shows the first of what the extension adds, with the
// model that needs no key.
func (x *Extension) trial(path string) string {
	path = shellWord(path)
	switch {
	case len(x.order.commands) > 0:
		return fmt.Sprintf(`{ echo '{"type":"prompt","message":"/%s"}'; cat; } | pi --mode rpc --provider demo -e %s
             and answer its dialogs, if there are any, with a line like
             {"type":"extension_ui_response","id":"...","value":"..."}`, x.order.commands[0], path)
	case len(x.order.tools) > 0:
		return fmt.Sprintf("pi -p --provider demo -e %s 'call %s {}'", path, x.order.tools[0])
	}
	return fmt.Sprintf("pi -p --provider demo -e %s 'hello'", path)
}

func shellWord(path string) string {
	if strings.ContainsAny(path, " '\"\\$&;()*?") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// describe lists what the extension adds, a line each.
func (x *Extension) describe() []string {
	var lines []string
	for _, name := range x.order.commands {
		lines = append(lines, "command   /"+name+"  "+x.commands[name].Description)
	}
	for _, name := range x.order.tools {
		lines = append(lines, "tool      "+name+"  "+x.tools[name].wire.GetDescription())
	}
	for _, h := range x.handlers {
		lines = append(lines, "event     "+string(h.kind)+"  "+strings.Join(h.tools, ", "))
	}
	for _, name := range x.order.flags {
		lines = append(lines, "flag      --"+name+"  "+x.flags[name].description)
	}
	for _, name := range x.order.providers {
		lines = append(lines, "provider  "+name)
	}
	for _, name := range x.order.topics {
		lines = append(lines, "topic     "+name)
	}
	if len(lines) == 0 {
		return []string{"It adds nothing yet."}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// serveDebugger waits for a pi that was told where this process listens.
func serveDebugger(register func(*Extension)) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	address, wait, err := Listen(ctx, register, newLogger(os.Stderr))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	fmt.Fprintf(os.Stdout, "Waiting for pi. Start it like this; no deadline runs then, and this ends with it:\n\n  %s=%s pi --mode rpc -e %s\n",
		proto.ReattachEnv, shellWord(path+"="+address), shellWord(path))
	wait()
	return 0
}
