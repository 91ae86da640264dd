package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

const pageHead = `# The protocol of pi --mode rpc

<!-- Written by "go generate ./rpcmode"; change the tables in rpcmode, rpcmode/wire and core/event. -->

A client writes commands to the agent's stdin and reads responses and events from its stdout: one JSON object a line, UTF-8,
a line feed ends a record and nothing else does. A command's ` + "`id`" + ` comes back in its response; events have none, but for
` + "`bash_execution_update`" + `. Commands take effect in the order read; answers may come in another order. A line that is no
command is answered as the command ` + "`parse`" + `, with success false. Field names count with their case; fields that are not
named here are ignored, and clients should ignore those they do not know.

Names in the types stand for the [types](#types) at the end. [protocol.d.ts](protocol.d.ts) has all of them for TypeScript,
` + "`get_protocol`" + ` gives them as JSON Schema, and the package ` + "`rpcmode/client`" + ` has them for Go.

`

// page writes the reference page.
func (r *reference) page() []byte {
	var b bytes.Buffer
	b.WriteString(pageHead)
	b.WriteString("## Commands\n\n")
	for _, c := range r.Commands {
		r.command(&b, c)
	}
	b.WriteString("## Events\n\n")
	for _, e := range r.Events {
		fmt.Fprintf(&b, "### %s\n\n%s\n\n", e.Type, r.marked(e.Type, e.Description))
		code(&b, "ts", mustDecode(e.Schema).expression(""))
	}
	b.WriteString("## Other frames\n\n")
	for _, f := range r.Frames {
		writer := "The agent"
		if f.Direction == "in" {
			writer = "The client"
		}
		fmt.Fprintf(&b, "### %s\n\n%s writes it; it %s.\n\n", f.Type, writer, r.marked(f.Type, f.Description))
		code(&b, "ts", mustDecode(f.Schema).expression(""))
	}
	b.WriteString("## Types\n\n")
	for _, name := range r.names {
		fmt.Fprintf(&b, "### %s\n\n", name)
		if doc := r.defs[name].Description; doc != "" {
			fmt.Fprintf(&b, "%s.\n\n", strings.ToUpper(doc[:1])+doc[1:])
		}
		code(&b, "ts", r.defs[name].expression(""))
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

var origins = map[string]string{
	"both":  "both reference agents",
	"pi":    "the pi reference agent",
	"xcsh":  "the xcsh reference agent",
	"added": "this agent only",
}

func (r *reference) command(b *bytes.Buffer, c wire.CommandInfo) {
	fmt.Fprintf(b, "### %s\n\n%s\n\nKnown to %s.", c.Name, c.Description, origins[c.Origin])
	for _, alias := range c.Aliases {
		fmt.Fprintf(b, " Also called `%s`.", alias)
	}
	if c.Immediate {
		b.WriteString(" It does not wait behind other commands.")
	}
	b.WriteString("\n\n")
	if len(c.Fields) > 0 {
		b.WriteString("| field | type | |\n| --- | --- | --- |\n")
		for _, f := range c.Fields {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Name, f.Type, fieldNote(f))
		}
		b.WriteString("\n")
	}
	lines := r.examples[c.Name]
	for _, alias := range c.Aliases {
		lines = append(lines, r.examples[alias]...)
	}
	code(b, "json", strings.Join(lines, "\n"))
	if c.Data == nil {
		b.WriteString("The response has no data.\n\n")
		return
	}
	data := mustDecode(c.Data).expression("")
	if body, named := r.defs[data]; named {
		fmt.Fprintf(b, "Data of the response: `%s`\n\n", data)
		data = body.expression("")
	} else {
		b.WriteString("Data of the response:\n\n")
	}
	code(b, "ts", data)
}

func fieldNote(f wire.FieldInfo) string {
	var notes []string
	if f.Required {
		notes = append(notes, "required")
	}
	if len(f.Enum) > 0 {
		notes = append(notes, "one of `"+strings.Join(f.Enum, "`, `")+"`")
	}
	if f.Description != "" {
		notes = append(notes, f.Description)
	}
	return strings.Join(notes, "; ")
}

func code(b *bytes.Buffer, language, text string) {
	fmt.Fprintf(b, "```%s\n%s\n```\n\n", language, text)
}

//go:embed examples.jsonl
var exampleLines []byte

// examples gives the examples of each command. A test checks them against its
// schema.
func examples() (map[string][]string, error) {
	byCommand := map[string][]string{}
	lines := bufio.NewScanner(bytes.NewReader(exampleLines))
	for lines.Scan() {
		var frame struct{ Type string }
		if err := json.Unmarshal(lines.Bytes(), &frame); err != nil {
			return nil, fmt.Errorf("examples.jsonl: %s: %w", lines.Text(), err)
		}
		byCommand[frame.Type] = append(byCommand[frame.Type], lines.Text())
	}
	return byCommand, lines.Err()
}
