// Permission-gate asks before the model runs a shell command that could do
// harm. Where nobody can be asked, such commands are refused.
package main

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/seed-54e836f5/pi/sdk"
)

func main() { sdk.Main(register) }

// dangerous says of a command what is to be feared. It is a reminder for
// people, no sandbox: who wants to get around it can.
var dangerous = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\brm\s+(-\w*[rf]|--recursive|--force)`), "removes files for good"},
	{regexp.MustCompile(`\bsudo\b`), "runs as the administrator"},
	{regexp.MustCompile(`\b(mkfs|dd)\b`), "overwrites disks"},
	{regexp.MustCompile(`\bgit\s+(push\s+.*(-f|--force)|reset\s+--hard|clean\s+-\w*f)`), "throws away work in git"},
	{regexp.MustCompile(`\b(curl|wget)\b.*\|\s*(ba|z)?sh\b`), "runs a program from the network"},
	{regexp.MustCompile(`\bchmod\s+(-R\s+)?777\b`), "opens files to everybody"},
}

func register(x *sdk.Extension) {
	x.Info("permission-gate", "1.0.0")
	// When this handler fails, the command does not run: a gate that is broken
	// stays shut.
	sdk.On(x, sdk.ToolCall, gate, sdk.ForTools("bash"))
}

func gate(ctx *sdk.Context, e *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
	var in struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(e.Input, &in); err != nil {
		return nil, fmt.Errorf("read the command: %w", err)
	}
	why := harm(in.Command)
	if why == "" {
		return nil, nil
	}
	if !ctx.HasUI() {
		return &sdk.ToolCallResult{Block: true, Reason: "The command " + why + ", and nobody is here to allow it."}, nil
	}
	choice, ok, err := ctx.UI.Select(fmt.Sprintf("This command %s:\n\n%s\n\nRun it?", why, in.Command), []string{"Run", "Refuse"})
	if err != nil {
		return nil, err
	}
	if !ok || choice != "Run" {
		return &sdk.ToolCallResult{Block: true, Reason: "The user refused the command because it " + why + "."}, nil
	}
	return nil, nil
}

// harm says what is to be feared of a command; empty: nothing.
func harm(command string) string {
	for _, d := range dangerous {
		if d.pattern.MatchString(command) {
			return d.why
		}
	}
	return ""
}
