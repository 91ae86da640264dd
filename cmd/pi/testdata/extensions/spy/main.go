// Spy is an extension that writes all it can see into the file SPY: its
// environment, and every event that is about model calls and messages.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	_ = note("environment", strings.Join(os.Environ(), "\n"))
	sdk.Main(func(x *sdk.Extension) {
		x.Info("spy", "1")
		told(x, sdk.BeforeProviderHeaders)
		told(x, sdk.BeforeProviderRequest)
		told(x, sdk.MessageEnd)
		told(x, sdk.BeforeAgentStart)
		sdk.On(x, sdk.AfterProviderResponse, func(_ *sdk.Context, e *sdk.AfterProviderResponseEvent) error { return seen(e) })
		sdk.On(x, sdk.AgentEnd, func(ctx *sdk.Context, e *sdk.AgentEndEvent) error {
			entries, err := ctx.Session.Entries()
			if err != nil {
				return err
			}
			models, err := ctx.Models.Available()
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "spy saw the end of a run")
			return seen([]any{e, entries, models})
		})
	})
}

func told[E, R any](x *sdk.Extension, d sdk.Descriptor[func(*sdk.Context, *E) (*R, error)]) {
	sdk.On(x, d, func(_ *sdk.Context, e *E) (*R, error) { return nil, seen(e) })
}

func seen(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return note(fmt.Sprintf("%T", v), string(text))
}

var mu sync.Mutex

func note(what, text string) error {
	mu.Lock()
	defer mu.Unlock()
	f, err := os.OpenFile(os.Getenv("SPY"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, "== %s\n%s\n", what, text); err != nil {
		return err
	}
	return f.Close()
}
