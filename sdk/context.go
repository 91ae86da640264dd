package sdk

import (
	"context"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/proto"
	pb "github.com/seed-54e836f5/pi/proto/extensionv1"
)

// Context is what every handler gets: a context.Context that ends when the
// run is aborted, when the handler took too long, or when pi goes; and the way
// to everything that an extension may ask of pi. It may be used from several
// goroutines, but not after the handler has returned; see
// Extension.Background for that.
//
// When another session takes the place of the one that the context was made
// in, its calls for the session fail with ErrStale.
type Context struct {
	context.Context
	// UI shows dialogs and notices.
	UI *UI
	// Session reads the conversation and adds to it.
	Session *Session
	// Models reads and sets the model.
	Models *Models
	// Tools reads the tools and switches them.
	Tools *Tools

	host           *host
	extension      *Extension
	from           *pb.CallContext
	cwd            string
	projectTrusted bool
}

func newContext(ctx context.Context, x *Extension, h *host, call *pb.CallContext) *Context {
	c := &Context{
		Context:        ctx,
		host:           h,
		extension:      x,
		from:           &pb.CallContext{CallId: call.GetCallId(), Generation: call.GetGeneration()},
		cwd:            call.GetCwd(),
		projectTrusted: call.GetProjectTrusted(),
	}
	c.UI, c.Session, c.Models, c.Tools = &UI{c}, &Session{c}, &Models{c}, &Tools{c}
	return c
}

// Within gives the same context, ended by another one too: what is asked of pi
// with it, dialogs above all, ends when either ends.
func (c *Context) Within(ctx context.Context) *Context {
	merged, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.Context, func() { cancel(context.Cause(c.Context)) })
	context.AfterFunc(ctx, func() { stop() }) // a background context would keep it for as long as the process runs
	return c.on(merged)
}

// on is the context with another lifetime.
func (c *Context) on(ctx context.Context) *Context {
	derived := *c
	derived.Context = ctx
	derived.UI, derived.Session, derived.Models, derived.Tools = &UI{&derived}, &Session{&derived}, &Models{&derived}, &Tools{&derived}
	return &derived
}

// Mode is how pi runs: rpc, json or print.
func (c *Context) Mode() string { return c.host.mode }

// HasUI says whether anybody can answer dialogs.
func (c *Context) HasUI() bool { return c.host.hasUI }

// Cwd is the folder that the session works in. In a background context it is
// empty; see State.
func (c *Context) Cwd() string { return c.cwd }

// ProjectTrusted says whether the project's own settings may be used.
func (c *Context) ProjectTrusted() bool { return c.projectTrusted }

// State says where the session stands now.
func (c *Context) State() (State, error) {
	return get[State](c, proto.MethodState, nil)
}

// IsIdle says whether nothing runs: no model, no retry, no compaction.
func (c *Context) IsIdle() (bool, error) {
	s, err := c.State()
	return s.IsIdle, err
}

// HasPendingMessages says whether messages wait to be sent.
func (c *Context) HasPendingMessages() (bool, error) {
	s, err := c.State()
	return s.HasPendingMessages, err
}

// ContextUsage says how full the model's window is; nil: no model.
func (c *Context) ContextUsage() (*ContextUsage, error) {
	s, err := c.State()
	return s.ContextUsage, err
}

// SystemPrompt is the system prompt as it stands. While BeforeAgentStart is
// decided, the event has the newer one.
func (c *Context) SystemPrompt() (string, error) {
	return get[string](c, proto.MethodSystemPrompt, nil)
}

// Abort stops what the model is doing. It does not wait for the end.
func (c *Context) Abort() error { return c.call(proto.MethodAbort, nil, nil) }

// Shutdown asks pi to end as soon as it is idle.
func (c *Context) Shutdown() error { return c.call(proto.MethodShutdown, nil, nil) }

// Compact summarises the conversation, and returns at once. done, if not nil,
// is called from another goroutine when it is over. That is after the handler
// has returned: a handler that waits for done waits for itself. Commands may
// wait.
func (c *Context) Compact(instructions string, done func(*CompactionResult, error)) {
	outlives := &pb.CallContext{Generation: c.from.GetGeneration()}
	c.extension.tasks.Go(func() {
		var result *CompactionResult
		err := c.host.call(c.extension.background, outlives, proto.MethodCompact, proto.CompactArgs{CustomInstructions: instructions}, &result)
		if done != nil {
			done(result, err)
		}
	})
}

// SendOption changes how a message is delivered.
type SendOption func(*sendOptions)

type sendOptions struct {
	deliverAs   string
	triggerTurn bool
}

// AsSteer delivers a message during a run before the next model call.
func AsSteer() SendOption { return func(o *sendOptions) { o.deliverAs = "steer" } }

// AsFollowUp delivers a message when the run would end.
func AsFollowUp() SendOption { return func(o *sendOptions) { o.deliverAs = "followUp" } }

// AsNextTurn delivers a custom message along with the user's next prompt.
func AsNextTurn() SendOption { return func(o *sendOptions) { o.deliverAs = "nextTurn" } }

// TriggerTurn lets the model answer a custom message at once if it is idle.
func TriggerTurn() SendOption { return func(o *sendOptions) { o.triggerTurn = true } }

// SendMessage puts a message of the extension's own type into the
// conversation. The model sees it; it starts no answer unless TriggerTurn says
// so.
func (c *Context) SendMessage(m event.CustomMessage, options ...SendOption) error {
	o := sendOptionsOf(options)
	return c.call(proto.MethodSendMessage, proto.SendMessageArgs{Message: m, DeliverAs: o.deliverAs, TriggerTurn: o.triggerTurn}, nil)
}

// SendUserMessage says something in the user's place, and lets the model
// answer. During a run it needs AsSteer or AsFollowUp.
func (c *Context) SendUserMessage(text string, options ...SendOption) error {
	return c.SendUserContent(PlainContent(text), options...)
}

// SendUserContent is SendUserMessage with images and the like.
func (c *Context) SendUserContent(content Content, options ...SendOption) error {
	o := sendOptionsOf(options)
	return c.call(proto.MethodSendUserMessage, proto.SendUserMessageArgs{Content: content, DeliverAs: o.deliverAs}, nil)
}

func sendOptionsOf(options []SendOption) sendOptions {
	var o sendOptions
	for _, option := range options {
		option(&o)
	}
	return o
}

// Commands lists the slash commands: extensions', templates, skills.
func (c *Context) Commands() ([]CommandInfo, error) {
	return get[[]CommandInfo](c, proto.MethodCommands, nil)
}

// get calls a method for its result.
func get[T any](c *Context, method string, arguments any) (T, error) {
	var result T
	err := c.call(method, arguments, &result)
	return result, err
}

func (c *Context) call(method string, arguments, result any) error {
	return c.host.call(c, c.from, method, arguments, result)
}
