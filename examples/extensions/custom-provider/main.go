// Custom-provider brings a model along whose answers the extension streams
// itself: one that says what it was told, backwards. It needs no key and no
// network. Choose it with --model backwards/mirror.
package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

func register(x *sdk.Extension) {
	x.Info("custom-provider", "1.0.0")
	x.Provider(sdk.Provider{
		Name:   "backwards",
		Models: []sdk.Model{{ID: "mirror", Name: "Mirror", Input: []string{"text"}, ContextWindow: 32000, MaxTokens: 4000}},
		Stream: stream,
	})
}

func stream(ctx *sdk.Context, req *sdk.ProviderRequest, out *sdk.ProviderStream) error {
	text := lastUserText(req)
	if text == "" {
		return &sdk.ProviderError{Class: sdk.Invalid, Message: "there is nothing to turn around"}
	}
	words := strings.Fields(text)
	if err := out.Thinking(fmt.Sprintf("Turning %d words around.", len(words))); err != nil {
		return err
	}
	for i, word := range slices.Backward(words) {
		if ctx.Err() != nil {
			return ctx.Err() // the run was aborted
		}
		letters := []rune(word)
		slices.Reverse(letters)
		piece := string(letters)
		if i > 0 {
			piece += " "
		}
		if err := out.Text(piece); err != nil {
			return err
		}
	}
	return out.Finish("stop", &sdk.Usage{Input: int64(len(words)), Output: int64(len(words)), TotalTokens: 2 * int64(len(words))})
}

// lastUserText is what the user said last.
func lastUserText(req *sdk.ProviderRequest) string {
	for _, m := range slices.Backward(req.Messages) {
		if user, ok := m.(*sdk.User); ok {
			return sdk.TextOf(user)
		}
	}
	return ""
}
