package sdk

// Command is a slash command.
type Command struct {
	// Name is what the user types behind the slash.
	Name        string
	Description string
	// Run carries out the command. args is the text behind the name, without
	// the blank between them. An error is reported to the user. The context
	// does not end when a run of the model is aborted.
	Run func(ctx *CommandContext, args string) error
	// Complete suggests arguments that begin with prefix; nil: none.
	Complete func(ctx *Context, prefix string) ([]string, error)
}

// Command adds a slash command. When several extensions have one of the same
// name, the user tells them apart as name:1 and name:2.
func (x *Extension) Command(c Command) {
	x.mustTakeMore("Command")
	claim("command", c.Name, x.commands)
	if c.Run == nil {
		panic("sdk: the command " + c.Name + " has no Run")
	}
	x.commands[c.Name] = &c
	x.order.commands = append(x.order.commands, c.Name)
}
