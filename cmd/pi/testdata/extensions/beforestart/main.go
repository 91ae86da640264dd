// A hook that adds a message and a line of the system prompt to each run.
package main

import (
	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) { sdk.On(x, sdk.BeforeAgentStart, start) })
}

func start(ctx *sdk.Context, e *sdk.BeforeAgentStartEvent) (*sdk.BeforeAgentStartResult, error) {
	said := struct {
		Prompt string   `json:"prompt"`
		Images any      `json:"images"`
		Keys   []string `json:"keys"`
		Opts   []string `json:"opts"`
	}{
		e.Prompt, "(none)",
		[]string{"images", "prompt", "systemPrompt", "systemPromptOptions", "type"},
		[]string{"appendSystemPrompt", "contextFiles", "customPrompt", "cwd", "promptGuidelines", "selectedTools", "skills", "toolSnippets"},
	}
	if e.Images != nil {
		said.Images = len(e.Images)
	}
	if err := fixture.Say(ctx, "bas", said); err != nil {
		return nil, err
	}
	prompt := e.SystemPrompt + "\nMARK appended by hook"
	return &sdk.BeforeAgentStartResult{
		Message:      &sdk.CustomMessage{CustomType: "ctx", Content: sdk.PlainContent("injected context"), Display: true, Details: sdk.Raw(`{"a":1}`)},
		SystemPrompt: &prompt,
	}, nil
}
