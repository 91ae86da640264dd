// Hello is the smallest extension that does something: a command, a tool and
// a greeting when a session starts.
package main

import (
	"fmt"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

func register(x *sdk.Extension) {
	x.Info("hello", "1.0.0")

	x.Command(sdk.Command{
		Name:        "hello",
		Description: "Say hello",
		Run: func(ctx *sdk.CommandContext, args string) error {
			if args == "" {
				name, ok, err := ctx.UI.Input("What is your name?", "Ada")
				if err != nil || !ok {
					return err
				}
				args = name
			}
			return ctx.UI.Notify(fmt.Sprintf("Hello %s!", args), sdk.Info)
		},
	})

	sdk.AddTool(x, sdk.Tool{
		Name:        "greet",
		Description: "Greet somebody by name",
		Snippet:     "Greet somebody by name",
	}, greet)

	sdk.On(x, sdk.SessionStart, func(ctx *sdk.Context, e *sdk.SessionStartEvent) error {
		return ctx.UI.SetStatus("hello", "hello is here")
	})
}

// GreetInput are the arguments of the tool, as the model sees them.
type GreetInput struct {
	Name  string `json:"name" jsonschema:"whom to greet"`
	Times int    `json:"times,omitempty" jsonschema:"how often; 1 unless said otherwise"`
}

func greet(ctx *sdk.ToolContext, in GreetInput) (string, error) {
	var text string
	for range max(1, in.Times) {
		text += "Hello " + in.Name + "!\n"
	}
	return text, nil
}
