package extensions

import (
	"context"
	"fmt"

	"github.com/seed-54e836f5/pi/core/session"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// sessionCommands makes the session's commands of those registered.
func (x *extension) sessionCommands(list []*pb.Command) []session.ExtensionCommand {
	var commands []session.ExtensionCommand
	for _, each := range list {
		command := session.ExtensionCommand{
			Name:        each.GetName(),
			Description: each.GetDescription(),
			Info:        x.sourceInfo(),
			Run:         func(ctx context.Context, arguments string) error { return x.runCommand(ctx, each.GetName(), arguments) },
		}
		if each.GetCompletes() {
			command.Complete = func(ctx context.Context, prefix string) ([]session.Completion, error) {
				return x.completeCommand(ctx, each.GetName(), prefix)
			}
		}
		commands = append(commands, command)
	}
	return commands
}

func (x *extension) runCommand(ctx context.Context, name, arguments string) error {
	i, err := x.instance()
	if err != nil {
		return fmt.Errorf("the command %s cannot run: %w", name, err)
	}
	c, callContext, end := i.begin(ctx, 0, true)
	defer end()
	what := "the command " + name
	if err := i.batch.drain(c.ctx); err != nil {
		return i.callError(c.ctx, what, err)
	}
	resp, err := i.client.RunCommand(c.ctx, &pb.RunCommandRequest{Context: callContext, Name: name, Arguments: arguments})
	if err != nil {
		return i.callError(c.ctx, what, err)
	}
	return failureError(resp.GetFailure())
}

// completeCommand has a deadline that goes on also while a dialog is open:
// whoever waits types on.
func (x *extension) completeCommand(ctx context.Context, name, prefix string) ([]session.Completion, error) {
	i, err := x.instance()
	if err != nil {
		return nil, fmt.Errorf("the arguments of the command %s cannot be completed: %w", name, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, completeDeadline, &slowError{completeDeadline})
	defer cancel()
	c, callContext, end := i.begin(ctx, 0, false)
	defer end()
	resp, err := i.client.CompleteCommand(c.ctx, &pb.CompleteCommandRequest{Context: callContext, Name: name, Prefix: prefix})
	if err != nil {
		return nil, i.callError(c.ctx, "the completion of the command "+name, err)
	}
	var list []session.Completion
	for _, each := range resp.GetCompletions() {
		list = append(list, session.Completion{Value: each.GetValue(), Label: each.GetLabel(), Description: each.GetDescription()})
	}
	if list == nil {
		for _, value := range resp.GetValues() {
			list = append(list, session.Completion{Value: value})
		}
	}
	return list, failureError(resp.GetFailure())
}
