// Decider is an extension of a user's that decides about projects as the
// variable DECISION says (with hang it never does), remembers it with REMEMBER, and writes the folders
// that it was asked about into the file ASKED. It names the places of prompts
// PROMPTS.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		x.Info("decider", "1")
		sdk.On(x, sdk.ProjectTrust, func(ctx *sdk.Context, e *sdk.ProjectTrustEvent) (*sdk.ProjectTrustResult, error) {
			f, err := os.OpenFile(os.Getenv("ASKED"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			if _, err := fmt.Fprintln(f, e.Cwd); err != nil {
				return nil, err
			}
			if os.Getenv("DECISION") == "hang" {
				<-ctx.Done()
			}
			return &sdk.ProjectTrustResult{Decision: os.Getenv("DECISION"), Remember: os.Getenv("REMEMBER") != ""}, f.Close()
		})
		sdk.On(x, sdk.ResourcesDiscover, func(*sdk.Context, *sdk.ResourcesDiscoverEvent) (*sdk.ResourcesDiscoverResult, error) {
			return &sdk.ResourcesDiscoverResult{PromptPaths: strings.Fields(os.Getenv("PROMPTS"))}, nil
		})
	})
}
