// Shows every event that an extension sees, in the order it sees them.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-54e836f5/pi/cmd/pi/testdata/extensions/fixture"
	"github.com/seed-54e836f5/pi/sdk"
)

func main() {
	sdk.Main(func(x *sdk.Extension) {
		told(x, sdk.SessionStart)
		told(x, sdk.SessionShutdown)
		decided(x, sdk.SessionBeforeSwitch)
		decided(x, sdk.SessionBeforeFork)
		told(x, sdk.SessionInfoChanged)
		decided(x, sdk.ResourcesDiscover)
		decided(x, sdk.Input)
		decided(x, sdk.BeforeAgentStart)
		told(x, sdk.AgentStart)
		told(x, sdk.AgentEnd)
		told(x, sdk.AgentSettled)
		told(x, sdk.TurnStart)
		told(x, sdk.TurnEnd)
		told(x, sdk.MessageStart)
		decided(x, sdk.MessageEnd)
		told(x, sdk.ToolExecutionStart)
		told(x, sdk.ToolExecutionEnd)
		decided(x, sdk.ToolCall)
		decided(x, sdk.ToolResult)
		decided(x, sdk.ContextMessages)
		decided(x, sdk.BeforeProviderRequest)
		decided(x, sdk.BeforeProviderHeaders)
		told(x, sdk.AfterProviderResponse)
		told(x, sdk.ModelSelect)
		told(x, sdk.ThinkingLevelSelect)
		decided(x, sdk.UserBash)
		decided(x, sdk.SessionBeforeCompact)
		told(x, sdk.SessionCompact)
		decided(x, sdk.SessionBeforeTree)
		told(x, sdk.SessionTree)
	})
}

func told[E any](x *sdk.Extension, d sdk.Descriptor[func(*sdk.Context, *E) error]) {
	sdk.On(x, d, func(ctx *sdk.Context, e *E) error { return show(ctx, d.Kind(), e) })
}

func decided[E, R any](x *sdk.Extension, d sdk.Descriptor[func(*sdk.Context, *E) (*R, error)]) {
	sdk.On(x, d, func(ctx *sdk.Context, e *E) (*R, error) { return nil, show(ctx, d.Kind(), e) })
}

// show writes an event down with its texts and flags, and of everything else
// only the shape.
func show(ctx *sdk.Context, kind string, e any) error {
	dec := json.NewDecoder(strings.NewReader(members(e)))
	var out bytes.Buffer
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "%s:%s", fixture.JSON(name), fixture.JSON(shape(fmt.Sprint(name), value)))
	}
	return ctx.UI.Notify("EV "+kind+" {"+out.String()+"}", "")
}

// members is an event as an object. Turns have members that no client sees,
// and that JSON leaves out.
func members(e any) string {
	text := fixture.JSON(e)
	switch e := e.(type) {
	case *sdk.TurnStartEvent:
		return fmt.Sprintf(`{"turnIndex":%d,"timestamp":%d}`, e.TurnIndex, e.Timestamp)
	case *sdk.TurnEndEvent:
		return fmt.Sprintf(`{"turnIndex":%d,%s`, e.TurnIndex, text[1:])
	}
	return text
}

func shape(name string, value any) any {
	switch v := value.(type) {
	case float64:
		return "#"
	case string, bool, nil:
		if name == "systemPrompt" {
			return "(text)"
		}
		return v
	case []any:
		return "[" + listShape(name, v) + "]"
	case map[string]any:
		if role, ok := v["role"].(string); ok {
			return "{" + role + "}"
		}
		if id, ok := v["id"].(string); ok && v["provider"] != nil {
			return id
		}
	}
	return "{}"
}

func listShape(name string, list []any) string {
	if name != "messages" {
		return fmt.Sprint(len(list))
	}
	var roles []string
	for _, item := range list {
		message, _ := item.(map[string]any)
		roles = append(roles, fmt.Sprint(message["role"]))
	}
	return strings.Join(roles, ",")
}
