package sdk_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed-54e836f5/pi/sdk"
)

// A whole extension: its main function is one call.
func Example() {
	main := func() {
		sdk.Main(func(x *sdk.Extension) {
			x.Info("hello", "1.0.0")
			x.Command(sdk.Command{
				Name: "hello", Description: "Say hello",
				Run: func(ctx *sdk.CommandContext, args string) error {
					return ctx.UI.Notify("Hello "+args, sdk.Info)
				},
			})
		})
	}
	_ = main
}

// A gate asks before a command that deletes things. When the dialog fails, or
// this program dies, the tool does not run.
func ExampleOn() {
	register := func(x *sdk.Extension) {
		sdk.On(x, sdk.ToolCall, func(ctx *sdk.Context, e *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
			var input struct{ Command string }
			if err := json.Unmarshal(e.Input, &input); err != nil || !strings.Contains(input.Command, "rm -rf") {
				return nil, err
			}
			ok, err := ctx.UI.Confirm("Run this?", input.Command, sdk.Timeout(time.Minute))
			if err != nil || ok {
				return nil, err
			}
			return &sdk.ToolCallResult{Block: true, Reason: "The user did not allow it"}, nil
		}, sdk.ForTools("bash"))
	}
	_ = register
}

// A tool with arguments of its own, which shows how far it is.
func ExampleAddTool() {
	type input struct {
		City string `json:"city" jsonschema:"name of a city"`
		Days int    `json:"days,omitempty" jsonschema:"how far to look ahead; 1 unless said otherwise"`
	}
	type forecast struct {
		Rain bool `json:"rain"`
	}
	register := func(x *sdk.Extension) {
		sdk.AddTool(x, sdk.Tool{
			Name: "forecast", Description: "Look up the weather", Snippet: "Look up the weather of a city",
			Guidelines: []string{"Use forecast before you recommend an umbrella."},
		}, func(ctx *sdk.ToolContext, in input) (forecast, error) {
			if err := ctx.UpdateText("Looking out of the window in " + in.City); err != nil {
				return forecast{}, err
			}
			return forecast{Rain: true}, nil
		})
	}
	_ = register
}

// State that belongs to the session is kept in it, and read back when one
// starts.
func ExampleSession_AppendEntry() {
	type counter struct{ N int }
	register := func(x *sdk.Extension) {
		var now counter
		sdk.On(x, sdk.SessionStart, func(ctx *sdk.Context, _ *sdk.SessionStartEvent) error {
			now = counter{}
			branch, err := ctx.Session.Branch()
			for _, e := range branch {
				if e.CustomType == "counter" && err == nil {
					err = json.Unmarshal(e.Data, &now)
				}
			}
			return err
		})
		x.Command(sdk.Command{Name: "count", Run: func(ctx *sdk.CommandContext, _ string) error {
			now.N++
			if _, err := ctx.Session.AppendEntry("counter", now); err != nil {
				return err
			}
			return ctx.UI.Notify(fmt.Sprint(now.N), sdk.Info)
		}})
	}
	_ = register
}

// A command that begins a new session goes on in that one's context.
func ExampleCommandContext_NewSession() {
	register := func(x *sdk.Extension) {
		x.Command(sdk.Command{Name: "fresh", Run: func(ctx *sdk.CommandContext, args string) error {
			if err := ctx.WaitForIdle(); err != nil {
				return err
			}
			next, err := ctx.NewSession("")
			if err != nil {
				return err
			}
			return next.SendUserMessage(args)
		}})
	}
	_ = register
}

// Two extensions that know of each other only what they send.
func ExampleSubscribe() {
	type weather struct{ Rain bool }
	sender := func(x *sdk.Extension) {
		sdk.On(x, sdk.TurnEnd, func(ctx *sdk.Context, _ *sdk.TurnEndEvent) error {
			return ctx.Publish("weather", weather{Rain: true})
		})
	}
	listener := func(x *sdk.Extension) {
		sdk.Subscribe(x, "weather", func(ctx *sdk.Context, m sdk.BusMessage, w weather) error {
			return ctx.UI.SetStatus("weather", fmt.Sprintf("%s says rain: %t", m.From, w.Rain))
		})
	}
	_, _ = sender, listener
}

// A provider that streams its answers itself.
func ExampleExtension_Provider() {
	register := func(x *sdk.Extension) {
		x.Provider(sdk.Provider{
			Name:   "parrot",
			Models: []sdk.Model{{ID: "parrot-1", Name: "Parrot", Input: []string{"text"}, ContextWindow: 8000, MaxTokens: 1000}},
			Stream: func(_ *sdk.Context, req *sdk.ProviderRequest, out *sdk.ProviderStream) error {
				for word := range strings.FieldsSeq(sdk.TextOf(req.Messages[len(req.Messages)-1])) {
					if err := out.Text(word + " "); err != nil {
						return err
					}
				}
				return nil
			},
		})
	}
	_ = register
}
