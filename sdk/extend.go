package sdk

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Extend adds tools and commands while pi runs: add is given an extension, as
// the function of Main was, and may call AddTool and Extension.Command on that.
// They are there when Extend returns, all or, with an error, none of them. What
// add panics with is an error. Extend may be called from any goroutine.
func (c *Context) Extend(add func(x *Extension)) error {
	x := c.extension
	draft := x.draft()
	if failure := guard(func() error { add(draft); return nil }); failure != nil {
		return errors.New(failure.GetMessage())
	}
	draft.extending = false
	update, err := x.take(draft)
	if err != nil {
		return fmt.Errorf("extend: %w", err)
	}
	update.Context = c.from
	resp, err := c.host.client.UpdateRegistration(c, update)
	if err != nil {
		return transportError(c, "extend", err)
	}
	if err := failureError(resp.GetFailure()); err != nil {
		x.giveUp(draft)
		return fmt.Errorf("extend: %w", err)
	}
	return nil
}

// draft is an extension that can be given more tools and commands while this
// one goes on with what it has.
func (x *Extension) draft() *Extension {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return &Extension{
		name: x.name, version: x.version, handlers: x.handlers,
		tools: maps.Clone(x.tools), commands: maps.Clone(x.commands),
		providers: x.providers, flags: x.flags, topics: x.topics,
		log: x.log, sealed: true, extending: true, background: x.background, tasks: x.tasks,
	}
}

// take adds what a draft was given, and makes the update that says so. Updates
// have numbers, because they may reach pi in another order.
func (x *Extension) take(draft *Extension) (*pb.UpdateRegistrationRequest, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range draft.order.tools {
		if _, taken := x.tools[name]; taken {
			return nil, fmt.Errorf("another call has added a tool of the name %q", name)
		}
	}
	for _, name := range draft.order.commands {
		if _, taken := x.commands[name]; taken {
			return nil, fmt.Errorf("another call has added a command of the name %q", name)
		}
	}
	for _, name := range draft.order.tools {
		x.tools[name] = draft.tools[name]
	}
	for _, name := range draft.order.commands {
		x.commands[name] = draft.commands[name]
	}
	x.order.tools = append(x.order.tools, draft.order.tools...)
	x.order.commands = append(x.order.commands, draft.order.commands...)
	x.updates++
	tools, commands := x.toolsAndCommands()
	return &pb.UpdateRegistrationRequest{Tools: tools, Commands: commands, Serial: x.updates}, nil
}

// giveUp undoes take, where pi refused the update: it would refuse the next one
// for the same reason.
func (x *Extension) giveUp(draft *Extension) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range draft.order.tools {
		delete(x.tools, name)
	}
	for _, name := range draft.order.commands {
		delete(x.commands, name)
	}
	x.order.tools = slices.DeleteFunc(x.order.tools, func(name string) bool { return slices.Contains(draft.order.tools, name) })
	x.order.commands = slices.DeleteFunc(x.order.commands, func(name string) bool { return slices.Contains(draft.order.commands, name) })
}
