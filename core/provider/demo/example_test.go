package demo_test

import (
	"context"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/provider/demo"
)

func ExamplePlay() {
	script, err := demo.Parse([]byte(`{"turns": [{"steps": [
		{"text": "Let me look."},
		{"toolCall": {"name": "ls", "arguments": {"path": "."}}}
	]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := demo.Play(script)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := provider.Request{Messages: []message.Message{message.NewUser("what is here?", nil, 0)}}
	err = model.Stream(context.Background(), request, func(d provider.Delta) error {
		switch d.Kind {
		case provider.TextDelta:
			fmt.Printf("text: %q\n", d.Text)
		case provider.ToolCallEnd:
			fmt.Println("calls", d.Name)
		case provider.Finish:
			fmt.Println("ends with", d.StopReason)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// text: "Let "
	// text: "me "
	// text: "look."
	// calls ls
	// ends with toolUse
}
