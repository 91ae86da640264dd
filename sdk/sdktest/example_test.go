package sdktest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-54e836f5/pi/sdk"
	"github.com/seed-54e836f5/pi/sdk/sdktest"
)

// An example has no *testing.T, so these hand their tests on.
var examples []func(*testing.T)

func runs(test func(*testing.T)) { examples = append(examples, test) }

func TestExamples(t *testing.T) {
	ExampleHost_Answer()
	ExampleHost_TryTool()
	ExampleDecide()
	for _, test := range examples {
		t.Run("", test)
	}
}

// What an extension's own register function would be: a command that asks, a
// tool that shows how far it is, and a gate.
func register(x *sdk.Extension) {
	x.Command(sdk.Command{Name: "standup", Run: func(ctx *sdk.CommandContext, _ string) error {
		period, ok, err := ctx.UI.Select("Which period?", []string{"today", "this week"})
		if err != nil || !ok {
			return err
		}
		return ctx.SendUserMessage("Write a report on " + period)
	}})
	type input struct {
		Text string `json:"text" jsonschema:"what to count the words of"`
	}
	type count struct {
		Words int `json:"words"`
	}
	sdk.AddTool(x, sdk.Tool{Name: "count_words", Description: "Count words"}, func(ctx *sdk.ToolContext, in input) (count, error) {
		var c count
		for range strings.FieldsSeq(in.Text) {
			if err := ctx.Err(); err != nil {
				return c, err
			}
			c.Words++
			if err := ctx.UpdateText(fmt.Sprint(c.Words)); err != nil {
				return c, err
			}
		}
		return c, nil
	})
	sdk.On(x, sdk.ToolCall, func(ctx *sdk.Context, e *sdk.ToolCallEvent) (*sdk.ToolCallResult, error) {
		ok, err := ctx.UI.Confirm("Write?", string(e.Input))
		if err != nil || ok {
			return nil, err
		}
		return &sdk.ToolCallResult{Block: true, Reason: "the user said no"}, nil
	}, sdk.ForTools("write"))
}

// A command with a dialog, answered and dismissed.
func ExampleHost_Answer() {
	test := func(t *testing.T) {
		pi := sdktest.Start(t, register)
		pi.Answer("Which period?", sdktest.Text("today"), sdktest.Dismissed)
		pi.Command("/standup")
		pi.Command("/standup")
		if sent := pi.Sent(); len(sent) != 1 || sent[0].Text != "Write a report on today" {
			t.Errorf("it sent %+v", sent)
		}
	}
	runs(test)
}

// A tool: what it gives, what it shows before, and what an abort does.
func ExampleHost_TryTool() {
	test := func(t *testing.T) {
		pi := sdktest.Start(t, register)
		output, updates, err := pi.TryTool(t.Context(), "count_words", `{"text":"to be"}`)
		if err != nil || string(output.Details) != `{"words":2}` || len(updates) != 2 {
			t.Errorf("it gave %+v after %+v, %v", output, updates, err)
		}
		ctx, abort := context.WithCancel(t.Context())
		abort()
		if _, _, err := pi.TryTool(ctx, "count_words", `{"text":"to be"}`); err == nil {
			t.Error("it went on after the abort")
		}
	}
	runs(test)
}

// A hook that decides: the user says no, then yes.
func ExampleDecide() {
	test := func(t *testing.T) {
		pi := sdktest.Start(t, register)
		pi.Answer("Write?", sdktest.No, sdktest.Yes)
		call := &sdk.ToolCallEvent{ToolName: "write", Input: json.RawMessage(`{"path":"a.txt"}`)}
		for _, blocked := range []bool{true, false} {
			result, err := sdktest.Decide(pi, sdk.ToolCall, call)
			if err != nil || (result != nil) != blocked {
				t.Errorf("it said %+v, %v", result, err)
			}
		}
	}
	runs(test)
}
