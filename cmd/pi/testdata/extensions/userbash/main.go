// Answers one of the user's commands itself.
package main

import (
	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		sdk.On(x, sdk.UserBash, func(ctx *sdk.Context, e *sdk.UserBashEvent) (*sdk.UserBashResult, error) {
			err := fixture.Say(ctx, "user_bash", struct {
				Command string `json:"command"`
				Ex      bool   `json:"ex"`
			}{e.Command, e.ExcludeFromContext})
			if err != nil || e.Command != "mine" {
				return nil, err
			}
			code := 0
			return &sdk.UserBashResult{Result: &sdk.BashResult{Output: "from hook", ExitCode: &code}}, nil
		})
	})
}
