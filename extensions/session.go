package extensions

import (
	"context"
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/event"
	"github.com/seed-54e836f5/pi/core/message"
	"github.com/seed-54e836f5/pi/core/provider"
	"github.com/seed-54e836f5/pi/core/session"
	"github.com/seed-54e836f5/pi/core/store"
	"github.com/seed-54e836f5/pi/core/tool"
	"github.com/seed-54e836f5/pi/core/ui"
	"github.com/seed-54e836f5/pi/proto"
)

// Session is what extensions reach of the live session. *session.Session is
// one; a test may have its own. Its methods may be called from any goroutine.
type Session interface {
	place
	reader
	writer
	steerer
	changer
	registry
}

// place is where a session stands.
type place interface {
	Cwd() string
	Mode() string
	UI() ui.UI
	Generation() uint64
	State() session.State
	ContextUsage() *session.ContextUsage
	IsIdle() bool
	HasPendingMessages() bool
}

type reader interface {
	Entries(since *string) (entries []json.RawMessage, leafID *string, err error)
	Branch(to *string) (entries []json.RawMessage, leafID *string, err error)
	Tree() (roots []*store.Node, leafID *string)
	Messages() []json.RawMessage
	SystemPrompt() string
	AvailableModels() []message.Model
	Tools() []session.ToolInfo
	Commands() []session.Command
}

type writer interface {
	AppendEntry(customType string, data json.RawMessage) (json.RawMessage, error)
	SetName(ctx context.Context, name string) error
	SetLabel(entryID, label string) error
	SendMessage(m event.CustomMessage, o session.SendOptions)
	SendUserMessage(content message.Content, deliverAs session.Deliver)
}

type steerer interface {
	SetModel(ctx context.Context, provider, id string) (message.Model, error)
	SetThinkingLevel(ctx context.Context, level message.ThinkingLevel)
	SetActiveTools(names []string) error
	Abort() <-chan struct{}
	Compact(ctx context.Context, instructions string) (wait func() (*event.CompactionResult, error))
	RequestShutdown()
}

type changer interface {
	WaitIdle(ctx context.Context) error
	NewSession(ctx context.Context, parent string, setup ...store.Body) (wait func() (session.Changed, error))
	SwitchSession(ctx context.Context, path string) (wait func() (session.Changed, error))
	Fork(ctx context.Context, entryID, position string) (wait func() (session.Changed, error))
	NavigateTree(ctx context.Context, n session.Navigate) (wait func() (session.Navigated, error))
	Reload(ctx context.Context) (wait func() error)
}

type registry interface {
	RegisterCommands(owner string, commands []session.ExtensionCommand)
	RegisterTools(owner string, tools []tool.Tool)
	Arrange(owners []string)
	Emit(e event.Event)
}

// Providers takes the model providers of extensions. It may be called from any
// goroutine.
type Providers interface {
	// RegisterProvider adds a provider, or changes one; owner is the path of
	// the extension. stream, if not nil, gives the answers in the place of the
	// adapter that config names.
	RegisterProvider(owner string, config proto.Provider, stream provider.Provider) error
	// UnregisterProvider takes away what owner registered under a name; all of
	// it where name is empty.
	UnregisterProvider(owner, name string)
}

var _ Session = (*session.Session)(nil)
