package client_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/rpcmode/client"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// The agent of these examples is the test's own binary, with a scripted model;
// a program of yours leaves Path and Env out.
var command = client.Command{Path: os.Args[0], Env: append(os.Environ(), "CLIENT_TEST_AGENT=scripted")}

func Example() {
	ctx := context.Background()
	agent, err := client.Spawn(ctx, command, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() {
		if err := agent.Close(); err != nil {
			fmt.Println(err)
		}
	}()
	answer, err := agent.Ask(ctx, "SAY Hello!")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(message.Text(answer.Content))
	// Output: Hello!
}

func ExampleClient_Subscribe() {
	ctx := context.Background()
	agent, err := client.Spawn(ctx, command, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	events := agent.Subscribe()
	if err := agent.Prompt(ctx, wire.Prompt{Message: "SAY Hello!"}); err != nil {
		fmt.Println(err)
		return
	}
	for e := range events.Events() {
		switch e := e.(type) {
		case *event.MessageUpdate:
			if e.Update.Type == event.TextDelta {
				fmt.Print(*e.Update.Delta)
			}
		case *event.AgentSettled:
			fmt.Println()
			events.Close()
		}
	}
	fmt.Println(agent.Close())
	// Output:
	// Hello!
	// <nil>
}
