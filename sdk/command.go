package sdk

import pb "github.com/seed-54e836f5/pi/proto/extensionv1"

// Command is a slash command.
type Command struct {
	// Name is what the user types behind the slash.
	Name        string
	Description string
	// Run carries out the command. args is the text behind the name, without
	// the blank between them. An error is reported to the user. The context
	// does not end when a run of the model is aborted.
	Run func(ctx *CommandContext, args string) error
	// Complete suggests arguments that begin with prefix; nil: none. Somebody
	// types meanwhile: pi waits two seconds at most.
	Complete func(ctx *Context, prefix string) ([]string, error)
	// Suggest is Complete for those who have more to say about a value. There
	// is only one of the two.
	Suggest func(ctx *Context, prefix string) ([]Completion, error)
}

// Completion is what a command suggests for its arguments.
type Completion struct {
	Value       string // the arguments as they would stand behind the command
	Label       string // what is shown for it; empty: the value
	Description string
}

// Command adds a slash command. When several extensions have one of the same
// name, the user tells them apart as name:1 and name:2.
func (x *Extension) Command(c Command) {
	x.mustTakeMore("Command")
	claim("command", c.Name, x.commands)
	if c.Run == nil {
		panic("sdk: the command " + c.Name + " has no Run")
	}
	if c.Complete != nil && c.Suggest != nil {
		panic("sdk: the command " + c.Name + " has both Complete and Suggest: leave one out")
	}
	x.commands[c.Name] = &c
	x.order.commands = append(x.order.commands, c.Name)
}

func (c *Command) completes() bool { return c.Complete != nil || c.Suggest != nil }

// complete fills in what the command suggests. A pi that does not know of
// completions shows the values.
func (c *Command) complete(ctx *Context, prefix string, resp *pb.CompleteCommandResponse) (err error) {
	if c.Complete != nil {
		resp.Values, err = c.Complete(ctx, prefix)
		return err
	}
	list, err := c.Suggest(ctx, prefix)
	for _, each := range list {
		resp.Values = append(resp.Values, each.Value)
		resp.Completions = append(resp.Completions, &pb.Completion{Value: each.Value, Label: each.Label, Description: each.Description})
	}
	return err
}
