package sdk

import (
	"cmp"
	"fmt"

	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// CommandContext is the context of a command. Beside what every handler can
// do it waits for the session and replaces it, which would never end in the
// handler of an event.
//
// What replaces the session returns the context of the new one. The old one is
// of no use any more, except to return.
type CommandContext struct{ *Context }

// WaitForIdle waits until nothing runs: no model, no retry, no compaction and
// no queued message.
func (c *CommandContext) WaitForIdle() error { return c.call(proto.MethodWaitForIdle, nil, nil) }

// NewSession begins a session, empty but for what setup puts into it, in the
// order given: that is there when handlers of SessionStart are called. parent is
// the file of the session it comes from; empty: none. When an extension vetoes
// it, the error is ErrCancelled.
func (c *CommandContext) NewSession(parent string, setup ...Setup) (*CommandContext, error) {
	entries, err := c.setupEntries(setup)
	if err != nil {
		return nil, err
	}
	next, _, err := c.replace(proto.MethodNewSession, proto.NewSessionArgs{ParentSession: parent, Setup: entries})
	return next, err
}

// SwitchSession opens the session of a file. A veto is an error as with
// NewSession.
func (c *CommandContext) SwitchSession(path string) (*CommandContext, error) {
	next, _, err := c.replace(proto.MethodSwitch, proto.SwitchArgs{SessionPath: path})
	return next, err
}

// Fork begins a session that has what came before a user message, and gives
// the text of that message. A veto is an error as with NewSession.
func (c *CommandContext) Fork(entryID string) (next *CommandContext, text string, err error) {
	return c.replace(proto.MethodFork, proto.ForkArgs{EntryID: entryID, Position: "before"})
}

// ForkAt begins a session that has everything up to and with an entry. A veto is
// an error as with NewSession.
func (c *CommandContext) ForkAt(entryID string) (*CommandContext, error) {
	next, _, err := c.replace(proto.MethodFork, proto.ForkArgs{EntryID: entryID, Position: "at"})
	return next, err
}

// Reload loads settings, extensions, templates, skills, rules and context files
// anew. This process gets its shutdown when the command returns: do nothing more.
func (c *CommandContext) Reload() error {
	_, _, err := c.replace(proto.MethodReload, nil)
	return err
}

// NavigateOptions say how the leaf moves.
type NavigateOptions struct {
	Summarize    bool   // write a summary of the branch that is left
	Instructions string // for the summary
	Label        string // for the entry that is moved to
}

// Navigated is what came of NavigateTree.
type Navigated = proto.Navigated

// NavigateTree moves the leaf to another entry of the session. The context
// stays good.
func (c *CommandContext) NavigateTree(entryID string, o NavigateOptions) (Navigated, error) {
	var result Navigated
	err := c.call(proto.MethodNavigate, proto.NavigateArgs{
		TargetID: entryID, Summarize: o.Summarize, CustomInstructions: o.Instructions, Label: o.Label,
	}, &result)
	if err == nil && result.Cancelled {
		err = fmt.Errorf("navigate to %s: %w", entryID, ErrCancelled)
	}
	return result, err
}

func (c *CommandContext) replace(method string, arguments any) (*CommandContext, string, error) {
	var changed proto.Changed
	if err := c.call(method, arguments, &changed); err != nil {
		return nil, "", err
	}
	if changed.Cancelled {
		return nil, "", fmt.Errorf("%s: %w", method, ErrCancelled)
	}
	next := newContext(c.Context.Context, c.extension, c.host, &pb.CallContext{
		CallId:         c.from.GetCallId(),
		Generation:     changed.Generation,
		Cwd:            cmp.Or(changed.Cwd, c.cwd),
		ProjectTrusted: c.projectTrusted,
	})
	return &CommandContext{next}, changed.Text, nil
}
