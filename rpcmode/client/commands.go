package client

import (
	"context"
	"fmt"

	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/todo"
	"github.com/seed-54e836f5/pi/rpcmode/wire"
)

// Prompt sends a text for the model, or a slash command. It returns when that
// was accepted, queued or handled; what comes of it are events.
func (c *Client) Prompt(ctx context.Context, p wire.Prompt) error { return c.tell(ctx, "prompt", p) }

// Send is Prompt for those who want to know what became of the text: started,
// queued, or handled, after which no run and no agent_settled follow. An agent
// that does not tell leaves it empty, and so does the xcsh dialect.
func (c *Client) Send(ctx context.Context, p wire.Prompt) (wire.Accepted, error) {
	return call[wire.Accepted](ctx, c, "prompt", p)
}

// Steer queues a message that is delivered before the next model call.
func (c *Client) Steer(ctx context.Context, t wire.Text) error { return c.tell(ctx, "steer", t) }

// FollowUp queues a message that is delivered when nothing else is left to do.
func (c *Client) FollowUp(ctx context.Context, t wire.Text) error {
	return c.tell(ctx, "follow_up", t)
}

// Abort stops what runs, and returns when the session is idle.
func (c *Client) Abort(ctx context.Context) error { return c.tell(ctx, "abort", nil) }

// AbortAndPrompt stops what runs, and then sends a prompt.
func (c *Client) AbortAndPrompt(ctx context.Context, t wire.Text) error {
	return c.tell(ctx, "abort_and_prompt", t)
}

// ClearQueue takes everything out of both queues and gives the texts back.
func (c *Client) ClearQueue(ctx context.Context) (wire.Queue, error) {
	return call[wire.Queue](ctx, c, "clear_queue", nil)
}

// State tells how the session is.
func (c *Client) State(ctx context.Context) (wire.State, error) {
	return call[wire.State](ctx, c, "get_state", nil)
}

// Messages lists the messages of the conversation.
func (c *Client) Messages(ctx context.Context) (message.List, error) {
	data, err := call[struct {
		Messages message.List `json:"messages"`
	}](ctx, c, "get_messages", nil)
	return data.Messages, err
}

// LastAssistantText gives the text of the last answer; nil: there is none.
func (c *Client) LastAssistantText(ctx context.Context) (*string, error) {
	data, err := call[wire.LastText](ctx, c, "get_last_assistant_text", nil)
	return data.Text, err
}

// Stats sums up messages, tokens and cost of the session.
func (c *Client) Stats(ctx context.Context) (wire.Stats, error) {
	return call[wire.Stats](ctx, c, "get_session_stats", nil)
}

// SetModel changes the model of the session.
func (c *Client) SetModel(ctx context.Context, provider, modelID string) (message.Model, error) {
	return call[message.Model](ctx, c, "set_model", wire.SetModel{Provider: provider, ModelID: modelID})
}

// CycleModel changes to the next model; nil: there is no other.
func (c *Client) CycleModel(ctx context.Context) (*wire.Cycled, error) {
	return call[*wire.Cycled](ctx, c, "cycle_model", nil)
}

// AvailableModels lists the models with credentials.
func (c *Client) AvailableModels(ctx context.Context) ([]message.Model, error) {
	data, err := call[wire.Models](ctx, c, "get_available_models", nil)
	return data.Models, err
}

// SetThinkingLevel changes how much the model thinks.
func (c *Client) SetThinkingLevel(ctx context.Context, level message.ThinkingLevel) error {
	return c.tell(ctx, "set_thinking_level", wire.SetThinkingLevel{Level: level})
}

// CycleThinkingLevel changes to the next level; empty: there is no other.
func (c *Client) CycleThinkingLevel(ctx context.Context) (message.ThinkingLevel, error) {
	data, err := call[wire.Level](ctx, c, "cycle_thinking_level", nil)
	return data.Level, err
}

// ThinkingLevels lists the levels of the current model.
func (c *Client) ThinkingLevels(ctx context.Context) ([]message.ThinkingLevel, error) {
	data, err := call[wire.Levels](ctx, c, "get_available_thinking_levels", nil)
	return data.Levels, err
}

// SetSteeringMode says how many steering messages a turn takes: all or
// one-at-a-time.
func (c *Client) SetSteeringMode(ctx context.Context, mode string) error {
	return c.tell(ctx, "set_steering_mode", wire.SetQueueMode{Mode: mode})
}

// SetFollowUpMode says how many follow-ups are delivered at a time: all or
// one-at-a-time.
func (c *Client) SetFollowUpMode(ctx context.Context, mode string) error {
	return c.tell(ctx, "set_follow_up_mode", wire.SetQueueMode{Mode: mode})
}

// SetInterruptMode says whether steering cuts off a batch of tool calls:
// immediate or wait.
func (c *Client) SetInterruptMode(ctx context.Context, mode string) error {
	return c.tell(ctx, "set_interrupt_mode", wire.SetInterruptMode{Mode: mode})
}

// Compact summarises the conversation so far; instructions may be empty.
func (c *Client) Compact(ctx context.Context, instructions string) (wire.Compaction, error) {
	return call[wire.Compaction](ctx, c, "compact", wire.Compact{CustomInstructions: instructions})
}

// SetAutoCompaction switches automatic compaction.
func (c *Client) SetAutoCompaction(ctx context.Context, on bool) error {
	return c.tell(ctx, "set_auto_compaction", wire.Switch{Enabled: on})
}

// SetAutoRetry switches automatic retries.
func (c *Client) SetAutoRetry(ctx context.Context, on bool) error {
	return c.tell(ctx, "set_auto_retry", wire.Switch{Enabled: on})
}

// AbortRetry ends the wait before a retry.
func (c *Client) AbortRetry(ctx context.Context) error { return c.tell(ctx, "abort_retry", nil) }

// Bash runs a shell command, and returns when it has ended. Its output also
// comes as events.
func (c *Client) Bash(ctx context.Context, b wire.Bash) (wire.BashResult, error) {
	return call[wire.BashResult](ctx, c, "bash", b)
}

// AbortBash stops every command of Bash.
func (c *Client) AbortBash(ctx context.Context) error { return c.tell(ctx, "abort_bash", nil) }

// NewSession begins an empty session; parent may be empty. cancelled: an
// extension said no.
func (c *Client) NewSession(ctx context.Context, parent string) (cancelled bool, err error) {
	data, err := call[wire.Cancelled](ctx, c, "new_session", wire.NewSession{ParentSession: parent})
	return data.Cancelled, err
}

// SwitchSession opens a session file. cancelled: an extension said no.
func (c *Client) SwitchSession(ctx context.Context, path string) (cancelled bool, err error) {
	data, err := call[wire.Cancelled](ctx, c, "switch_session", wire.SwitchSession{SessionPath: path})
	return data.Cancelled, err
}

// Fork makes a session of what came before a user message, and goes there.
func (c *Client) Fork(ctx context.Context, entryID string) (wire.Forked, error) {
	return call[wire.Forked](ctx, c, "fork", wire.Fork{EntryID: entryID})
}

// Clone makes a session of the path to the current leaf, and goes there.
// cancelled: an extension said no.
func (c *Client) Clone(ctx context.Context) (cancelled bool, err error) {
	data, err := call[wire.Cancelled](ctx, c, "clone", nil)
	return data.Cancelled, err
}

// ForkMessages lists the user messages that Fork can begin before.
func (c *Client) ForkMessages(ctx context.Context) ([]wire.ForkMessage, error) {
	data, err := call[wire.ForkMessages](ctx, c, "get_fork_messages", nil)
	return data.Messages, err
}

// Entries lists the entries of the session; those behind since, if that is
// not empty.
func (c *Client) Entries(ctx context.Context, since string) (wire.Entries, error) {
	var fields wire.GetEntries
	if since != "" {
		fields.Since = &since
	}
	return call[wire.Entries](ctx, c, "get_entries", fields)
}

// Tree gives the entries of the session as a tree.
func (c *Client) Tree(ctx context.Context) (wire.Tree, error) {
	data, err := c.send(ctx, "get_tree", nil)
	if err != nil {
		return wire.Tree{}, err
	}
	tree, err := decodeTree(data)
	if err != nil {
		return wire.Tree{}, fmt.Errorf("get_tree: read the answer: %w", err)
	}
	return tree, nil
}

// NavigateTree moves the leaf to another entry.
func (c *Client) NavigateTree(ctx context.Context, n wire.NavigateTree) (wire.Navigated, error) {
	return call[wire.Navigated](ctx, c, "navigate_tree", n)
}

// SetLabel labels an entry; an empty label is taken off.
func (c *Client) SetLabel(ctx context.Context, entryID, label string) error {
	return c.tell(ctx, "set_label", wire.SetLabel{EntryID: entryID, Label: label})
}

// SetSessionName names the session.
func (c *Client) SetSessionName(ctx context.Context, name string) error {
	return c.tell(ctx, "set_session_name", wire.SetSessionName{Name: name})
}

// ExportHTML writes the session to an HTML file and gives its path; an empty
// path lets the agent choose.
func (c *Client) ExportHTML(ctx context.Context, path string) (string, error) {
	data, err := call[wire.Path](ctx, c, "export_html", wire.ExportHTML{OutputPath: path})
	return data.Path, err
}

// Sessions lists session files: those of the working folder, or all.
func (c *Client) Sessions(ctx context.Context, all bool) ([]wire.SessionInfo, error) {
	fields := wire.ListSessions{}
	if all {
		fields.Scope = "all"
	}
	data, err := call[wire.Sessions](ctx, c, "list_sessions", fields)
	return data.Sessions, err
}

// Commands lists what a prompt can call with a slash.
func (c *Client) Commands(ctx context.Context) ([]wire.Command, error) {
	data, err := call[wire.Commands](ctx, c, "get_commands", nil)
	return data.Commands, err
}

// CompleteCommand asks what the arguments of an extension's command, named
// without the slash, may be; prefix is what there is of them.
func (c *Client) CompleteCommand(ctx context.Context, name, prefix string) ([]wire.Completion, error) {
	data, err := call[wire.Completions](ctx, c, "complete_command", wire.CompleteCommand{Name: name, Prefix: prefix})
	return data.Completions, err
}

// SetTodos replaces the list of tasks, and gives it in its regular form.
func (c *Client) SetTodos(ctx context.Context, phases []wire.TodoPhase) ([]todo.Phase, error) {
	if phases == nil {
		phases = []wire.TodoPhase{}
	}
	data, err := call[wire.Todos](ctx, c, "set_todos", wire.SetTodos{Phases: phases})
	return data.TodoPhases, err
}

// Extensions tells of the agent's extensions.
func (c *Client) Extensions(ctx context.Context) ([]wire.Extension, error) {
	data, err := call[wire.Extensions](ctx, c, "get_extensions", nil)
	return data.Extensions, err
}

// Reload brings settings, extensions, templates, skills, rules and context files
// to what is on disk.
func (c *Client) Reload(ctx context.Context) error { return c.tell(ctx, "reload", nil) }

// Protocol describes what the agent speaks.
func (c *Client) Protocol(ctx context.Context, schemas bool) (wire.Protocol, error) {
	return call[wire.Protocol](ctx, c, "get_protocol", wire.GetProtocol{Schemas: schemas})
}

// Shutdown asks the agent to end when it is idle.
func (c *Client) Shutdown(ctx context.Context) error { return c.tell(ctx, "shutdown", nil) }

// tell is for commands without data.
func (c *Client) tell(ctx context.Context, command string, fields any) error {
	_, err := c.send(ctx, command, fields)
	return err
}
