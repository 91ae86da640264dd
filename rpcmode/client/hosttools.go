package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// HostTool is a tool that the model calls and this program runs.
type HostTool struct {
	wire.HostTool
	// Run carries out a call, each on a goroutine of its own. It may call
	// update with all there is so far. ctx ends when the result is not waited
	// for any more. An error is a failure that the model is told.
	Run func(ctx context.Context, arguments json.RawMessage, update func(wire.HostToolOutput)) (wire.HostToolOutput, error)
}

// TextOutput makes an output of one text.
func TextOutput(text string) wire.HostToolOutput {
	return wire.HostToolOutput{Content: []wire.HostToolBlock{{Type: "text", Text: text}}}
}

// SetHostTools replaces the tools that this program runs. They are in force
// from the next model call.
func (c *Client) SetHostTools(ctx context.Context, tools ...HostTool) error {
	fields := wire.SetHostTools{Tools: []wire.HostTool{}}
	byName := map[string]HostTool{}
	for _, t := range tools {
		fields.Tools = append(fields.Tools, t.HostTool)
		byName[t.Name] = t
	}
	c.mu.Lock()
	before := c.tools
	c.tools = byName
	c.mu.Unlock()
	_, err := c.send(ctx, "set_host_tools", fields)
	if err != nil {
		c.mu.Lock()
		c.tools = before
		c.mu.Unlock()
	}
	return err
}

// called runs a call on a goroutine of its own.
func (c *Client) called(line []byte) error {
	var call wire.HostToolCall
	if err := json.Unmarshal(line, &call); err != nil {
		return fmt.Errorf("%s: %w", wire.TypeHostToolCall, err)
	}
	ctx, cancel := context.WithCancel(c.life)
	c.mu.Lock()
	tool, known := c.tools[call.ToolName]
	c.calls[call.ID] = cancel
	c.mu.Unlock()
	c.handle(func() {
		defer c.endCall(call.ID)
		if !known {
			c.finishCall(ctx, call.ID, wire.HostToolOutput{}, fmt.Errorf("the host has no tool named %s", call.ToolName))
			return
		}
		output, err := tool.Run(ctx, call.Arguments, func(partial wire.HostToolOutput) {
			if ctx.Err() == nil {
				c.write(wire.HostToolUpdate{Type: wire.TypeHostToolUpdate, ID: call.ID, PartialResult: listed(partial)})
			}
		})
		c.finishCall(ctx, call.ID, output, err)
	})
	return nil
}

func (c *Client) finishCall(ctx context.Context, id string, output wire.HostToolOutput, err error) {
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		output.Content = append(output.Content, wire.HostToolBlock{Type: "text", Text: err.Error()})
	}
	c.write(wire.HostToolResult{Type: wire.TypeHostToolResult, ID: id, Result: listed(output), IsError: err != nil})
}

// listed makes sure that the content is written as a list.
func listed(o wire.HostToolOutput) wire.HostToolOutput {
	if o.Content == nil {
		o.Content = []wire.HostToolBlock{}
	}
	return o
}

// cancelled ends the context of a call.
func (c *Client) cancelled(line []byte) error {
	var frame wire.HostToolCancel
	if err := json.Unmarshal(line, &frame); err != nil {
		return fmt.Errorf("%s: %w", wire.TypeHostToolCancel, err)
	}
	c.endCall(frame.TargetID)
	return nil
}

func (c *Client) endCall(id string) {
	c.mu.Lock()
	cancel := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
