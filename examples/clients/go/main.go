// Command go is a small but whole client of pi in Go: it sends one prompt,
// prints the answer as it comes, asks the person what the agent asks, and runs
// a tool of its own for the model.
//
//	go run ./examples/clients/go 'How many words has "to be or not to be"?' --provider demo
//
// What follows the prompt goes to pi, which must be on PATH.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/rpcmode/client"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go PROMPT [ARGUMENTS FOR PI]")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, prompt string, args []string) (err error) {
	person := &person{lines: bufio.NewReader(os.Stdin)}
	agent, err := client.Spawn(ctx, client.Command{Args: args, Stderr: os.Stderr}, client.Options{OnDialog: person.answer})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agent.Close()) }()
	if err := agent.SetHostTools(ctx, wordCount); err != nil {
		return err
	}
	events := agent.Subscribe()
	defer events.Close()
	sent, err := agent.Send(ctx, wire.Prompt{Message: prompt})
	if err != nil || sent.Disposition == "handled" {
		return err // a command that was handled begins no run
	}
	for e := range events.Events() {
		switch e := e.(type) {
		case *event.MessageUpdate:
			if e.Update.Type == event.TextDelta {
				fmt.Print(*e.Update.Delta)
			}
		case *event.ToolExecutionStart:
			fmt.Printf("[%s]\n", e.ToolName)
		case *event.AgentSettled: // agent_end may come before a retry; this is the end
			fmt.Println()
			return nil
		}
	}
	return agent.Err()
}

// wordCount is a tool that runs here, not in the agent.
var wordCount = client.HostTool{
	HostTool: wire.HostTool{
		Name:        "word_count",
		Description: "Counts the words of a text.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	},
	Run: func(_ context.Context, arguments json.RawMessage, _ func(wire.HostToolOutput)) (wire.HostToolOutput, error) {
		var in struct{ Text string }
		if err := json.Unmarshal(arguments, &in); err != nil {
			return wire.HostToolOutput{}, err
		}
		return client.TextOutput(fmt.Sprint(len(strings.Fields(in.Text)))), nil
	},
}

// person answers dialogs, one after the other.
type person struct {
	mu    sync.Mutex
	lines *bufio.Reader
}

func (p *person) answer(_ context.Context, d ui.Dialog) ui.Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(os.Stderr, strings.Join(append([]string{d.Title, d.Message}, d.Options...), "\n"))
	line, err := p.lines.ReadString('\n')
	if err != nil {
		return ui.Answer{Dismissed: true}
	}
	line = strings.TrimSpace(line)
	return ui.Answer{Value: line, Confirmed: line == "yes"}
}
